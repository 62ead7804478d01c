-- SPDX-License-Identifier: MIT

--- Errors of groups tell the place in the script, not in the library.

local raising = {}

--- What a protected call returns, or its error at the line of the script: the function that calls this one returns it.
function raising.finish(ok, ...)
  if ok then return ... end
  local message, caller = ..., debug.getinfo(2, "S")
  if type(message) ~= "string" then error(message, 0) end
  message = message:gsub("^[^\n]-clcompute/[%w_/]+%.lua:%d+: ", "") -- where the library called itself
  error(message, caller and caller.what == "C" and 3 or 2) -- cl.gemm and its kin call from C
end

--- Functions that raise so, by their names.
function raising.guarded(functions)
  for name, f in pairs(functions) do
    functions[name] = function(...) return raising.finish(pcall(f, ...)) end
  end
  return functions
end

return raising
