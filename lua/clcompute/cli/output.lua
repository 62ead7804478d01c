-- SPDX-License-Identifier: MIT

--- What a command prints. On standard output a write that fails is an error: a full disk must not look like success.
-- @module clcompute.cli.output

local output = {}

local EPIPE = 32

--- Raised when the reader went away, as `head` does: no fault of the command, which ends in silence.
output.BROKEN_PIPE = setmetatable({}, { __tostring = function() return "broken pipe" end })

local function check(ok, message, code)
  if ok then return end
  if code == EPIPE then error(output.BROKEN_PIPE, 0) end
  error("standard output: " .. message, 0)
end

--- Writes a text and a newline.
-- @tparam string text
-- @raise when it cannot be written, here or in `flush`
function output.print(text)
  check(io.stdout:write(text, "\n"))
end

--- Hands on what was printed; the last call of a command.
-- @raise when it cannot be written
function output.flush()
  check(io.stdout:flush())
end

--- Writes an error as one line on standard error.
-- @tparam string message its own line breaks become blanks
function output.complain(message)
  local line = message:gsub("^clcompute: ", ""):gsub("%s*\n%s*", " ")
  io.stderr:write("clcompute: ", line, "\n")
end

--- Writes what is wrong with a file on standard error, as it is: its first line begins with the place, which editors
-- look for.
-- @tparam string text
function output.show_fault(text)
  io.stderr:write(text, "\n")
end

return output
