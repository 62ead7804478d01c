-- SPDX-License-Identifier: MIT
--- cl.count, cl.any, cl.all and cl.where: conditions that are reduced, or that choose.

local condition = require "clcompute.arrays.condition"
local operations = require "clcompute.operations"
local options = require("clcompute.base").options
local shapes = require "clcompute.arrays.shapes"

local along_axis, operands = operations.along_axis, operations.operands

local counting = {}

local AXIS = { axis = "integer", keep = "boolean" }

-- What combines 1 where a condition holds and 0 where it does not, and what there is along an axis of no elements.
local COUNT = { operation = "a + b", dtype = "long", empty = 0 }
local ANY = { operation = "max(a, b)", dtype = "uchar", empty = 0 }
local ALL = { operation = "min(a, b)", dtype = "uchar", empty = 1 }

--- A number, a buffer by the option `axis`, or nil where there are no elements. A condition may be a floating number,
-- which `?:` does not take.
local function reduce(where, how, text, given, o)
  if type(text) ~= "string" and type(given) == "table" and o == nil then given, o = nil, given end
  local c = condition.read(where, text, given)
  local g = o ~= nil and along_axis.read(where, options.check(where, o, AXIS), c.first.value)
  local holds = ("(%s) != 0"):format(c.text)
  if g then
    return along_axis.reduce(where, how.operation, c.list, c.first, g, { map = holds, type = how.dtype,
      dtype = how.dtype, empty = how.empty, type_of = operands.value_type, own = "holds" })
  end
  return operations.reduction.list(where, how.operation, c.list, c.first,
    { map = holds, dtype = "long", type_of = operands.value_type })
end

--- The result of all elements as a boolean; along an axis the buffer that it is.
local function truth(result, of_none)
  if result == nil then return of_none end
  if math.type(result) then return result ~= 0 end
  return result
end

function counting.count(text, x, o)
  return reduce("count", COUNT, text, x, o) or 0
end

function counting.any(text, x, o)
  return truth(reduce("any", ANY, text, x, o), false)
end

function counting.all(text, x, o)
  return truth(reduce("all", ALL, text, x, o), true)
end

local WHERE = { out = "Buffer", dtype = "string", operands = "table" }
local NONE = {}
local CHOICES = { a = "argument 2", b = "argument 3" }
local MASKED = { a = "argument 2", b = "argument 3", x = "the mask" }

--- The operands of cl.where: those of the option, the two choices, and x, the first buffer of these, where it is used.
local function operands_of(text, a, b, more)
  local given = {}
  for name, value in pairs(more or NONE) do given[name] = value end
  if given.a or given.b then error("where: option 'operands': 'a' and 'b' are the arguments", 0) end
  given.a, given.b = a, b
  if type(text) ~= "string" then
    operands.describe("where", "argument 1", text)
    if more then error("where: option 'operands': a mask has none", 0) end
    given.x = text
    shapes.join("where", given, MASKED)
    return given, "x[i] != 0"
  end
  local has_x = given.x ~= nil
  if not has_x then given.x = type(a) == "userdata" and a or b end
  shapes.join("where", given, CHOICES)
  local plain, used = condition.translate("where", text, (operands.read("where", given)))
  if not has_x and not used.x then given.x = nil end
  return given, plain
end

local function check_choice(what, value)
  if type(value) == "number" then return end
  if type(value) ~= "userdata" then
    error(("where: %s: buffer or number expected, got %s"):format(what, operands.type_of(value)), 0)
  end
  operands.describe("where", what, value)
end

--- A choice as cl.map has it.
local function choice(name, value)
  return type(value) == "number" and name or name .. "[i]"
end

function counting.where(text, a, b, o)
  o = o and options.check("where", o, WHERE) or NONE
  check_choice("argument 2", a)
  check_choice("argument 3", b)
  local given, plain = operands_of(text, a, b, o.operands)
  local expression = ("(%s) != 0 ? %s : %s"):format(plain, choice("a", a), choice("b", b))
  local is_mask, has_buffer = type(text) ~= "string", type(a) == "userdata" or type(b) == "userdata"
  return operations.mapping.all("where", expression, given, { out = o.out, dtype = o.dtype },
    (is_mask or has_buffer) and CHOICES or nil)
end

return counting
