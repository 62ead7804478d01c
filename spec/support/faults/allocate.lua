-- SPDX-License-Identifier: MIT
--- The script that `lua-faults` runs. Arguments: the place of a device, the stride from one allocation that fails to
-- the next, the kind of scenarios. Prints a line `name=number ...`, then what came out wrong.

package.path = "./?.lua;" .. package.path

local allocations = require "spec.support.faults.allocations"
local scenarios = require "spec.support.faults.scenarios"

local place, stride, kind = ...
stride = math.tointeger(stride)

local sum, words, texts = {}, {}, {}
for _, tally in ipairs { allocations.run(scenarios.of(kind), place, stride), allocations.live(place, stride) } do
  for name, value in pairs(tally) do if math.type(value) then sum[name] = (sum[name] or 0) + value end end
  table.move(tally.texts, 1, #tally.texts, #texts + 1, texts)
end
for name, value in pairs(sum) do words[#words + 1] = ("%s=%d"):format(name, value) end
print(table.concat(words, " "))
print(table.concat(texts, "\n"))
