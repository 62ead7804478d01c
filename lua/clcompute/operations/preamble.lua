-- SPDX-License-Identifier: MIT
--- Preambles: what of a script's own stands in front of the kernel of an expression, and the names that it has.

local preamble = {}

local function names_of(text)
  local names = {}
  for name in text:gmatch "[%a_][%w_]*" do names[name] = true end
  return names
end

local known = setmetatable({}, { __mode = "v" }) -- by their texts

--- What is known of a text, in front of which come declarations that it lacks; nil where there is neither.
-- @string where begins messages
-- @param[opt] text of the script
-- @tparam[opt] table declarations of structs
-- @treturn ?table {text=, names= a set, includes= whether it may have names of other files}
function preamble.read(where, text, declarations)
  if not text and not declarations then return nil end
  if text and type(text) ~= "string" then
    error(("%s: option 'preamble': string expected, got %s"):format(where, type(text)), 0)
  end
  local parts = {}
  for _, declaration in ipairs(declarations or {}) do
    if not (text and text:find(declaration, 1, true)) then parts[#parts + 1] = declaration end
  end
  parts[#parts + 1] = '#line 1 "preamble"\n'
  parts[#parts + 1] = text
  parts[#parts + 1] = "\n" -- should a line at the end go on
  local all = table.concat(parts)
  local found = known[all]
  if not found then
    found = { text = all, names = names_of(all), includes = all:find "#%s*include" ~= nil }
    known[all] = found
  end
  return found
end

return preamble
