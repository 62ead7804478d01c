-- SPDX-License-Identifier: MIT

--- Groups of devices, and operations on the buffers that are spread over them.

local combining = require "clcompute.groups.combining"
local core = require "clcompute.core"
local elementwise = require "clcompute.groups.elementwise"
local factors_alone = require "clcompute.groups.factors_alone"
local gathered = require "clcompute.groups.gathered"
local group = require "clcompute.groups.group"
local product = require "clcompute.groups.product"
local raising = require("clcompute.base").raising
local solving = require "clcompute.groups.solving"
local spread = require "clcompute.groups.spread"
local type_of = require("clcompute.base").options.type_of

local groups = raising.guarded { new = group.new }

local operations = spread.operations

for name, f in pairs(combining) do operations[name] = f end
operations.map, operations.saxpy = elementwise.map, elementwise.saxpy
operations.gemm, operations.matmul, operations.transpose = product.gemm, product.gemm, product.transpose
operations.lu, operations.gauss, operations.solve = solving.lu, solving.gauss, solving.solve

for name in ("eq ne lt le gt ge minimum maximum abs sqrt exp log sin cos tan tanh floor ceil"):gmatch "%w+" do
  operations[name] = function(a, b) return elementwise.operate(name, core[name], a, b) end
end

elementwise.add_operators()

-- --- calls --------------------------------------------------------------------------------------------

--- The group of a spread buffer among arguments, or in a table of them.
local function find_group(...)
  for k = 1, select("#", ...) do
    local value = select(k, ...)
    if spread.is_one(value) then return value.group end
    if type(value) == "table" then
      for _, inner in next, value do if spread.is_one(inner) then return inner.group end end
    end
  end
end

local function unwrapped(value)
  if spread.is_one(value) then return value.pieces[1] end
  if type(value) ~= "table" or getmetatable(value) then return value end
  local own = {}
  for key, inner in next, value do own[key] = spread.is_one(inner) and inner.pieces[1] or inner end
  return own
end

--- The argument, or the field of one, that a buffer of a device belongs to.
local function find_owner(given, buffer)
  for k = 1, given.n do
    local value = given[k]
    for _, one in next, spread.is_one(value) and { value } or type(value) == "table" and value or {} do
      if spread.is_one(one) and one.pieces[1] == buffer then return one end
    end
  end
end

--- Results of a device as those of a group: the arguments that came back, and new buffers.
local function wrapped(g, given, ...)
  local results = table.pack(...)
  for k = 1, results.n do
    local value = results[k]
    if type_of(value) == "Buffer" then
      results[k] = find_owner(given, value)
        or spread.make(g, value.dtype, value.shape, function() return value end)
    end
  end
  return table.unpack(results, 1, results.n)
end

--- A group of one device calls the device's own operation.
local function call_alone(g, f, ...)
  local given = table.pack(...)
  local own = {}
  for k = 1, given.n do own[k] = unwrapped(given[k]) end
  return wrapped(g, given, f(table.unpack(own, 1, given.n)))
end

local function words_of_call(name, g, ...)
  local list = { ... }
  for k = 1, select("#", ...) do list[k] = spread.words(list[k]) end
  local layout = g.layout
  layout.words = layout.words or (", on a grid of %dx%d by blocks of %d, shares %s"):format(g.grid[1], g.grid[2],
    g.block, table.concat(layout.shares, ":"))
  return ("%s of %s%s"):format(name, table.concat(list, ", "), layout.words)
end

local function call(name, g, ...)
  if g.ranks.count == 1 and name == "lu" then return factors_alone.new(...) end
  if g.ranks.count == 1 then return call_alone(g, core[name], ...) end
  local f = operations[name]
  if not f then
    error(("%s: works on one device: %s"):format(name, spread.way_out), 0)
  end
  return g.ranks:together(g.rank and words_of_call(name, g, ...), f, ...)
end

--- Whether a group has one device factor a matrix of n rows; whether that has all of an n x n matrix.
function groups.gathers(g, n) return gathered.suits(g, n) end
function groups.is_alone(g, n) return n * n <= g.layout.alone end

--- Calls the operation of that name, of which an argument may be a spread buffer.
function groups.call(name, ...)
  local g = find_group(...)
  if not g then error(("%s: buffer expected, got table"):format(name), 2) end
  return raising.finish(pcall(call, name, g, ...))
end

return groups
