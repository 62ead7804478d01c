-- SPDX-License-Identifier: MIT

--- The tokens of a text, by all of Lua 5.4's rules, each with its line and its column in bytes. What Lua would
-- refuse is a failure at the byte where it goes wrong.

local ast = require("clcompute.loops.tree").ast
local failure = require("clcompute.loops.tree").failure

local lexer = {}

local function set(words)
  local members = {}
  for word in words:gmatch "%S+" do members[word] = true end
  return members
end

local KEYWORDS = set [[and break do else elseif end false for function goto if in local nil not or repeat return then
  true until while]]
local SYMBOLS = set "+ - * / % ^ # & ~ | < > = ( ) { } [ ] ; : , . == ~= <= >= // << >> .. :: ..."
local LONGEST_SYMBOL = 3

local Reader = {}
Reader.__index = Reader

function Reader:fail(offset, message)
  failure.raise(self.origin, { line = self.line, column = offset - self.line_start + 1, offset = offset }, message)
end

--- Passes over a line break: "\r\n" and "\n\r" are one.
function Reader:pass_line_break(offset)
  local first, second = self.text:byte(offset, offset + 1)
  local is_pair = (second == 10 or second == 13) and second ~= first
  self.line, self.line_start = self.line + 1, offset + (is_pair and 2 or 1)
  return self.line_start
end

--- Counts the line breaks from a byte up to another.
function Reader:pass_lines(offset, last)
  while true do
    local at = self.text:find("[\r\n]", offset)
    if not at or at > last then return end
    offset = self:pass_line_break(at)
  end
end

--- The last byte of the long bracket that opens at a byte, nil where none does.
function Reader:long_bracket(offset, what)
  local _, opened, level = self.text:find("^%[(=*)%[", offset)
  if not opened then return nil end
  local _, last = self.text:find("]" .. level .. "]", opened + 1, true)
  if not last then self:fail(offset, ("this long %s has no end"):format(what)) end
  return last
end

--- Passes over what separates tokens.
function Reader:skip_blanks()
  local text = self.text
  while true do
    local offset = text:match("^[ \t\v\f]*()", self.offset)
    local byte = text:byte(offset)
    if byte == 10 or byte == 13 then
      offset = self:pass_line_break(offset)
    elseif byte == 45 and text:byte(offset + 1) == 45 then
      offset = self:after_comment(offset)
    else
      self.offset = offset
      return
    end
    self.offset = offset
  end
end

function Reader:after_comment(offset)
  local last = self:long_bracket(offset + 2, "comment")
  if not last then return self.text:find("[\r\n]", offset) or #self.text + 1 end
  self:pass_lines(offset, last)
  return last + 1
end

--- The byte behind a number; like Lua, it takes what looks like one and then judges it.
function Reader:number(offset)
  local text, at, exponent = self.text, offset, "^[eE][+-]?"
  if text:find("^0[xX]", at) then at, exponent = at + 2, "^[pP][+-]?" end
  while true do
    local _, last = text:find(exponent, at)
    if not last then _, last = text:find("^[%x.]", at) end
    if not last then break end
    at = last + 1
  end
  at = text:match("^[%w_]*()", at)
  local value = tonumber(text:sub(offset, at - 1))
  if not value then self:fail(offset, ("malformed number '%s'"):format(text:sub(offset, at - 1))) end
  return at, value
end

--- The byte behind the escape at a backslash.
function Reader:escape(offset)
  local text = self.text
  local letter = text:sub(offset + 1, offset + 1)
  if letter:find "[abfnrtv\\'\"]" then return offset + 2 end
  if letter:find "[\r\n]" then return self:pass_line_break(offset + 1) end
  if letter == "z" then
    local after = text:match("^%s*()", offset + 2)
    self:pass_lines(offset, after - 1)
    return after
  end
  local code, after = text:match("^(%d%d?%d?)()", offset + 1)
  if code then
    if tonumber(code) <= 255 then return after end
    self:fail(offset, "a decimal escape goes up to 255")
  end
  after = text:match("^x%x%x()", offset + 1)
  if after then return after end
  code, after = text:match("^u{(%x+)}()", offset + 1)
  if code and #code:gsub("^0+", "") <= 8 and tonumber(code, 16) < 2 ^ 31 then return after end
  self:fail(offset, "invalid escape")
end

--- The byte behind a string in quotes. Its value is not made: no program of the subset has one.
function Reader:string(offset, quote)
  local stop, at = "[\\\r\n" .. quote .. "]", offset + 1
  local line, line_start = self.line, self.line_start
  while true do
    at = self.text:find(stop, at)
    local found = at and self.text:sub(at, at)
    if not at or found == "\n" or found == "\r" then
      self.line, self.line_start = line, line_start -- of its beginning, which an escaped line break is behind
      self:fail(offset, "this string has no end")
    elseif found == quote then
      return at + 1
    end
    at = self:escape(at)
  end
end

--- The byte behind a symbol, the longest that fits.
function Reader:symbol(offset)
  for length = LONGEST_SYMBOL, 1, -1 do
    local text = self.text:sub(offset, offset + length - 1)
    if #text == length and SYMBOLS[text] then return offset + length end
  end
  local character = self.text:match("^[%g ]", offset)
  self:fail(offset, character and ("unexpected '%s'"):format(character)
    or ("unexpected byte 0x%02X"):format(self.text:byte(offset)))
end

--- What begins at a byte: kind, the byte behind it, a number's value.
function Reader:scan(offset)
  local text = self.text
  local first = text:sub(offset, offset)
  if first == "" then return "end", offset end
  local after = text:match("^[A-Za-z_][A-Za-z0-9_]*()", offset)
  if after then return KEYWORDS[text:sub(offset, after - 1)] and "keyword" or "name", after end
  if text:find("^%.?[0-9]", offset) then return "number", self:number(offset) end
  if first == '"' or first == "'" then return "string", self:string(offset, first) end
  if first == "[" then
    local last = self:long_bracket(offset, "string")
    if last then
      self:pass_lines(offset, last)
      return "string", last + 1
    end
    if text:find("^%[=", offset) then self:fail(offset, "a long string opens with '[', any '=' and '['") end
  end
  return "symbol", self:symbol(offset)
end

function Reader:next()
  self:skip_blanks()
  local offset = self.offset
  local token = { line = self.line, column = offset - self.line_start + 1, offset = offset }
  token.kind, self.offset, token.value = self:scan(offset)
  token.finish = self.offset - 1
  token.text = self.text:sub(offset, token.finish)
  return token
end

--- Where the first token may stand: Lua passes over a mark of UTF-8 and a first line that begins with '#'.
local function first_offset(text)
  local offset = text:match "^\xEF\xBB\xBF()" or 1
  return text:match("^#[^\r\n]*()", offset) or offset
end

--- All tokens of an origin's text: `{ kind=, text=, value=, line=, column=, offset=, finish= }`, where kind is "name",
-- "keyword", "symbol", "number", "string" or, for the last one, "end".
-- @tparam table origin of `clcompute.loops.front.origin`
-- @treturn table
function lexer.read(origin)
  local reader = setmetatable({ origin = origin, text = origin.text, offset = first_offset(origin.text), line = 1,
    line_start = 1 }, Reader)
  local tokens = {}
  repeat
    local token = reader:next()
    tokens[#tokens + 1] = token
  until token.kind == "end"
  return tokens
end

local Cursor = {}
Cursor.__index = Cursor

local DEEPEST = 200 -- as in Lua itself

--- The token at hand.
function Cursor:peek()
  return self.tokens[self.position]
end

--- Takes the token at hand.
function Cursor:take()
  local token = self.tokens[self.position]
  if token.kind ~= "end" then self.position = self.position + 1 end
  return token
end

--- The token taken last.
function Cursor:last()
  return self.tokens[self.position - 1]
end

--- Whether the token at hand is that keyword or symbol.
function Cursor:is(text)
  return self:peek().text == text
end

--- Takes that keyword or symbol if it is at hand.
function Cursor:accept(text)
  return self:is(text) and self:take() or nil
end

--- Raises a failure at a token or node; at the token at hand if none is given.
function Cursor:fail(message, at)
  failure.raise(self.origin, at or self:peek(), message)
end

--- Raises what is expected instead of the token at hand; `why` stands in parentheses.
function Cursor:fail_expected(what, why)
  local token = self:peek()
  local found = token.kind == "end" and "the end of the text" or "'" .. token.text:match "^[^\r\n]*" .. "'"
  self:fail(("%s expected%s, found %s"):format(what, why and " (" .. why .. ")" or "", found))
end

--- Takes that keyword or symbol; anything else is a failure. `opener` is the token that it closes.
function Cursor:expect(text, opener)
  if self:is(text) then return self:take() end
  local is_far = opener and opener.line ~= self:peek().line
  self:fail_expected("'" .. text .. "'", is_far and ("to close '%s' of line %d"):format(opener.text, opener.line))
end

--- Takes a name.
function Cursor:expect_name()
  if self:peek().kind ~= "name" then self:fail_expected "a name" end
  return self:take()
end

--- A node that begins with a token or node and ends with the token taken last.
function Cursor:node(kind, first, fields)
  local node = ast.parsed(kind, fields, first)
  node.finish = self:last().finish
  return node
end

--- Counts a level of blocks and expressions around `parse`; too many are a failure, not an overflow.
function Cursor:nested(parse, ...)
  self.depth = self.depth + 1
  if self.depth > DEEPEST then self:fail(("more than %d levels of nesting"):format(DEEPEST)) end
  local result = parse(self, ...)
  self.depth = self.depth - 1
  return result
end

--- A cursor at a token.
-- @tparam table origin
-- @tparam table tokens of `clcompute.loops.front.lexer`
-- @tparam integer position
-- @treturn table
function lexer.cursor(origin, tokens, position)
  return setmetatable({ origin = origin, tokens = tokens, position = position, depth = 0 }, Cursor)
end

return lexer
