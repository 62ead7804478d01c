-- SPDX-License-Identifier: MIT
--- Fuzzes the API in this process. Arguments: a seed, how many calls, a file for the lines of the script at hand, which
-- the process may die of. Prints `calls=, distinct=` and the messages.

package.path = arg[0]:match "^(.*)/spec/support/" .. "/?.lua;" .. package.path

local seed, calls, path = ...
seed, calls = math.tointeger(seed), math.tointeger(calls)

local lines = require "spec.support.fuzz.lines"
local stage = require "spec.support.fuzz.stage"
local values = require "spec.support.fuzz.values"

local LENGTH = 400 -- lines of a script

--- Runs a script, made as it goes: what a line does depends on what those before it left.
local function run_script(log)
  local done = 0
  local function run(slot, text)
    log:write(("stage.line(%d, %q)\n"):format(slot, text))
    stage.line(slot, text)
    done = done + 1
  end
  for slot, text in ipairs(lines.PRELUDE) do run(slot, text) end
  while done < LENGTH do run(math.random(2, values.SLOTS), lines.make()) end
  log:write "stage.finish()\n"
  stage.finish()
end

math.randomseed(seed)
while stage.calls < calls do
  local before = #stage.faults
  do
    local log <close> = assert(io.open(path, "w"))
    log:setvbuf "no"
    run_script(log)
  end
  for i = before + 1, #stage.faults do
    os.execute(("cp '%s' '%s.%d'"):format(path, path, i))
    print("fault=" .. stage.faults[i]:gsub("\n", "\\n"))
  end
end

print(("calls=%d distinct=%d"):format(stage.calls, stage.distinct))
for _, message in pairs(stage.messages) do print("message=" .. message:gsub("\n", "\\n")) end
