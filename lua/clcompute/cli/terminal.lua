-- SPDX-License-Identifier: MIT

--- The terminal: whether there is one, how wide it is, and what is coloured there.

local terminal = {}

local RED, GREEN, YELLOW = 31, 32, 33
local VERDICTS = { ok = GREEN, warning = YELLOW, unsupported = YELLOW, skipped = YELLOW, fault = RED, failed = RED }

--- The columns of the terminal that a stream is. Without the C core, of which the doctor tells too, there is none.
local function columns_of(stream)
  local found = pcall(require, "clcompute")
  return found and require("clcompute.core.internal").terminal_columns(stream) or nil
end

--- Whether a stream is a terminal.
-- @tparam integer stream 1, standard output, or 2, standard error
function terminal.is(stream)
  return columns_of(stream) ~= nil
end

--- The columns of a stream: as $COLUMNS says, else as the terminal says itself.
-- @tparam integer stream
-- @treturn ?integer nil where neither does
function terminal.columns(stream)
  local told = math.tointeger(tonumber(os.getenv "COLUMNS"))
  return told and told > 0 and told or columns_of(stream)
end

--- Whether colours are wanted on standard output (https://no-color.org).
function terminal.has_colours()
  return (os.getenv "NO_COLOR" or "") == "" and os.getenv "TERM" ~= "dumb" and terminal.is(1)
end

--- Whether a word of a text is all of a cell, or what a cell begins with: "ok", "failed: out of memory".
local function is_verdict(text, from, to)
  local before, after = text:sub(from - 2, from - 1), text:sub(to, to + 1)
  return (before == "" or before == "  " or before:find "\n$") and (after == "  " or after:find "^[:\n]" or after == "")
end

--- The text with its verdicts in colours.
-- @tparam string text lines of cells, which two blanks part
function terminal.colour(text)
  return (text:gsub("()(%l+)()", function(from, word, to)
    local code = VERDICTS[word]
    return code and is_verdict(text, from, to) and ("\27[%dm%s\27[m"):format(code, word) or nil
  end))
end

return terminal
