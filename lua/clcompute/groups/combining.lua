-- SPDX-License-Identifier: MIT

--- Reductions and scans: each rank combines its own elements, then the ranks' results are combined in the order of
-- ranks. So the same grid gives the same bits at every call.

local core = require "clcompute.core"
local elementwise = require "clcompute.groups.elementwise"
local operations = require "clcompute.operations"
local options = require("clcompute.base").options
local spread = require "clcompute.groups.spread"

local combining = {}

local NONE = {}

local function fail(...) error(string.format(...), 0) end

local function is_integer(dtype) return operations.operands.is_integer(dtype) end

--- Refuses options of one device's call.
local function check_no_options(where, o)
  if o ~= nil then
    local key = type(o) == "table" and next(o)
    fail("%s: of a spread buffer: no option %s; a:parts() gives the buffers of each device", where,
      key and ("'%s'"):format(key) or "expected")
  end
end

--- One spread buffer of a call.
local function check_one(where, x, o)
  check_no_options(where, o)
  return spread.check(x, where, "argument 1")
end

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

function combining.sum(x, o)
  check_one("sum", x, o)
  return add_up(results_of(x, alone(core.sum)), zero(x.dtype))
end

function combining.asum(x, o)
  check_one("asum", x, o)
  return add_up(results_of(x, alone(core.asum)), zero(x.dtype))
end

function combining.mean(x, o)
  check_one("mean", x, o)
  if x.place:count() == 0 then fail "mean: no elements" end
  return combining.sum(x) / x.place:count()
end

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

function combining.norm2(x, o)
  check_one("norm2", x, o)
  return norm(results_of(x, alone(core.norm2)))
end

--- Whether `a` comes before `b` as an extreme; NaN is before all.
local function is_before(a, b, is_least)
  if a ~= a then return b == b end
  if b ~= b then return false end
  if is_least then return a < b end
  return a > b
end

local function extreme(where, x, o, is_least)
  check_one(where, x, o)
  local best
  for _, value in ipairs(results_of(x, alone(core[where]))) do
    if best == nil or is_before(value, best, is_least) then best = value end
  end
  return best or fail("%s: no elements", where)
end

function combining.min(x, o) return extreme("min", x, o, true) end
function combining.max(x, o) return extreme("max", x, o, false) end

--- The first place of an extreme, from 1 in row-major order, and the element.
local function place_of(where, x, o, is_least)
  check_one(where, x, o)
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

-- --- reduce -------------------------------------------------------------------------------------------

local REDUCE = { init = "number", map = "string", dtype = "string", preamble = "string" }

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
  local list = results_of(first, function(_, rank)
    local own = { map = elementwise.localize(o.map, first.place, rank), dtype = o.dtype, preamble = o.preamble }
    return core.reduce(operation, elementwise.of_rank(given, rank), own)
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

local SCAN = { exclusive = "boolean", init = "number", out = "table", dtype = "string" }

function combining.scan(operation, x, o)
  o = o and options.check("scan", o, SCAN) or NONE
  spread.check(x, "scan", "argument 2")
  if #x.place.shape == 2 and x.place.p * x.place.q > 1 then
    fail "scan: a spread matrix does not lie in the order of its elements; a:copy(device) gathers it"
  end
  local target = o.out and spread.check(o.out, "scan", "option 'out'")
  local of, dtype = elementwise.settled(x), o.dtype or target and target.dtype or x.dtype
  local starts, pieces = starts_of(operation, of, dtype, o.init), {}
  for rank, piece in pairs(of.pieces) do
    pieces[rank] = core.scan(operation, piece,
      { exclusive = o.exclusive, init = starts[rank], dtype = dtype })
  end
  local made = spread.of(x.group, dtype, of.place, pieces)
  return target and target:write(made) or made
end

return combining
