-- SPDX-License-Identifier: MIT

--- A place in a list of tokens, and what a parser does there: look, take, insist, complain.
-- @module clcompute.loops.front.cursor

local failure = require "clcompute.loops.tree.failure"

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
  fields.kind = kind
  fields.line, fields.column, fields.offset = first.line, first.column, first.offset
  fields.finish = self:last().finish
  return fields
end

--- Counts a level of blocks and expressions around `parse`; too many are a failure, not an overflow.
function Cursor:nested(parse, ...)
  self.depth = self.depth + 1
  if self.depth > DEEPEST then self:fail(("more than %d levels of nesting"):format(DEEPEST)) end
  local result = parse(self, ...)
  self.depth = self.depth - 1
  return result
end

local cursor = {}

--- A cursor at a token.
-- @tparam table origin
-- @tparam table tokens of `clcompute.loops.front.lexer`
-- @tparam integer position
-- @treturn table
function cursor.new(origin, tokens, position)
  return setmetatable({ origin = origin, tokens = tokens, position = position, depth = 0 }, Cursor)
end

return cursor
