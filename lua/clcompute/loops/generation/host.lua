-- SPDX-License-Identifier: MIT

--- The plan as a Lua function: loops and conditions of the host, launches with what they need copied before, and the
-- nests as Lua for where they do not run on the device.

local launches = require "clcompute.loops.generation.launches"
local lua_text = require("clcompute.loops.tree").lua_text
local plans = require("clcompute.loops.tree").plan

local host = {}

local add, expression, indented, mark = launches.add, launches.expression, launches.indented, launches.mark

-- --- the plan -----------------------------------------------------------------------------

local print_plan

local function print_loop(part, output)
  local node = part.node
  if node.word then
    add(output, "while true do%s", mark(node.line))
  else
    add(output, "for %s = %s, %s, %s do%s", node.variable.id, expression(node.from), expression(node.to),
      node.pace and expression(node.pace) or node.step, mark(node.line))
  end
  indented(output, print_plan, part.body, output)
  add(output, "end")
end

local PARTS = {
  kernel = function(part, output)
    add(output, "do%s", mark(part.node.line))
    indented(output, launches.kernel, part, output, function()
      if part.instead then return print_plan(part.instead, output) end
      launches.lua(part, plans.statements(part), output)
    end)
    add(output, "end")
  end,
  loop = function(part, output)
    if not part.round then return print_loop(part, output) end
    launches.rounds(part, output, function() print_loop(part, output) end)
  end,
  ["if"] = function(part, output)
    launches.arrays(part, output)
    for i, arm in ipairs(part.arms) do
      add(output, "%s %s then%s", i == 1 and "if" or "elseif", expression(arm.condition), mark(arm.condition.line))
      indented(output, print_plan, arm.body, output)
    end
    if part.otherwise then
      add(output, "else")
      indented(output, print_plan, part.otherwise, output)
    end
    add(output, "end")
  end,
  lua = function(part, output) launches.lua(part, part.nodes, output) end,
  either = function(part, output)
    add(output, "if %s then", part.condition)
    indented(output, print_plan, part.few, output)
    add(output, "else")
    indented(output, print_plan, part.many, output)
    add(output, "end")
  end,
}

function print_plan(plan, output)
  for _, part in ipairs(plan) do PARTS[part.kind](part, output) end
end

--- The text of the function.
-- @tparam table plan of `clcompute.loops.generation.partition`, whose kernels have their `parameters`
-- @tparam {string,...} names of the numbers and sizes of a call
-- @tparam table arrays the variables of the arrays, in the order of a call's list
-- @treturn string
function host.text(plan, names, arrays)
  local output = { indent = "" }
  add(output, "local memory, blank = ...")
  add(output, "return function(v, arrays, kernels, on_device, counters, clock, spent)")
  indented(output, function()
    add(output, "local began")
    add(output, "local launch, cover = kernels and kernels.launch, kernels and kernels.cover")
    add(output, "local wide = v.wide")
    for _, name in ipairs(names) do add(output, "local %s = v.%s", name, name) end
    for i, variable in ipairs(arrays) do
      add(output, "local %s_array, %s = arrays[%d], nil", variable.id, variable.id, i)
    end
    print_plan(plan, output)
  end)
  add(output, "end")
  return table.concat(output, "\n") .. "\n"
end

--- The function itself: of the numbers and sizes by name, the arrays of `clcompute.loops.runtime.storage`, the
-- kernels and how they are launched, which nests run on the device, and the counters; of a call that is timed also a
-- clock and the seconds that each nest spent in Lua, by index, and what else ran there, at 0. Or nil and why it is too
-- large for Lua.
-- @string text of `host.text`
-- @tparam function memory the buffer of an array
-- @tparam function blank makes the table of an array, whatever its values
function host.compile(text, memory, blank)
  local environment = { math = math, max = math.max, min = math.min, ipairs = ipairs, unpack = table.unpack }
  for name, store in pairs(launches.environment) do environment[name] = store end
  local chunk, message = lua_text.load(text, "loops", environment)
  if not chunk then return nil, message end
  return chunk(memory, blank)
end

--- A message with the line of the source in place of that of the text, if that is marked.
-- @string text of `host.text`
-- @param message whatever was raised
function host.located(text, message)
  local number, rest = tostring(message):match "^loops:(%d+): (.*)$"
  local lines = {}
  for line in text:gmatch "[^\n]+" do lines[#lines + 1] = line end
  local line = number and lines[tonumber(number)]:match " %-%- (line %d+)$"
  return line and ("%s: %s"):format(line, rest) or message
end

return host
