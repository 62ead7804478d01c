-- SPDX-License-Identifier: MIT

--- The latest call in words: where each nest ran, what it was thought to take on either side, and by which figures.
-- @module clcompute.loops.explain_call

local decision = require "clcompute.loops.runtime.decision"
local profitability = require "clcompute.loops.runtime.profitability"

local explain_call = {}

local function add(lines, text, ...)
  lines[#lines + 1] = text:format(...)
end

local function add_nests(latest, figures, lines)
  local verdict = latest.verdict
  for i, nest in ipairs(latest.spec.plan.kernels) do
    local told = { verdict.reasons[i] }
    told[#told + 1] = figures and profitability.sides(figures, i)
    add(lines, "  %s: %s: %s", nest.name, verdict.on_device[i] and "device" or "Lua", table.concat(told, "; "))
  end
end

--- Adds the lines.
-- @tparam table latest the latest call of a function: `spec`, `verdict`, `place`, `values`, `buffers_in_lua`
-- @tparam table lines
function explain_call.add(latest, lines)
  local verdict, spec = latest.verdict, latest.spec
  local figures = verdict.figures or #spec.plan.kernels > 0 and decision.figures(spec, latest.values, latest.place)
  add_nests(latest, figures, lines)
  if figures then add(lines, "  costs: those of %s (%s)", figures.row.name, figures.row.measured) end
  if verdict.lua_seconds then
    local function told(seconds, place, copies, bytes)
      return ("%s %s with %s copies of %s bytes"):format(profitability.time(seconds), place,
        profitability.count(copies), profitability.count(bytes))
    end
    add(lines, "  estimated: %s, %s", told(verdict.device_seconds, "on the device", verdict.copies, verdict.all_bytes),
      told(verdict.lua_seconds, "in Lua", verdict.in_lua.copies, verdict.in_lua.bytes))
  end
  if verdict.all_in_lua then add(lines, "  all in Lua: %s", verdict.all_in_lua) end
  local names = {}
  for i, variable in ipairs(latest.buffers_in_lua or {}) do names[i] = variable.name end
  if #names > 0 then
    add(lines, "  buffers that Lua works on are copied as a whole at each call, which tables are not: %s",
      table.concat(names, ", "))
  end
end

return explain_call
