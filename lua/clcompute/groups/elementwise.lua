-- SPDX-License-Identifier: MIT

--- What every rank does for itself: map, saxpy, operators.

local core = require "clcompute.core"
local raising = require("clcompute.base").raising
local rows = require "clcompute.groups.rows"
local spread = require "clcompute.groups.spread"
local type_of = require("clcompute.base").options.type_of

local elementwise = {}

local function fail(...) error(string.format(...), 0) end

--- A spread buffer that lies as new ones do: a copy of a view, whose rows do not, and of what is kept of an axis.
function elementwise.settled(a)
  return a.place.is_whole and a or a:copy()
end

--- The same elements in another shape.
function elementwise.reshaped(x, shape)
  local place = x.place
  if table.concat(shape, "x") == table.concat(place.shape, "x") then return elementwise.settled(x) end
  local is_line = #shape ~= 2 and #place.shape ~= 2 and shape[1] == place.rows and place.is_whole
  if is_line then -- which lies as it did
    return spread.make(x.group, x.dtype, shape, function(rank, _, own)
      return x.pieces[rank]:reshape(table.unpack(own))
    end)
  end
  local new = spread.empty(x.group, x.dtype, shape)
  if shape[1] ~= place.rows and x.bytes > 0 then return new:write(x:string()) end
  for from, to in rows.steps(x, 0, x.bytes > 0 and place.rows or 0) do new:write(rows.read(x, from, to), from + 1) end
  return new
end

--- Operands of one call, by name: those that are spread lie alike in what comes back.
-- @return table operands
-- @return Spread the first that is spread, or nil
function elementwise.align(where, given, target)
  local first, aligned, is_even = target, {}, true
  for name, value in next, given do
    if spread.is_one(value) then
      spread.check(value, where, ("operand '%s'"):format(name))
      first = first or value
      if value.group ~= first.group then fail("%s: operand '%s' is of another group", where, name) end
      if value.place:count() ~= first.place:count() or #value.place.shape ~= #first.place.shape
        or value.place.rows ~= first.place.rows then
        fail("%s: operand '%s' is %s, another is %s", where, name, table.concat(value.shape, "x"),
          table.concat(first.shape, "x"))
      end
      is_even = is_even and value.place:is_like(first.place)
    elseif type(value) == "userdata" then
      fail("%s: operand '%s' is on one device; g:buffer(b) spreads it", where, name)
    end
    aligned[name] = value
  end
  if is_even then return aligned, first end
  for name, value in next, aligned do
    if spread.is_one(value) then aligned[name] = elementwise.settled(value) end
  end
  return aligned, first and elementwise.settled(first)
end

--- The operands of a rank.
function elementwise.of_rank(given, rank)
  local own = {}
  for name, value in next, given do own[name] = spread.is_one(value) and value.pieces[rank] or value end
  return own
end

--- An expression for a rank, whose own index i is not that of the element.
function elementwise.localize(text, place, rank)
  if place.p * place.q == 1 or place.is_alone or type(text) ~= "string" then return text end
  local index
  return (text:gsub("(%f[%w_.]i%f[^%w_])()", function(name, after)
    local before = text:sub(1, after - 1 - #name)
    if before:find "%[%s*$" then return nil end
    index = index or place:index_text(rank)
    return index
  end))
end

--- Options without the result.
local function without_out(o)
  local rest = {}
  for key, value in next, o or {} do if key ~= "out" then rest[key] = value end end
  return rest
end

function elementwise.map(text, given, o)
  if type(given) ~= "table" or spread.is_one(given) then
    fail "map: table of operands by their names expected, as { x = x, y = y }"
  end
  local target = type(o) == "table" and o.out or nil
  if target ~= nil then spread.check(target, "map", "option 'out'") end
  local operands, first = elementwise.align("map", given, target)
  local pieces, result, dtype = {}, first == target and target or nil, nil
  for rank in pairs(first.pieces) do
    local own = without_out(o)
    own.out = result and result.pieces[rank]
    pieces[rank] = core.map(elementwise.localize(text, first.place, rank), elementwise.of_rank(operands, rank), own)
    dtype = pieces[rank].dtype
  end
  if result then return result end
  local made = spread.of(first.group, dtype, first.place, pieces)
  return target and target:write(made) or made
end

function elementwise.saxpy(alpha, x, y, o)
  local target = type(o) == "table" and o.out or nil
  spread.check(x, "saxpy", "x")
  spread.check(y, "saxpy", "y")
  if target ~= nil then spread.check(target, "saxpy", "option 'out'") end
  local out = target or y
  for name, value in pairs { y = y, out = out } do
    if value.group ~= x.group then fail("saxpy: %s is of another group", name) end
    if table.concat(value.shape, "x") ~= table.concat(x.shape, "x") then
      fail("saxpy: %s is %s, x is %s", name, table.concat(value.shape, "x"), table.concat(x.shape, "x"))
    end
  end
  if not (x.place:is_like(y.place) and x.place:is_like(out.place)) then
    local made = elementwise.saxpy(alpha, elementwise.settled(x), y:copy())
    return out:write(made)
  end
  for rank, piece in pairs(x.pieces) do
    local own = without_out(o)
    own.out = target and target.pieces[rank]
    core.saxpy(alpha, piece, y.pieces[rank], own)
  end
  return out
end

-- --- operators ----------------------------------------------------------------------------------------

--- The operator of the ranks' own buffers.
-- @string name
-- @tparam function f of theirs
-- @param a
-- @param b of an operator with two operands
function elementwise.operate(name, f, a, b)
  local like = spread.is_one(a) and a or b
  for _, value in ipairs { a, b } do
    if not (spread.is_one(value) or type(value) == "number" or type_of(value) == "Buffer") then
      fail("%s: spread buffer or number expected, got %s", name, type_of(value))
    end
    if spread.is_one(value) and table.concat(value.shape, "x") ~= table.concat(like.shape, "x") then
      fail("%s: %s and %s: spread buffers of one shape expected", name, table.concat(like.shape, "x"),
        table.concat(value.shape, "x"))
    end
  end
  spread.agree(like.group, "'" .. name .. "'", a, b)
  local operands, first = elementwise.align(name, { a = a, b = b })
  local pieces, dtype = {}, nil
  for rank in pairs(first.pieces) do
    local own = elementwise.of_rank(operands, rank)
    pieces[rank] = f(own.a, own.b)
    dtype = pieces[rank].dtype
  end
  return spread.of(first.group, dtype, first.place, pieces)
end

local OPERATORS = {
  __add = { "+", function(a, b) return a + b end }, __sub = { "-", function(a, b) return a - b end },
  __mul = { "*", function(a, b) return a * b end }, __div = { "/", function(a, b) return a / b end },
  __idiv = { "//", function(a, b) return a // b end }, __mod = { "%", function(a, b) return a % b end },
  __pow = { "^", function(a, b) return a ^ b end }, __band = { "&", function(a, b) return a & b end },
  __lt = { "<", function(a, b) return a < b end }, __le = { "<=", function(a, b) return a <= b end },
  __concat = { "..", function(a, b) return a .. b end },
  __bor = { "|", function(a, b) return a | b end }, __bxor = { "~", function(a, b) return a ~ b end },
}

--- Has spread buffers know them.
function elementwise.add_operators()
  local events = {
    __unm = function(a) return elementwise.operate("-", function(x) return -x end, a) end,
    __bnot = function(a) return elementwise.operate("~", function(x) return ~x end, a) end,
  }
  for event, operator in pairs(OPERATORS) do
    events[event] = function(a, b) return elementwise.operate(operator[1], operator[2], a, b) end
  end
  for event, f in pairs(raising.guarded(events)) do spread.metatable[event] = f end
end

return elementwise
