-- SPDX-License-Identifier: MIT

--- What a function would be for kinds of arguments that nobody has passed yet.

local arguments = require("clcompute.loops.runtime").arguments
local failure = require("clcompute.loops.tree").failure
local interrupt = require("clcompute.base").interrupt
local kernel_target = require("clcompute.loops.runtime").kernel_target

local presumption = {}

local TABLES = { floats = "float", integers = "int" }
local NUMBERS = { float = true, int = true }

local function array_kind(row, word)
  local rank = row.variable.rank
  if TABLES[word] then return { kind = "table", element = TABLES[word], rank = rank } end
  if arguments.bytes_of(word) then return { kind = "buffer", dtype = word, rank = rank } end
  error(("'%s' is an array: floats, integers or a dtype expected, got '%s'"):format(row.name, word), 0)
end

local function number_kind(row, word)
  if not NUMBERS[word] then
    error(("'%s' is a number: int or float expected, got '%s'"):format(row.name, word), 0)
  end
  return { kind = "number", type = word }
end

--- The kinds of all arguments; of those that are not given, as for elements of a type.
-- @tparam table state of `clcompute.loops`
-- @tparam table given of `presumption.of`
-- @string element "float" or "int"
-- @treturn table by variable
function presumption.kinds(state, given, element)
  local kinds = {}
  for _, row in ipairs(state.rows) do
    local word = given[row.name]
    if row.is_array then
      local is_float = element == "float" and not row.variable.is_pointer
      kinds[row.variable] = array_kind(row, word or is_float and "floats" or "integers")
    else
      kinds[row.variable] = number_kind(row, word or (row.is_index or row.variable.is_pointer) and "int" or element)
    end
  end
  return kinds
end

--- What kind of device a call would take; the best of this machine, if there is one.
local function target_of(state)
  local ok, device = true, state.options.device
  if not device then
    ok, device = pcall(require "clcompute".device)
    if not ok then interrupt.pass_on(device) end
  end
  return ok and kernel_target.kept(state, device) or kernel_target.without_device(state.options)
end

local function presume(state, given, element)
  local taken = { kinds = presumption.kinds(state, given, element), twins = {} }
  return { kinds = taken.kinds, spec = state.specialise(taken, target_of(state)) }
end

local function check_names(state, given)
  local is_name, names = {}, {}
  for _, row in ipairs(state.rows) do
    if not row.is_computed then is_name[row.name], names[#names + 1] = true, row.name end
  end
  for name in pairs(given) do
    if not is_name[name] then
      error(("no argument '%s'; there are: %s"):format(name, table.concat(names, ", ")), 0)
    end
  end
end

--- Presumes arguments: those that are not given are tables of floats and floats, or where operators refuse those, of
-- integers; what is used in bounds and subscripts is an integer, and so are the elements of arrays.
-- @tparam table state of `clcompute.loops`
-- @tparam[opt] table given words by name: "floats" or "integers", a table of them, or the dtype of a buffer; of a
-- number "int" or "float"
-- @treturn table `kinds` by variable, as of `clcompute.loops.runtime.arguments`, and `spec`, of
--  `clcompute.loops.compiler`
-- @raise a failure of the function for such arguments, or a string: what is wrong with those given
function presumption.of(state, given)
  check_names(state, given or {})
  local ok, result = pcall(presume, state, given or {}, "float")
  if ok then return result end
  if not failure.is(result) then error(result, 0) end
  local is_integer, other = pcall(presume, state, given or {}, "int")
  return is_integer and other or error(failure.is(other) and result or other, 0)
end

return presumption
