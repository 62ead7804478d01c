-- SPDX-License-Identifier: MIT

--- What the nests are measured against: the same loops in C, compiled here by gcc -O3 -march=native.
--
-- Products and sums are not contracted to fused ones (-ffp-contract=off) unless asked, so that the results are Lua's to
-- the bit.
-- @module clcompute.suite.baseline

local native = require "clcompute.native"
local nested = require "clcompute.suite.nested"
local process = require("clcompute.base").process
local write_file = require("clcompute.base").write_file

local baseline = {}

-- The compiler with its options.
baseline.COMMAND = "gcc -O3 -march=native -ffp-contract=off"

local COMPILE = "%s -std=gnu11 -fPIC -shared -w %s -x c -o %s %s 2>&1"

-- --- C ------------------------------------------------------------------------

--- How C declares an array: `a[i][j]` works on it, and no other array shares its memory. The extents are at least 1,
-- as C wants.
local function array_of(parameter, index)
  local inner = {}
  for i = 3, #parameter do inner[#inner + 1] = ("[(%s) > 0 ? %s : 1]"):format(parameter[i], parameter[i]) end
  return ("  real (*restrict %s)%s = arrays[%d];"):format(parameter[1], table.concat(inner), index)
end

--- The row's function on arrays of `real`, with the signature that `clcompute.native` calls.
-- @tparam table row
-- @treturn string
function baseline.source(row)
  local sizes, numbers, arrays = {}, {}, {}
  for _, parameter in ipairs(row.parameters) do
    if type(parameter) == "string" then
      sizes[#sizes + 1] = ("  const long %s = sizes[%d];"):format(parameter, #sizes)
    elseif parameter.value then
      numbers[#numbers + 1] = ("  const real %s = numbers[%d];"):format(parameter[1], #numbers)
    elseif #parameter == 2 then
      arrays[#arrays + 1] = ("  real *restrict %s = arrays[%d];"):format(parameter[1], #arrays)
    else
      arrays[#arrays + 1] = array_of(parameter, #arrays)
    end
  end
  return table.concat({
    ("void %s(const long *sizes, const double *numbers, void *const *arrays) {"):format(row.name),
    table.concat(sizes, "\n"), table.concat(numbers, "\n"), table.concat(arrays, "\n"), "  {", row.c, "  }", "}",
  }, "\n")
end

--- Whether a loop of the row is parallel as written.
-- @tparam table row
-- @treturn boolean
function baseline.is_parallel(row)
  return row.c:find("#pragma omp", 1, true) ~= nil
end

-- --- compiling ----------------------------------------------------------------

--- Why nothing can be compiled.
-- @treturn ?string nil where there is gcc
function baseline.lack()
  return not process.find "gcc" and "there is no gcc: apt-get install gcc libc6-dev" or nil
end

--- How gcc is called.
-- @tparam[opt] table options `fused`: products and sums may be contracted, as gcc does unless told otherwise
-- @treturn string
function baseline.command(options)
  return options and options.fused and baseline.COMMAND:gsub("=off$", "=fast") or baseline.COMMAND
end

--- Compiles rows to a shared object, loaded when first called; the file goes with the object returned.
-- @tparam table rows
-- @tparam[opt] table options `dtype`: "double" (unless given) or "float", the type of arrays, numbers and constants;
--  `fused`; `openmp`: with threads
-- @treturn ?Baseline nil where there is no gcc, or it fails
-- @treturn ?string why
function baseline.compile(rows, options)
  local lack = baseline.lack()
  if lack then return nil, lack end
  options = options or {}
  local dtype = options.dtype or "double"
  local texts = { ("typedef %s real;"):format(dtype) }
  for _, row in ipairs(rows) do texts[#texts + 1] = baseline.source(row) end
  local source, object = os.tmpname(), os.tmpname()
  write_file(source, table.concat(texts, "\n\n") .. "\n")
  local flags = (options.openmp and "-fopenmp" or "") .. (dtype == "float" and " -fsingle-precision-constant" or "")
  local pipe = assert(io.popen(COMPILE:format(baseline.command(options), flags, process.quote(object),
    process.quote(source))))
  local message = pipe:read("a")
  local ok = pipe:close()
  os.remove(source)
  if ok then return setmetatable({ path = object }, baseline.Baseline) end
  os.remove(object)
  return nil, "gcc: " .. message
end

local Baseline = {}
Baseline.__index = Baseline
baseline.Baseline = Baseline

--- Removes the file.
function Baseline:close()
  if self.path then os.remove(self.path) end
  self.path = nil
end

Baseline.__close, Baseline.__gc = Baseline.close, Baseline.close

-- --- calling ------------------------------------------------------------------

--- Arguments of a row as its C function takes them: arrays packed.
-- @tparam table row
-- @tparam table arguments for its Lua function; an array may be packed already
-- @treturn table
function baseline.pack(row, arguments)
  local packed = { sizes = {}, numbers = {}, arrays = {}, names = {} }
  for i, parameter in ipairs(row.parameters) do
    if type(parameter) == "string" then
      packed.sizes[#packed.sizes + 1] = arguments[i]
    elseif parameter.value then
      packed.numbers[#packed.numbers + 1] = arguments[i]
    else
      local value = arguments[i]
      packed.arrays[#packed.arrays + 1] = type(value) == "string" and value or nested.pack(value)
      packed.names[#packed.names + 1] = parameter[1]
    end
  end
  return packed
end

--- Runs a row on copies of packed arguments.
-- @tparam table row
-- @tparam table packed what `baseline.pack` made
-- @treturn table its arrays after the run by name, packed
-- @treturn number seconds
function Baseline:run(row, packed)
  local after, seconds = native.call(self.path, row.name, packed.sizes, packed.numbers, packed.arrays)
  local by_name = {}
  for i, name in ipairs(packed.names) do by_name[name] = after[i] end
  return by_name, seconds
end

return baseline
