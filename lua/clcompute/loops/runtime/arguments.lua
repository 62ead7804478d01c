-- SPDX-License-Identifier: MIT

--- The arguments of one call: what each is, whether it fits the function's text, and whether two are the same memory.

local bytes_of = require("clcompute.loops.tree").ast.bytes
local interrupt = require("clcompute.base").interrupt

local arguments = {}

local LARGEST = 1 << 53 -- of what bounds and subscripts are made of: sums of them do not wrap
arguments.LARGEST = LARGEST
local LARGE = 1 << 31 -- integers beyond have a specialisation of their own: floats may not hold sums of them

local function fail(row, message, ...)
  error(("%s: %s"):format(row.label, message:format(...)), 0)
end

local function type_name(value)
  local meta = type(value) == "userdata" and debug.getmetatable(value)
  return meta and meta.__name and meta.__name:match "[^.]*$" or type(value)
end

local function is_buffer(value)
  return type(value) == "userdata" and debug.getmetatable(value).__name == "clcompute.Buffer"
end

-- --- numbers ------------------------------------------------------------------------------

local function take_number(row, value)
  if value == nil and row.is_computed then fail(row, "it cannot be computed from such arguments") end
  if value == nil and row.is_argument then
    fail(row, "number expected, got nil (or let the function begin with '%s = %s or 0')", row.name, row.name)
  end
  if type(value) ~= "number" then
    local use = row.variable.number
    local is_array = use and (type(value) == "table" or is_buffer(value))
    fail(row, is_array and "number expected, got %s: it is used as one in line %d"
      or "number expected, got %s", type_name(value), use and use.line)
  end
  if row.is_index and math.type(value) == "float" then
    local integer = math.tointeger(value)
    if not integer then fail(row, "it is used in bounds or subscripts, so an integer is expected, got %s", value) end
    if row.is_operand and row.is_computed then
      fail(row, "the loop in line %d would go through floats, which are computed with: write integers, "
        .. "and compute floats of them, as in 'local x = i * h'", row.variable.number.line)
    elseif row.is_operand then
      fail(row, "it is computed with beside bounds and subscripts, so an integer is expected, got the float %s", value)
    end
    value = integer
  end
  if row.is_index and (value > LARGEST or value < -LARGEST) then
    fail(row, "it is used in bounds or subscripts, and %d is beyond 2^53", value)
  end
  local is_integer = math.type(value) == "integer"
  return value, { kind = "number", type = is_integer and "int" or "float",
    is_large = is_integer and (value > LARGE or value < -LARGE) }
end

-- --- tables -------------------------------------------------------------------------------

local NO_NUMBER = "element %s is no number but a %s"

--- The type of what is no number, and what may stand for it.
local function other_type(value)
  return type(value) == "boolean" and "boolean: 1 and 0 stand for true and false" or type(value)
end

--- Numbers of which one is a float have a sum that is one. Comparing raises an error for strings, which adding would
-- take for numbers. No function is called for an element: looking is to cost less than computing with it.
local function sum_of(list, first, last)
  local sum = 0
  for i = first, last do
    local value = list[i]
    if value < 0 then sum = sum - value else sum = sum + value end
  end
  return sum
end

--- Whether all elements are integers, or one is a float: then all will be. `is_asked`: whether the function asks which
-- elements are there; then all are looked at, as a false or a hole among them is none.
local function element_of(row, list, base, count, place, is_asked)
  if not is_asked and math.type(list[base]) == "float" then return "float" end
  local ok, sum = pcall(sum_of, list, base, base + count - 1)
  if not ok and not tostring(sum):find("attempt to compare", 1, true) then error(sum, 0) end -- a hook's, as Ctrl-C
  local element = ok and math.type(sum)
  if element then return element == "float" and "float" or "int" end
  for i = base, base + count - 1 do
    local kind = math.type(list[i])
    if kind == "float" and not is_asked then return "float" end
    if not kind then fail(row, NO_NUMBER, ("%s[%d]"):format(place, i), other_type(list[i])) end
  end
  return "int"
end

--- Whether a metatable gives elements that a table does not hold itself.
local function is_virtual(list, base, count)
  if not debug.getmetatable(list) then return false end
  for i = base, base + count - 1 do
    if rawget(list, i) == nil then return true end
  end
  return false
end

local function length(list, base)
  if base == 1 then return #list end
  return list[0] == nil and 0 or #list + 1
end

--- Shape and element of nested tables, and that they are rectangular and hold no row twice.
local function look(row, list, rank, base, seen, place, shape, depth)
  if type(list) ~= "table" then
    fail(row, "%s is a %s, but the function uses %d subscripts", place, type_name(list), rank)
  end
  local other = seen[list]
  if other then fail(row, "%s is the same table as %s", place, other.row and other.row.name or other) end
  seen[list] = place
  local count = length(list, base)
  if not shape[depth] then shape[depth] = count end
  if shape[depth] ~= count then
    fail(row, "not rectangular: %s has %d elements, the first of its kind %d", place, count, shape[depth])
  end
  local is_asked = row.variable.asked and row.variable.asked[depth]
  if is_asked and list[base - 1] ~= nil then
    fail(row, "%s has an element %d, and the function asks for elements beyond its ends: they begin at %d", place,
      base - 1, base)
  end
  shape.is_virtual = shape.is_virtual or is_virtual(list, base, count)
  if depth == rank then return element_of(row, list, base, count, place, is_asked) end
  local element = "int"
  for i = base, base + count - 1 do
    if look(row, list[i], rank, base, seen, ("%s[%d]"):format(place, i), shape, depth + 1) == "float" then
      element = "float"
    end
  end
  return element
end

--- Raises an error where an element is no number; `look` does not see those behind a float.
-- @tparam table row of the argument
-- @tparam table list
-- @tparam table shape
-- @tparam integer base the index of a table's first element
function arguments.check_elements(row, list, shape, base)
  local function check(part, place, depth)
    for i = base, base + shape[depth] - 1 do
      local item, inner = part[i], ("%s[%d]"):format(place, i)
      if depth < #shape and type(item) == "table" then
        check(item, inner, depth + 1)
      elseif depth < #shape then
        fail(row, "element %s is no row but a %s", inner, type(item))
      elseif type(item) ~= "number" then
        fail(row, NO_NUMBER, inner, other_type(item))
      end
    end
  end
  check(list, row.name, 1)
end

local function take_table(row, value, base, seen)
  local shape, rank = {}, row.variable.rank
  local element = look(row, value, rank, base, seen, row.name, shape, 1)
  for depth = 1, rank do shape[depth] = shape[depth] or 0 end
  return { row = row, variable = row.variable, table = value, shape = shape }, { kind = "table", element = element,
    rank = rank }
end

-- --- buffers ------------------------------------------------------------------------------

local function dtype_of(buffer) return buffer.dtype end

--- Whether a buffer was released, and may not be asked for anything any more.
function arguments.is_released(buffer)
  local ok, message = pcall(dtype_of, buffer)
  if not ok then interrupt.pass_on(message) end
  return not ok
end

local function take_buffer(row, value, is_written)
  if arguments.is_released(value) then fail(row, "the buffer is released") end
  local internal = require "clcompute.core.internal"
  if is_written[row.variable] then internal.enqueue.check_target(row.label, value) end
  local shape, dtype, rank = value.shape, value.dtype, row.variable.rank
  if #shape ~= rank then
    fail(row, "the function uses %d subscript%s, the buffer has %d dimension%s", rank, rank == 1 and "" or "s", #shape,
      #shape == 1 and "" or "s")
  end
  if dtype == "half" then fail(row, "a buffer of half is not taken: b:astype \"float\" is a copy in floats") end
  local memory, first = internal.memory(value)
  return { row = row, variable = row.variable, buffer = value, shape = shape, memory = memory, first = first,
    dtype = dtype }, { kind = "buffer", dtype = dtype, rank = rank }
end

-- --- two names for one array --------------------------------------------------------------

local function same_shape(a, b)
  for depth, size in ipairs(a.shape) do
    if b.shape[depth] ~= size then return false end
  end
  return #a.shape == #b.shape
end

--- Bytes of one element.
arguments.bytes_of = bytes_of

local function count(shape)
  local n = 1
  for _, size in ipairs(shape) do n = n * size end
  return n
end

--- The number of elements of a shape.
arguments.count = count

local function overlaps(a, b)
  if a.table or b.table or a.memory ~= b.memory then return false end
  local a_size, b_size = bytes_of(a.dtype), bytes_of(b.dtype)
  local a_first, b_first = a.first * a_size, b.first * b_size
  return a_first < b_first + count(b.shape) * b_size and b_first < a_first + count(a.shape) * a_size
end

local function is_same(a, b)
  if a.table then return a.table == b.table end
  return a.memory == b.memory and a.first == b.first and a.dtype == b.dtype and same_shape(a, b)
end

--- The first array that an array is, or nil; raises where it shares part of its memory with another one, and one of
-- them is written.
local function twin_of(array, earlier, is_written)
  local twin
  for _, other in ipairs(earlier) do
    if is_same(array, other) then
      twin = twin or other
    elseif overlaps(array, other) and (is_written[array.variable] or is_written[other.variable]) then
      fail(array.row, "it shares part of its memory with %s, and one of them is written; pass a copy", other.row.label)
    end
  end
  return twin
end

-- --- all ----------------------------------------------------------------------------------

local LETTER = { int = "i", float = "f" }

--- Takes the values of a call.
-- @tparam table rows for each value: `variable`, `name`, `label` (what messages call it), `is_array`, `is_index`,
-- `is_operand`, `is_unused`, `is_computed`
-- @tparam table values
-- @tparam integer base the index of a table's first element
-- @tparam table is_written by variable
-- @treturn table `kinds` by variable; `numbers` by variable; `arrays`, a list; `twins`, which variable is another's
-- array; `signature`, a string
function arguments.take(rows, values, base, is_written)
  local taken = { kinds = {}, numbers = {}, arrays = {}, twins = {} }
  local seen, letters, all = {}, {}, {}
  for i, row in ipairs(rows) do
    local value, variable = values[i], row.variable
    local array, kind
    if row.is_unused then
      letters[i] = "-"
    elseif not row.is_array then
      value, kind = take_number(row, value)
      taken.numbers[variable] = value
      letters[i] = kind.is_large and "l" or LETTER[kind.type]
    elseif is_buffer(value) then
      array, kind = take_buffer(row, value, is_written)
      letters[i] = kind.dtype
    elseif type(value) == "table" then
      local known = type(seen[value]) == "table" and seen[value]
      if known and known.variable.rank == row.variable.rank then
        array, kind = known, taken.kinds[known.variable]
      else
        array, kind = take_table(row, value, base, seen)
        seen[value] = array
      end
      letters[i] = "t" .. LETTER[kind.element]
    else
      fail(row, "buffer or table expected, got %s", type_name(value))
    end
    taken.kinds[variable] = kind
    local twin = array and twin_of(array, all, is_written)
    all[#all + 1] = array
    if twin then
      taken.twins[variable] = twin.variable
      letters[i] = "=" .. twin.variable.id
    elseif array then
      taken.arrays[#taken.arrays + 1] = array
    end
  end
  taken.signature = table.concat(letters, " ")
  return taken
end

return arguments
