-- SPDX-License-Identifier: MIT

--- What is wrong with a source, and where: `file:line:column: message`, the line itself, a caret below the place.

local reasons = require("clcompute.base").reasons
local width = require("clcompute.base").width

local failure = {}

local Failure = { __name = "clcompute.loops.Failure" }

local WIDEST = 120 -- columns of a source line that a message shows

--- The bytes of the line that a place is in, and how many stand before the place.
local function line_of(text, at)
  local first = at.offset - at.column + 1
  local last = (text:find("[\r\n]", at.offset) or #text + 1) - 1
  return text:sub(first, last), at.column - 1
end

--- The line and the caret; of a line that is too long, what begins at the place.
local function show(text, at)
  local line, before = line_of(text, at)
  if width.of(line) > WIDEST and before > WIDEST // 2 then line, before = line:sub(before + 1), 0 end
  local shown = width.cut(line:gsub("%s+$", ""), WIDEST):gsub("[^%C\t]", "?")
  local blank = line:sub(1, before):gsub("[^\t]+", function(run) return (" "):rep(width.of(run)) end)
  return shown, blank .. "^"
end

function Failure.__tostring(self)
  reasons.tell(self)
  if not self.text then return self[1] end
  return ("%s\n%s\n%s"):format(self[1], self.text, self.caret)
end

--- A failure: `[1]` is the message with its place, `line`, `column` and `reason` its parts, `text` the source line;
-- `tostring` gives all lines.
-- @tparam table origin of `clcompute.loops.front.origin`
-- @tparam ?table at a token or a node; nil where the whole source is at fault
-- @string message
-- @treturn table
function failure.new(origin, at, message)
  if not at then return setmetatable({ ("%s: %s"):format(origin.file, message), reason = message }, Failure) end
  local self = { ("%s:%d:%d: %s"):format(origin.file, at.line, at.column, message), reason = message,
    line = at.line, column = at.column }
  self.text, self.caret = show(origin.text, at)
  return setmetatable(self, Failure)
end

--- Raises one.
function failure.raise(...)
  error(failure.new(...), 0)
end

--- Whether a value that was raised is one.
function failure.is(value)
  return getmetatable(value) == Failure
end

return failure
