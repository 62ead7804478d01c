-- SPDX-License-Identifier: MIT
--- Operations written in Lua, as scripts call them: what they raise tells the place in the script, not in the library.

local operations = { map = require "clcompute.operations.map", scan = require "clcompute.operations.scan" }
for name, f in pairs(require "clcompute.operations.named_reductions") do operations[name] = f end

--- Names of a kernel's arguments in the words of who called.
local ARGUMENTS = { init = "option 'init'", out = "option 'out'" }

--- Messages of the core in these words: operands have names, kernels are nobody's concern.
local function in_words(message)
  message = message:gsub("^[^\n]-clcompute/[%w_/]+%.lua:%d+: ", "")
  local name, complaint = message:match "^kernel '[%w_]+' argument %d+ '([%w_]+)' (%(.*)$"
  local operand = name and name:match "^arg_(.*)"
  if operand then return ("operand '%s' %s"):format(operand, complaint) end
  operand = name and name:match "^mem_(.*)" -- the type of its memory says nothing
  if operand then return ("operand '%s'%s"):format(operand, complaint:match "^%b()(.*)") end
  return ARGUMENTS[name] and ("%s %s"):format(ARGUMENTS[name], complaint) or message
end

local function finish(where, ok, ...)
  if ok then return ... end
  local message = ...
  if type(message) == "string" then
    local words = in_words(message)
    message = words:find("^" .. where) and words or where .. ": " .. words
  end
  error(message, 2)
end

for name, f in pairs(operations) do
  operations[name] = function(...) return finish(name, pcall(f, ...)) end
end

return operations
