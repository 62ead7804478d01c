-- SPDX-License-Identifier: MIT

--- The terminal: whether there is one, how wide it is, and what is coloured there.

local process = require("clcompute.base").process

local terminal = {}

local WIDTH, NARROWEST = 80, 40 -- of a terminal that does not say how wide it is; of a text, at least
local RED, GREEN, YELLOW = 31, 32, 33
local VERDICTS = { ok = GREEN, warning = YELLOW, unsupported = YELLOW, skipped = YELLOW, fault = RED, failed = RED }

--- Whether a stream is a terminal.
-- @tparam integer stream 1, standard output, or 2, standard error
function terminal.is(stream)
  return os.execute("test -t " .. stream) == true
end

--- The columns of the terminal: as $COLUMNS says, else as it says itself. A process asks it: the doctor runs where the
-- C core does not load.
-- @treturn ?integer nil where neither does
function terminal.columns()
  local size = process.tool "stty size 2>/dev/null </dev/tty" or "" -- "24 80"; 0 of one that does not know
  local columns = math.tointeger(tonumber(os.getenv "COLUMNS" or size:match " (%d+)$"))
  return columns and columns > 0 and columns or nil
end

--- The columns that a text on standard output may have: as $COLUMNS says, else as the terminal says, else so many.
-- @tparam integer otherwise
-- @treturn integer
function terminal.width(otherwise)
  local told = (os.getenv "COLUMNS" or terminal.is(1)) and (terminal.columns() or WIDTH)
  return math.max(NARROWEST, told or otherwise)
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
