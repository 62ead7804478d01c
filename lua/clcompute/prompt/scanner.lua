-- SPDX-License-Identifier: MIT

--- The tokens of a text of Lua that may not be finished: what stands in front of the cursor, or a chunk that Lua has
-- accepted. Nothing is refused.

local scanner = {}

local function set(words)
  local members = {}
  for word in words:gmatch "%S+" do members[word] = true end
  return members
end

scanner.KEYWORDS = set [[and break do else elseif end false for function goto if in local nil not or repeat return then
  true until while]]

--- The byte behind the long bracket that opens at a byte, and whether it has no end; nil where none opens.
local function after_long_bracket(text, at)
  local level, inside = text:match("^%[(=*)%[()", at)
  if not level then return nil end
  local _, last = text:find("]" .. level .. "]", inside, true)
  return (last or #text) + 1, not last
end

local function after_comment(text, at)
  return after_long_bracket(text, at + 2) or text:match("^[^\n]*()", at)
end

--- The byte behind a string in quotes, and whether it has no end.
local function after_string(text, at)
  local quote, from = text:sub(at, at), at + 1
  while true do
    local found = text:match("^[^\\\n" .. quote .. "]*()", from)
    local character = text:sub(found, found)
    if character == quote then return found + 1, false end
    if character ~= "\\" then return found, true end
    from = found + 2
    if from > #text then return #text + 1, true end
  end
end

local SYMBOLS = { "^%.%.%.()", "^%.%.()", "^::()", "^[=~<>]=()", "^.()" }

--- Kind of what begins at a byte, the byte behind it, and whether it has no end.
local function scan(text, at)
  local after = text:match("^[%a_][%w_]*()", at)
  if after then return scanner.KEYWORDS[text:sub(at, after - 1)] and "keyword" or "name", after end
  after = text:match("^%.?%d[%w.]*()", at)
  if after then return "number", after end
  if text:find("^[\"']", at) then return "string", after_string(text, at) end
  local is_open
  after, is_open = after_long_bracket(text, at)
  if after then return "string", after, is_open end
  for _, pattern in ipairs(SYMBOLS) do
    after = text:match(pattern, at)
    if after then return "symbol", after end
  end
end

--- All tokens.
-- @tparam string text
-- @treturn table a list of { kind =, text =, at =, is_open = }: "name", "keyword", "symbol", "number" or "string", its
--  first byte, and of a string whether its end is missing
function scanner.tokens(text)
  local tokens, at = {}, 1
  while true do
    at = text:match("^%s*()", at)
    if at > #text then return tokens end
    if text:find("^%-%-", at) then
      at = after_comment(text, at)
    else
      local kind, after, is_open = scan(text, at)
      tokens[#tokens + 1] = { kind = kind, text = text:sub(at, after - 1), at = at, is_open = is_open or false }
      at = after
    end
  end
end

return scanner
