-- SPDX-License-Identifier: MIT

--- Errors of functions in Lua tell the place in the script, not in the library.

local interrupt = require "clcompute.base.interrupt"

local raising = {}

--- Whether a message begins with a place: that of a function which the script handed over.
local function is_placed(message)
  return message:find "^%S+:%d+: " or message:find '^%[string ".-"%]:%d+: '
end

--- What a protected call returns, or its error at the line of the script: the function that calls this one returns it.
function raising.finish(ok, ...)
  if ok then return ... end
  local message, caller = ..., debug.getinfo(2, "S")
  if type(message) ~= "string" then error(message, 0) end
  interrupt.pass_on(message)
  message = message:gsub("^[^\n]-clcompute/[%w_/]+%.lua:%d+: ", "") -- where the library called itself
  if is_placed(message) then error(message, 0) end
  error(message, caller and caller.what == "C" and 3 or 2) -- cl.gemm and its kin call from C
end

--- Functions that raise so, by their names.
-- @tparam table functions
-- @treturn table the same
function raising.guarded(functions)
  for name, f in pairs(functions) do
    functions[name] = function(...) return raising.finish(pcall(f, ...)) end
  end
  return functions
end

--- Has metamethods for fields raise so, too.
-- @tparam table metatable
-- @treturn table the same
function raising.guarded_fields(metatable)
  local fields = raising.guarded { __index = metatable.__index, __newindex = metatable.__newindex }
  metatable.__index, metatable.__newindex = fields.__index, fields.__newindex
  return metatable
end

return raising
