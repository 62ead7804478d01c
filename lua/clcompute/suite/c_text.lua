-- SPDX-License-Identifier: MIT
--- What a text in C mentions, and how constants and counters of another type are put into it.

local c_text = {}

local function word(name) return "%f[%w_]" .. name .. "%f[^%w_]" end

--- Whether a name occurs.
-- @string text
-- @string name
-- @treturn boolean
function c_text.mentions(text, name) return text:find(word(name)) ~= nil end

--- Whether elements of an array occur.
-- @string text
-- @string name of the array
-- @treturn boolean
function c_text.has_elements_of(text, name) return text:find("%f[%w_]" .. name .. "%s*%[") ~= nil end

--- Whether elements of an array are assigned to.
-- @string text
-- @string name of the array
-- @treturn boolean
function c_text.writes(text, name)
  for after in text:gmatch("%f[%w_]" .. name .. "%s*()%[") do
    while text:find("^%s*%[", after) do after = text:match("^%s*%b[]()", after) end
    local rest = text:sub(after, after + 8)
    if rest:find "^%s*[-+*/]?=[^=]" or rest:find "^%s*%+%+" or rest:find "^%s*%-%-" then return true end
  end
  return false
end

--- Puts a term in the place of a name.
-- @string text
-- @string name
-- @string by
-- @treturn string
function c_text.replaced(text, name, by) return (text:gsub(word(name), "(" .. by:gsub("%%", "%%%%") .. ")")) end

--- Floating constants in single precision: a digit, and a point or an exponent.
-- @string text
-- @treturn string
function c_text.in_floats(text)
  local function mark(number)
    local is_marked = number:find "[eEf]$" -- or the sign of its exponent follows, and the mark
    return not is_marked and number:find "[.eE]" and number .. "f" or nil
  end
  return (text:gsub("%f[%w_.]%d[%w.]*[eE][-+]%d+", "%0f"):gsub("%f[%w_.]%d[%w.]*", mark))
end

--- Loops that count in `int`.
-- @string text
-- @treturn string
function c_text.in_ints(text) return (text:gsub("%f[%w_](for%s*%(%s*)long%f[^%w_]", "%1int")) end

return c_text
