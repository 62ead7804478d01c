-- SPDX-License-Identifier: MIT
--- Copies of a call's arguments, and whether two calls left the same in them.

local copies = {}

--- Copies of arguments; an array that was given twice is one again.
-- @tparam table values nested tables and numbers
-- @tparam ?function element_of what a number becomes in the copy
-- @tparam ?function list_of what a list of such numbers becomes
-- @treturn table
function copies.of(values, element_of, list_of)
  local known = {}
  local function copy(value, is_inside)
    if type(value) ~= "table" then return is_inside and element_of and element_of(value) or value end
    if not known[value] then
      local list = {}
      for i, item in ipairs(value) do list[i] = copy(item, true) end
      known[value] = list_of and type(value[1]) == "number" and list_of(list) or list
    end
    return known[value]
  end
  local list = {}
  for i, value in ipairs(values) do list[i] = copy(value, false) end
  return list
end

--- The arguments with buffers of a device for arrays, one for an array that was given twice.
-- @tparam table values
-- @tparam Device device
-- @string dtype of the arrays of floats; those of integers are of type long
function copies.in_buffers(values, device, dtype)
  local known, list = {}, {}
  for i, value in ipairs(values) do
    if type(value) == "table" then
      local first = value
      while type(first) == "table" do first = first[1] end
      known[value] = known[value] or device:buffer(value, math.type(first) == "integer" and "long" or dtype)
    end
    list[i] = known[value] or value
  end
  return list
end

--- What is in them after a call.
function copies.read(list)
  local values = {}
  for i, value in ipairs(list) do values[i] = type(value) == "userdata" and value:read() or value end
  return values
end

--- Whether two numbers are the same as numbers of the second one's type: NaN is NaN, -0.0 is not 0.0.
function copies.same(expected, got)
  if math.type(got) == "float" then expected = expected * 1.0 end
  if expected ~= expected then return got ~= got end
  return expected == got and (expected ~= 0 or 1 / expected == 1 / got)
end

--- Whether all numbers in `got` are as `same` wants them.
-- @param expected
-- @param got
-- @tparam ?function same of two numbers (unless given, `copies.same`)
function copies.are_equal(expected, got, same)
  if type(got) ~= "table" then return (same or copies.same)(expected, got) end
  for i, item in ipairs(got) do if not copies.are_equal(expected[i], item, same) then return false end end
  return true
end

--- Runs a function in Lua and compiled, on tables, and compares all bits.
function copies.check(compiled, text, values, words)
  local expected, got = copies.of(values), copies.of(values)
  load("return " .. text)()(table.unpack(expected))
  compiled(table.unpack(got))
  for i in ipairs(values) do
    assert(copies.are_equal(expected[i], got[i]), ("argument %d, %s\n%s"):format(i, words, text))
  end
end

--- Whether tables are equally long, and what is in them.
local function are_as_long(expected, got)
  if type(expected) ~= "table" or type(got) ~= "table" then return type(expected) == type(got) end
  for i, item in ipairs(expected) do if not are_as_long(item, got[i]) then return false end end
  return #expected == #got
end

--- The results, up to three, and arguments of a function after a call on tables.
local function in_lua(f, values)
  local own = copies.of(values)
  return { table.unpack(table.pack(f(table.unpack(own))), 1, 3) }, own
end

--- The same of a call with buffers in place of tables, read back.
local function with_buffers(f, values, device)
  local own = copies.in_buffers(values, device, "double")
  local results = copies.read { table.unpack(table.pack(f(table.unpack(own))), 1, 3) }
  return results, copies.read(own)
end

--- Whether a compiled function does what the function itself does, on tables and on buffers.
function copies.are_calls_equal(compiled, f, values, device)
  local expected, arguments = in_lua(f, values)
  for _, call in ipairs { in_lua, with_buffers } do
    local results, own = call(compiled, values, device)
    if not are_as_long(expected, results) or not copies.are_equal(expected, results) then return false end
    if not copies.are_equal(arguments, own) then return false end
  end
  return true
end

return copies
