-- SPDX-License-Identifier: MIT
--- Operations written in Lua, as scripts call them: what they raise tells the place in the script, not in the library.

local arity = require("clcompute.base").arity

local map, operands = require "clcompute.operations.map", require "clcompute.operations.operands"
local matmul, transpose = require "clcompute.operations.matmul", require "clcompute.operations.transpose"

local operations = { map = map.map, scan = require "clcompute.operations.scan",
  matmul = matmul("matmul", "argument 1", "argument 2"), transpose = transpose }

for _, part in ipairs { "named_reductions", "moments" } do
  for name, f in pairs(require("clcompute.operations." .. part)) do operations[name] = f end
end

-- Where the error is, as `error` counts: a method is called by the core's check of its object.
local FUNCTION, METHOD = 2, 3

local function finish(where, level, ok, ...)
  if ok then return ... end
  local message = ...
  if type(message) == "string" then
    message = message:gsub("^[^\n]-clcompute/[%w_/]+%.lua:%d+: ", "") -- where the library called the core
      :gsub("^bad argument #(%d+) to '[^']*' %((.*)%)$", "argument %1: %2")
      :gsub("^[%w_.]+ (cannot be recorded:)", where .. " %1"):gsub("^[%w_.]+ (uses another queue)", where .. " %1")
    if not message:find("^" .. where) then message = where .. ": " .. message end
  end
  error(message, level)
end

--- Functions as scripts call them, by their names; each refuses more arguments than it takes.
local function guarded(functions, level)
  for name, f in pairs(functions) do
    functions[name] = function(...) return finish(name, level, pcall(f, ...)) end
  end
  return functions
end

local function public(functions)
  return guarded(arity.functions(functions), FUNCTION)
end

local function methods(functions, class)
  return guarded(arity.methods(functions, class), METHOD)
end

--- b:astype(dtype): a converted copy.
local function astype(x, dtype)
  if type(dtype) ~= "string" then error("astype: argument 1: dtype expected, got " .. type(dtype), 0) end
  operands.check_dtype("astype", dtype, true)
  return map.all("astype", "x[i]", { x = x }, { dtype = dtype })
end

-- b:T() and b:dot(c); cl.dot is another one.
local of_buffers = methods({ T = function(x) return transpose(x) end, dot = matmul("dot", "the buffer", "argument 1"),
  astype = astype }, "Buffer")

operations = public(operations)
for name, f in pairs(methods(require "clcompute.operations.progressions", "Device")) do operations[name] = f end

operations.turn, operations.product, operations.astype = of_buffers.T, of_buffers.dot, of_buffers.astype

-- For packages of further operations.
operations.public = public
for field, name in pairs { along_axis = "along_axis", lookback = "lookback", macros = "macros", mapping = "map",
  operands = "operands", reduction = "reduce", translation = "translation", turns = "turns" } do
  operations[field] = require("clcompute.operations." .. name)
end

operations.evaluate = require "clcompute.operations.evaluate" -- not for scripts

return operations
