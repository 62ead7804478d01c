-- SPDX-License-Identifier: MIT

--- Reductions and scans: each rank combines its own elements, then the ranks' results are combined in the order of
-- ranks. So the same grid gives the same bits at every call.

local core = require "clcompute.core"
local elementwise = require "clcompute.groups.elementwise"
local operations = require "clcompute.operations"
local lines = require "clcompute.groups.lines"
local options = require("clcompute.base").options
local product = require "clcompute.groups.product"
local spread = require "clcompute.groups.spread"

local combining = {}

local NONE = {}

local function fail(...) error(string.format(...), 0) end

local function is_integer(dtype) return operations.operands.is_integer(dtype) end

local AXIS = { axis = "integer", keep = "boolean" }

--- The results f(piece, rank) of ranks with elements, in the order of ranks.
local function results_of(a, f)
  local place, list = a.place, {}
  local found = a.group.ranks:collect(function(rank)
    local piece = a.pieces[rank]
    if piece.bytes > 0 then return f(piece, rank) end
  end)
  for rank = 1, place.p * place.q do
    if found[rank] ~= nil then list[#list + 1] = found[rank] end
  end
  return list
end

--- A function of a piece alone.
local function alone(f)
  return function(piece) return (f(piece)) end
end

local function add_up(list, none)
  local total = list[1] or none
  for k = 2, #list do total = total + list[k] end
  return total
end

local function zero(dtype) return is_integer(dtype) and 0 or 0.0 end

--- A reduction of one buffer: `of_all` of its elements, or that of one device along an axis.
local function named(where, of_all)
  combining[where] = function(x, o)
    local g = lines.read(where, x, o, AXIS)
    if g then return lines.named(where, x, g) end
    return of_all(x)
  end
end

named("sum", function(x) return add_up(results_of(x, alone(core.sum)), zero(x.dtype)) end)
named("asum", function(x) return add_up(results_of(x, alone(core.asum)), zero(x.dtype)) end)

function combining.dot(x, y)
  local pair, first = elementwise.align("dot", { x = x, y = y })
  local dtype = operations.operands.result_dtype { { dtype = x.dtype }, { dtype = y.dtype } }
  return add_up(results_of(first, function(_, rank) return core.dot(pair.x.pieces[rank], pair.y.pieces[rank]) end),
    zero(dtype))
end

local function norm(list)
  local largest, sum = 0.0, 0.0
  for _, value in ipairs(list) do
    if value ~= value then return value end
    largest = math.max(largest, value)
  end
  if largest == 0 or largest == math.huge then return largest end
  for _, value in ipairs(list) do sum = sum + (value / largest) ^ 2 end
  return largest * math.sqrt(sum)
end

named("norm2", function(x) return norm(results_of(x, alone(core.norm2))) end)

--- Whether `a` comes before `b` as an extreme; NaN is before all.
local function is_before(a, b, is_least)
  if a ~= a then return b == b end
  if b ~= b then return false end
  if is_least then return a < b end
  return a > b
end

local function extreme(where, x, is_least)
  local best
  for _, value in ipairs(results_of(x, alone(core[where]))) do
    if best == nil or is_before(value, best, is_least) then best = value end
  end
  return best or fail("%s: no elements", where)
end

named("min", function(x) return extreme("min", x, true) end)
named("max", function(x) return extreme("max", x, false) end)

--- The first place of an extreme, from 1 in row-major order, and the element.
local function place_of(where, x, o, is_least)
  local g = lines.read(where, x, o, AXIS)
  if g then return lines.place(where, x, g) end
  local best, at
  for _, found in ipairs(results_of(x, function(piece, rank)
    local own, value = core[where](piece)
    return { x.place:index_of(rank, own - 1) + 1, value }
  end)) do
    local index, value = found[1], found[2]
    local is_equal = at and (value == best or value ~= value and best ~= best)
    if not at or is_before(value, best, is_least) or is_equal and index < at then best, at = value, index end
  end
  if not at then fail("%s: no elements", where) end
  return at, best
end

function combining.argmin(x, o) return place_of("argmin", x, o, true) end
function combining.argmax(x, o) return place_of("argmax", x, o, false) end

-- --- moments and conditions ---------------------------------------------------------------------------

--- The mean of all elements, and the sum of the squares of what differs from it.
local function moments(where, x)
  local mean, squares, n = 0.0, 0.0, 0
  for _, found in ipairs(results_of(x, function(piece)
    local count = piece.bytes // spread.sizes[x.dtype]
    return { count, core.mean(piece), core.var(piece) }
  end)) do
    local count, own_mean, own_var = table.unpack(found) -- Chan, Golub & LeVeque 1979
    local difference, total = own_mean - mean, n + count
    squares = squares + own_var * count + difference * difference * (n * count / total)
    mean, n = mean + difference * (count / total), total
  end
  if n == 0 then fail("%s: no elements", where) end
  return mean, squares, n
end

function combining.mean(x, o)
  local g = lines.read("mean", x, o, AXIS)
  if g then return lines.mean(x, g) end
  if x.place:count() == 0 then fail "mean: no elements" end
  local totals = results_of(x, function(piece) return core.mean(piece) * (piece.bytes // spread.sizes[x.dtype]) end)
  return add_up(totals) / x.place:count()
end

local MOMENTS = { axis = "integer", keep = "boolean", ddof = "number" }

local function variance(where, x, o)
  local g, ddof = lines.read(where, x, o, MOMENTS), o and o.ddof or 0
  if g then return lines.var(where, x, g, ddof) end
  local _, squares, n = moments(where, x)
  if not (ddof >= 0 and ddof < n) then
    fail("%s: option 'ddof': 0 .. %d expected, less than there are elements, got %s", where, n - 1, ddof)
  end
  return squares / (n - ddof)
end

function combining.var(x, o) return variance("var", x, o) end

function combining.std(x, o)
  local found = variance("std", x, o)
  return type(found) == "number" and math.sqrt(found) or found
end

--- count, any and all: `combine` of the results of ranks, in their order.
local function condition(where, text, given, o, combine)
  if type(text) ~= "string" and type(given) == "table" and not spread.is_one(given) and o == nil then
    given, o = nil, given
  end
  if type(text) ~= "string" then
    if given ~= nil then fail("%s: no second argument behind a mask expected, got %s", where, type(given)) end
    text, given = "x != 0", text
  end
  local operands, first = elementwise.align(where, spread.is_one(given) and { x = given } or given)
  local function of_rank(own, how, rank)
    return core[where](elementwise.localize(text, first.place, rank), own, how)
  end
  local g = lines.read(where, first, o, AXIS)
  if g then first = elementwise.settled(first) end -- as its elements are then
  if g then return lines.condition(where, operands, first, g, of_rank) end
  return combine(results_of(first, function(_, rank)
    return of_rank(elementwise.of_rank(operands, rank), nil, rank)
  end))
end

function combining.count(text, x, o)
  return condition("count", text, x, o, function(list) return add_up(list, 0) end)
end

--- Whether a list has the value.
local function has(list, value)
  for _, found in ipairs(list) do if found == value then return true end end
  return false
end

function combining.any(text, x, o)
  return condition("any", text, x, o, function(list) return has(list, true) end)
end

function combining.all(text, x, o)
  return condition("all", text, x, o, function(list) return not has(list, false) end)
end

-- --- reduce -------------------------------------------------------------------------------------------

local REDUCE = { init = "number", map = "string", dtype = "string", preamble = "string", axis = "integer",
  keep = "boolean" }

--- The dtype that holds results of reductions of operands.
local function dtype_of_results(given, o)
  local list = {}
  for _, value in next, given do
    if spread.is_one(value) then
      list[#list + 1] = { dtype = value.dtype }
    else
      list[#list + 1] = { kind = math.type(value) }
    end
  end
  return operations.operands.wide_type(o.dtype or operations.operands.result_dtype(list))
end

--- Combines numbers in their order by an operation, on a device.
local function fold(device, operation, list, dtype, init)
  if #list == 0 then return init or fail "reduce: no elements, and no option 'init'" end
  if #list == 1 and not init then return list[1] end
  local partial = device:buffer(list, dtype)
  local result = core.reduce(operation, partial, { init = init, dtype = dtype })
  partial:release()
  return result
end

function combining.reduce(operation, x, o)
  o = o and options.check("reduce", o, REDUCE) or NONE
  local given, first = elementwise.align("reduce", spread.is_one(x) and { x = x } or x)
  local g = operations.along_axis.read("reduce", o, first)
  if g and not o.init then lines.check_some("reduce", g) end
  if g then first = elementwise.settled(first) end -- as its elements are then
  local function of_rank(operands, how, rank)
    how.map, how.dtype, how.preamble = elementwise.localize(o.map, first.place, rank), o.dtype, o.preamble
    how.init = g and g.n == 0 and o.init or nil
    return core.reduce(operation, operands, how)
  end
  if g then
    return lines.of_operands(given, first, g, of_rank, function(stack, how)
      return core.reduce(operation, stack, { axis = how.axis, dtype = o.dtype, preamble = o.preamble,
        init = g.n > 0 and o.init or nil })
    end)
  end
  local list = results_of(first, function(_, rank)
    return of_rank(elementwise.of_rank(given, rank), {}, rank)
  end)
  local _, device = next(first.group.ranks.devices)
  return fold(device, operation, list, dtype_of_results(given, o), o.init)
end

-- --- scan ---------------------------------------------------------------------------------------------

local BITS = { char = 8, uchar = 8, short = 16, ushort = 16, int = 32, uint = 32 }

--- A number as an element of the dtype, which wraps as the device's do.
local function wrap(value, dtype)
  local bits = BITS[dtype]
  if not bits or math.type(value) ~= "integer" then return value end
  value = value & ((1 << bits) - 1)
  local is_signed = dtype:sub(1, 1) ~= "u"
  return is_signed and value >> (bits - 1) == 1 and value - (1 << bits) or value
end

--- What stands before the elements of each rank: the init with the totals of the ranks before.
local function starts_of(operation, x, dtype, init)
  local _, device = next(x.group.ranks.devices)
  local totals = x.group.ranks:collect(function(rank)
    local piece = x.pieces[rank]
    return piece.bytes > 0 and core.reduce(operation, piece, { dtype = dtype }) or ""
  end)
  local starts, before = {}, init
  local wide = operations.operands.wide_type(dtype)
  for rank, total in ipairs(totals) do
    starts[rank] = before
    if total ~= "" then
      before = before == nil and total or fold(device, operation, { before, total }, wide)
      before = wrap(before, dtype)
    end
  end
  return starts
end

local SCAN = { exclusive = "boolean", init = "number", out = "table", dtype = "string", axis = "integer" }

--- Scans what lies in the order of its elements.
local function scan_all(operation, x, dtype, o)
  if o.exclusive and not o.init then -- all ranks refuse it, or none: later ones have what is before them as init
    local _, device = next(x.group.ranks.devices)
    core.scan(operation, device:empty(x.dtype, 0), { exclusive = true, dtype = dtype })
  end
  local starts, pieces = starts_of(operation, x, dtype, o.init), {}
  for rank, piece in pairs(x.pieces) do
    pieces[rank] = core.scan(operation, piece, { exclusive = o.exclusive, init = starts[rank], dtype = dtype })
  end
  return spread.of(x.group, dtype, x.place, pieces)
end

--- Scans along an axis. Where that is divided, the elements are laid so that it is not.
local function scan_along(operation, x, dtype, o, axis)
  local place, shape = x.place, x.shape
  local is_matrix = #shape == 2
  if place.is_alone or axis > 1 and (not is_matrix or place.q == 1) or axis == 1 and place.p == 1 then
    local pieces = {}
    for rank, piece in pairs(x.pieces) do
      pieces[rank] = core.scan(operation, piece, { axis = axis, exclusive = o.exclusive, init = o.init, dtype = dtype })
    end
    return spread.of(x.group, dtype, place, pieces)
  end
  if axis == 2 then -- rows of three dimensions are with one rank each
    local line = elementwise.reshaped(x, { shape[1], shape[2], 1 })
    return elementwise.reshaped(scan_along(operation, line, dtype, o, 2), shape)
  end
  local matrix = elementwise.reshaped(x, { shape[1], place.columns })
  local turned = scan_along(operation, product.transpose(matrix), dtype, o, 2)
  return elementwise.reshaped(product.transpose(turned), shape)
end

function combining.scan(operation, x, o)
  o = o and options.check("scan", o, SCAN) or NONE
  spread.check(x, "scan", "argument 2")
  local target = o.out and spread.check(o.out, "scan", "option 'out'")
  local of, dtype, shape = elementwise.settled(x), o.dtype or target and target.dtype or x.dtype, x.shape
  local g = operations.along_axis.read("scan", o, x)
  local made
  if g and #shape > 1 then
    made = scan_along(operation, of, dtype, o, g.axis)
  elseif #shape == 2 and x.place.p * x.place.q > 1 and not of.place.is_alone then
    local line = elementwise.reshaped(of, { shape[1], shape[2], 1 })
    made = elementwise.reshaped(scan_all(operation, line, dtype, o), shape)
  else
    made = scan_all(operation, of, dtype, o)
  end
  return target and target:write(made) or made
end

return combining
