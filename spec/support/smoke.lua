-- SPDX-License-Identifier: MIT
--- Each public function once, with its result checked: for tools that make everything slow. Arguments: the place of a
-- device ("0:1"), else the best one; "light" leaves out what compiles large kernels, or empties the cache.

package.path = "./?.lua;" .. package.path
package.preload.clcount = function() return {} end -- the layer that counts handles is not needed here

local cl = require "clcompute"
local scenarios = require "spec.support.faults.scenarios"
local trial = require "spec.support.faults.trial"

local place, kind = ...
if not place or place == "" then place = cl.device().place end

local ran = 0
for _, scenario in ipairs(scenarios) do
  local is_heavy = scenario.heavy or scenario.name:find "no cache holds"
  if kind ~= "light" or not is_heavy then
    trial.close(scenario, place)
    local result = scenario.run(trial.subject(scenario, place))
    if not trial.same(scenario.expect, result) then error(scenario.name .. ": wrong", 0) end
    ran = ran + 1
  end
end
cl.device(place):close()
return ran
