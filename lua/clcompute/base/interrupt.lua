-- SPDX-License-Identifier: MIT

--- Ctrl-C and want of memory among errors: Lua raises them like any other. Code that catches errors passes them on.

local interrupt = {}

--- The text of an error, also of an object that cannot tell its own.
-- @param reason what was raised
-- @treturn string
function interrupt.text(reason)
  local ok, text = pcall(tostring, reason)
  return ok and text or ("an error that is a %s without text"):format(type(reason))
end

--- Whether an error is Ctrl-C, by the words of the standard interpreter, which the core uses too.
-- @param reason what was raised
-- @treturn boolean
function interrupt.is(reason)
  return type(reason) == "string" and reason:find "interrupted!$" ~= nil
end

--- Raises an error again if it is Ctrl-C or Lua's want of memory; returns after any other.
-- @param reason what was raised
function interrupt.pass_on(reason)
  local is_memory = type(reason) == "string" and reason:find "not enough memory$"
  if is_memory or interrupt.is(reason) then error(reason, 0) end
end

return interrupt
