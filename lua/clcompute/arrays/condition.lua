-- SPDX-License-Identifier: MIT
--- Conditions: texts in the language of cl.map, in which `x` also stands for `x[i]`, and masks, whose elements other
-- than 0 hold.

local operations = require "clcompute.operations"

local operands, translation = operations.operands, operations.translation

local condition = {}

local PREFIXED = "%f[%w_]" .. translation.PREFIX .. "([%a_][%w_]*)"

--- Checks the text of a condition; returns it as cl.map has it, and the set of the operands that it uses.
-- @string where
-- @string text
-- @tparam table list operands
function condition.translate(where, text, list)
  local kinds = operands.kinds(where, list)
  for name, kind in pairs(kinds) do
    if kind == "array" then kinds[name] = "element" end
  end
  local translated, used = translation.translate(where, text, kinds)
  local plain = translated:gsub(PREFIXED, function(name) return kinds[name] == "element" and name .. "[i]" or name end)
  return plain, used
end

local MOST_KEPT = 256 -- texts
local of_x, count = {}, 0 -- what `translate` returned for texts and x alone

--- The same as `translate`, which takes longer than a launch; a buffer alone is x.
local function translate(where, text, list, given)
  if type(given) == "table" then return condition.translate(where, text, list) end
  local found = of_x[text]
  if not found then
    if count == MOST_KEPT then of_x, count = {}, 0 end
    found = table.pack(condition.translate(where, text, list))
    of_x[text], count = found, count + 1
  end
  return found[1], found[2]
end

--- The operands of a function of a condition: {text= as cl.map has it, given= operands by their names, list=, first=,
-- used= the set of those that it uses}.
-- @string where
-- @param text the condition, or a mask
-- @param given a buffer or operands; nil for a mask
function condition.read(where, text, given)
  if type(text) == "string" then
    local list, first = operands.read(where, given)
    for _, operand in ipairs(list) do operand.is_extent = operand.name == "x" end -- for conditions of `i` alone
    local plain, used = translate(where, text, list, given)
    operands.check_used(where, text, list, used)
    return { text = plain, given = type(given) == "table" and given or { x = given }, list = list, first = first,
      used = used }
  end
  local mask = operands.describe(where, "argument 1", text, "x")
  if given ~= nil then
    error(("%s: no second argument behind a mask expected, got %s; a condition comes first: cl.%s(\"x > 0\", x)")
      :format(where, operands.type_of(given), where), 0)
  end
  return { text = "x[i] != 0", given = { x = text }, list = { mask }, first = mask, used = { x = "element" } }
end

return condition
