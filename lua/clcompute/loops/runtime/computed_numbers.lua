-- SPDX-License-Identifier: MIT

--- Numbers that are computed from others of a call before it: `w * h`, as the last value of a loop.

local interrupt = require("clcompute.base").interrupt
local lua_text = require("clcompute.loops.tree").lua_text

local computed_numbers = {}

--- The length of a dimension of an array, as a call has it.
local function size_of(value, dimension)
  if type(value) == "userdata" then return value.shape[dimension] end
  for _ = 2, dimension do value = value[1] end
  return #value
end

--- Makes the function that computes them among the values of a call, and tells whether there is a number for each.
-- Where an argument is none for that, it does not: what the argument is said to be is another matter.
-- @tparam {table,...} variables of the values, those with `computed` behind the others
-- @treturn ?function of the values; nil where no variable is computed
function computed_numbers.compile(variables)
  local positions, lines, found = {}, {}, {}
  for i, variable in ipairs(variables) do positions[variable] = ("values[%d]"):format(i) end
  local options = { name = function(variable) return positions[variable] end,
    length = function(node) return ("size_of(%s, %d)"):format(positions[node.array], node.dimension) end }
  for _, variable in ipairs(variables) do
    local text = variable.computed and lua_text.expression(variable.computed, options)
    if text then
      lines[#lines + 1] = ("%s = %s or nil"):format(positions[variable], text)
      found[#found + 1] = positions[variable]
    end
  end
  if #lines == 0 then return nil end
  local text = ("return function(values)\n%s\nreturn %s\nend"):format(table.concat(lines, "\n"),
    table.concat(found, " and "))
  local compute = assert(lua_text.load(text, "numbers", { size_of = size_of, math = math }))()
  return function(values)
    local ok, last = pcall(compute, values)
    if not ok then interrupt.pass_on(last) end
    return ok and last ~= nil
  end
end

return computed_numbers
