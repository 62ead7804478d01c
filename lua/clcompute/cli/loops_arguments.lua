-- SPDX-License-Identifier: MIT

--- The arguments with which `clcompute loops` looks at a function: read from `--arguments`, filled up, and made.
-- @module clcompute.cli.loops_arguments

local command_line = require "clcompute.cli.command_line"
local data = require("clcompute.suite").data

local loops_arguments = {}

local MOST_ELEMENTS <const> = 1 << 26 -- of a table: 1 GiB
local DEFAULT_FLOAT <const>, DEFAULT_INTEGER <const> = 1.5, 3 -- of numbers that are no bound and no subscript
local NUMBER_WORDS = { integer = "int", float = "float" }

--- "100x50" as a list, or nil.
local function sizes_of(text)
  local sizes = {}
  for word in (text .. "x"):gmatch "([^x]*)x" do
    local size = command_line.positive_integer(word)
    if not size then return nil end
    sizes[#sizes + 1] = size
  end
  return sizes
end

--- Reads "A=floats:100x50,B=double,n=100,alpha=float".
-- @string text
-- @treturn[1] table by name `{ word=, sizes=, value= }`: the kind, the sizes of an array, the value of a number
-- @treturn[2] nil
-- @treturn[2] string what was expected
function loops_arguments.parse(text)
  local given = {}
  for part in (text .. ","):gmatch "([^,]*)," do
    local name, word, sizes = part:match "^%s*([%a_][%w_]*)=([^:%s]+)(:?%S*)%s*$"
    local value = tonumber(word)
    local row = { word = value and NUMBER_WORDS[math.type(value)] or word, value = value,
      sizes = name and sizes_of(sizes:sub(2)) }
    if not name or given[name] or (sizes ~= "" and not row.sizes) then
      return nil, ("NAME=KIND, NAME=KIND:100x50 or NAME=NUMBER with commas expected, each name once, got '%s'")
        :format(part)
    end
    given[name] = row
  end
  return given
end

local function check(row, given)
  if row.is_array and given.value then
    error(("'%s' is an array: floats, integers or a dtype expected, got %s"):format(row.name, given.value), 0)
  elseif not row.is_array and given.sizes then
    error(("'%s' is a number and has no sizes"):format(row.name), 0)
  end
end

--- The words for `clcompute.loops.explain.presumption`.
-- @tparam table rows of `clcompute.loops`: what each argument is
-- @tparam table given of `parse`
-- @treturn table by name
-- @raise that an array is given a number, or a number sizes
function loops_arguments.words(rows, given)
  local words = {}
  for _, row in ipairs(rows) do check(row, given[row.name] or {}) end
  for name, row in pairs(given) do words[name] = row.word end
  return words
end

local function extents_of(row, given, size)
  local extents, elements = given.sizes or {}, 1
  if given.sizes and #extents ~= row.variable.rank then
    error(("'%s' has rank %d, but %d sizes were given"):format(row.name, row.variable.rank, #extents), 0)
  end
  for d = 1, row.variable.rank do
    extents[d] = extents[d] or size
    elements = elements * extents[d]
    if elements > MOST_ELEMENTS then
      error(("'%s' would have more than %d elements: give a smaller --size"):format(row.name, MOST_ELEMENTS), 0)
    end
  end
  return extents
end

local function is_integral(kind)
  return kind.element == "int" or kind.dtype == "long"
end

local function new_array(row, kind, given, size, random)
  local extents = extents_of(row, given, size)
  if not is_integral(kind) then return data.array(extents, random) end
  return data.array(extents, function() return random() * 10 // 1 | 0 end, 0, 1)
end

local function new_number(row, kind, given, size)
  if given.value then return given.value end
  if row.is_index then return size end
  return kind.type == "int" and DEFAULT_INTEGER or DEFAULT_FLOAT
end

--- Makes values: arrays as nested tables of random numbers, the same each time.
-- @tparam table rows of `clcompute.loops`: what each argument is
-- @tparam table kinds by variable, of `clcompute.loops.explain.presumption`
-- @tparam table given of `parse`
-- @tparam integer size of each dimension, and of numbers in bounds and subscripts, unless given
-- @treturn table a list
function loops_arguments.make(rows, kinds, given, size)
  local values, random = {}, data.generator(1)
  for i, row in ipairs(rows) do
    local new = row.is_array and new_array or new_number
    values[i] = new(row, kinds[row.variable], given[row.name] or {}, size, random)
  end
  return values
end

local function shape_of(value)
  local sizes = {}
  while type(value) == "table" do
    sizes[#sizes + 1] = #value
    value = value[1]
  end
  return table.concat(sizes, " x ")
end

--- Values in words: "A: floats, 64 x 64; n = 64".
function loops_arguments.describe(rows, kinds, values)
  local texts = {}
  for i, row in ipairs(rows) do
    local kind = kinds[row.variable]
    if row.is_array then
      local noun = kind.dtype and "buffer of " .. kind.dtype or kind.element == "float" and "table of floats"
        or "table of integers"
      texts[i] = ("%s: %s, %s"):format(row.name, noun, shape_of(values[i]))
    else
      texts[i] = ("%s = %s"):format(row.name, values[i])
    end
  end
  return #texts > 0 and table.concat(texts, "; ") or "no arguments"
end

return loops_arguments
