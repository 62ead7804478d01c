-- SPDX-License-Identifier: MIT
--- Makes a function public: what it raises tells the place in the script, not in the library.
-- @module clcompute.operations.public

--- Messages of the core in the words of who called: operands have names, kernels are nobody's concern.
local function in_words(message)
  message = message:gsub("^[^\n]-clcompute/[%w_/]+%.lua:%d+: ", "")
  local name, complaint = message:match "^kernel '[%w_]+' argument %d+ 'arg_([%w_]+)' (%(.*)$"
  if name then return ("operand '%s' %s"):format(name, complaint) end
  complaint = message:match "^kernel '[%w_]+' argument %d+ 'init' (%(.*)$"
  return complaint and "option 'init' " .. complaint or message
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

--- @string where the function's name, which begins messages
-- @tparam function f
return function(where, f)
  return function(...) return finish(where, pcall(f, ...)) end
end
