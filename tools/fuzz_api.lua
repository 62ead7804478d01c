-- SPDX-License-Identifier: MIT
--- Fuzzes the API in processes of their own, with fixed seeds and a fresh one: `make fuzz-api`. The fresh one goes once
-- more, for a twentieth of the calls, to a CPU whose kernels a worker runs.
-- Arguments: how many calls in all, how many seeds, the fresh one. The last line is a summary; the exit code tells
-- whether all went well.

local campaign = require "spec.support.fuzz.campaign"

local calls, seeds, fresh = math.tointeger(arg[1]), math.tointeger(arg[2]), math.tointeger(arg[3]) or os.time()

local LIMIT = 900 -- seconds of the processor for a process

local folder = campaign.prepare "build/fuzz"
local shapes, distinct, total, failures = {}, 0, 0, 0

local function add(result)
  total = total + result.calls
  for _, message in ipairs(result.messages) do
    local shape = message:gsub("^[^\n]-:%d+: ", ""):gsub("'[^']*'", "''"):gsub("%d+", "0"):sub(1, 100)
    if not shapes[shape] then shapes[shape], distinct = true, distinct + 1 end
  end
  for _, failure in ipairs(result.failures) do
    failures = failures + 1
    print(("FAILED: %s\n%s"):format(failure.name, failure.script))
  end
end

local function try(seed, n, kind)
  add(campaign.run(folder, seed, n, LIMIT, kind))
  print(("seed %d, %s: %d calls, %d distinct messages, %d failures"):format(seed, kind, total, distinct, failures))
end

for i = 1, seeds do try(i < seeds and i or fresh, calls // seeds, "simulated") end
if campaign.can_isolate() then try(fresh, calls // 20, "isolated") end
io.stdout:flush()
print(("fuzz-api: %d calls, %d distinct messages, %d crashes, hangs, leaks or internal messages"):format(
  total, distinct, failures))
os.exit(failures == 0 and distinct >= math.min(100, total // 100) and 0 or 1)
