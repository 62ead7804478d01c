-- SPDX-License-Identifier: MIT
--- Operations written in Lua, as scripts call them: what they raise tells the place in the script, not in the library.

local arity = require("clcompute.base").arity

local operations = { map = require "clcompute.operations.map", scan = require "clcompute.operations.scan" }
for name, f in pairs(require "clcompute.operations.named_reductions") do operations[name] = f end

local function finish(where, ok, ...)
  if ok then return ... end
  local message = ...
  if type(message) == "string" then
    message = message:gsub("^[^\n]-clcompute/[%w_/]+%.lua:%d+: ", "") -- where the library called the core
    if not message:find("^" .. where) then message = where .. ": " .. message end
  end
  error(message, 2)
end

for name, f in pairs(arity.functions(operations)) do
  operations[name] = function(...) return finish(name, pcall(f, ...)) end
end

return operations
