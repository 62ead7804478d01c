-- SPDX-License-Identifier: MIT
--- The time of Gauss elimination by the size of the system and of the work-group, after figure 3 of Baranov & Vlatskaya
-- 2013: each row relative to its best. Usage: heat_map.lua [file.svg]

local cl = require "clcompute"
local report = require "clcompute.report"
local device, GROUPS = cl.device(), { 1, 4, 16, 64 }

local function seconds(a, b, group)
  local start = cl.clock()
  cl.gauss(a, b, { kernel = "paper", group = group })
  return cl.clock() - start
end

local matrix, rows = {}, {}
for i, n in ipairs { 32, 64, 96 } do
  local a, b = device:random("float", n, n, { seed = n }), device:random("float", n, { seed = 1 })
  for k = 1, n do a:set(k, k, n) end -- the paper's kernels do not exchange rows
  local times = {}
  for j, group in ipairs(GROUPS) do times[j] = math.min(seconds(a, b, group), seconds(a, b, group)) end
  local best = math.min(table.unpack(times))
  for j, time in ipairs(times) do
    times[j] = time / best
    rows[#rows + 1] = { n = n, group = GROUPS[j], relative = times[j] }
  end
  matrix[i] = times
end
print(cl.picture(matrix, { title = "down: N = 32, 64, 96; across: groups of 1, 4, 16, 64" }))
local chart = { kind = "heat", x = "group", y = "n", value = "relative", title = "time relative to the best group" }
if arg[1] then io.open(arg[1], "w"):write((report.svg { rows = rows, chart = chart })):close() end
