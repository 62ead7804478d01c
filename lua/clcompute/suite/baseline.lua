-- SPDX-License-Identifier: MIT

--- What the nests are measured against: the same loops in C, compiled here by gcc -O3 -march=native, and for some nests
-- kernels with tiles in local memory.
--
-- In C, products and sums are not contracted to fused ones (-ffp-contract=off) unless asked, so that the results are
-- Lua's to the bit.

local data = require "clcompute.suite.data"
local native = require "clcompute.native"
local process = require("clcompute.base").process
local write_file = require("clcompute.base").write_file

local baseline = {}

-- The compiler with its options.
baseline.COMMAND = "gcc -O3 -march=native -ffp-contract=off"

local COMPILE = "%s -std=gnu11 -fPIC -shared -w %s -x c -o %s %s 2>&1"

-- --- C ------------------------------------------------------------------------

local function type_of(parameter)
  return parameter.integers and "long" or "real"
end

--- How C declares an array: `a[i][j]` works on it, and no other array shares its memory. The extents are at least 1,
-- as C wants.
local function array_of(parameter, index)
  local inner = {}
  for i = 3, #parameter do inner[#inner + 1] = ("[(%s) > 0 ? %s : 1]"):format(parameter[i], parameter[i]) end
  return ("  %s (*restrict %s)%s = arrays[%d];"):format(type_of(parameter), parameter[1], table.concat(inner), index)
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
      arrays[#arrays + 1] = ("  %s *restrict %s = arrays[%d];"):format(type_of(parameter), parameter[1], #arrays)
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

--- Compiles a source to a shared object; the file goes with the object returned.
-- @string compiler what a message names
-- @string command with a `%s` for the object and one for the source
-- @string text
-- @treturn ?Baseline nil where it fails
-- @treturn ?string why
function baseline.object(compiler, command, text)
  local source, object = os.tmpname(), os.tmpname()
  write_file(source, text)
  local pipe = assert(io.popen(command:format(process.quote(object), process.quote(source))))
  local message = pipe:read("a")
  local ok = pipe:close()
  os.remove(source)
  if ok then return setmetatable({ path = object }, baseline.Baseline) end
  os.remove(object)
  return nil, compiler .. ": " .. message
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
  local texts = { "#include <tgmath.h>", ("typedef %s real;"):format(dtype) }
  for _, row in ipairs(rows) do texts[#texts + 1] = baseline.source(row) end
  local flags = (options.openmp and "-fopenmp" or "") .. (dtype == "float" and " -fsingle-precision-constant" or "")
  return baseline.object("gcc", COMPILE:format(baseline.command(options), flags, "%s", "%s"),
    table.concat(texts, "\n\n") .. "\n")
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
      packed.arrays[#packed.arrays + 1] = type(value) == "string" and value
        or data.pack(value, parameter.integers and "long" or nil)
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

-- --- tiles: nests as a generator for GPUs writes them (PPCG is one), by hand --------

-- By name of the row, a function of a device, buffers of floats as the row's function takes them, and its sizes, that
-- returns a function which queues the nest: an element a work-item, tiles in local memory.
baseline.tiled = {}

local TILE = 16 -- edge of a work-group

local MMM = [[
  kernel void mmm(global const float *a, global const float *b, global float *c, int n) {
    local float a_tile[TILE][TILE], b_tile[TILE][TILE];
    const int row = get_global_id(1), column = get_global_id(0);
    const int y = get_local_id(1), x = get_local_id(0);
    float sum = 0;
    for (int first = 0; first < n; first += TILE) {
      a_tile[y][x] = row < n && first + x < n ? a[row * n + first + x] : 0;
      b_tile[y][x] = column < n && first + y < n ? b[(first + y) * n + column] : 0;
      barrier(CLK_LOCAL_MEM_FENCE);
      for (int k = 0; k < TILE; k++) sum += a_tile[y][k] * b_tile[k][x];
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (row < n && column < n) c[row * n + column] = sum;
  }
]]

local JAC2D = [[
  /* A tile with the elements around it; the inner points are its work-items'. */
  kernel void average(global const float *a, global float *b, int n) {
    local float tile[TILE + 2][TILE + 2];
    const int top = get_group_id(1) * TILE, left = get_group_id(0) * TILE;
    const int y = get_local_id(1), x = get_local_id(0);
    for (int i = y * TILE + x; i < (TILE + 2) * (TILE + 2); i += TILE * TILE) {
      const int row = top + i / (TILE + 2), column = left + i % (TILE + 2);
      tile[i / (TILE + 2)][i % (TILE + 2)] = row < n && column < n ? a[row * n + column] : 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const int row = top + y + 1, column = left + x + 1;
    if (row < n - 1 && column < n - 1)
      b[row * n + column] = 0.2f * (tile[y + 1][x + 1] + tile[y + 1][x] + tile[y + 1][x + 2]
                                    + tile[y + 2][x + 1] + tile[y][x + 1]);
  }

  kernel void move(global float *a, global const float *b, int n) {
    const int row = get_global_id(1) + 1, column = get_global_id(0) + 1;
    if (row < n - 1 && column < n - 1) a[row * n + column] = b[row * n + column];
  }
]]

local function build(device, source)
  return device:program(source, { defines = { TILE = TILE } })
end

--- Groups of TILE x TILE that cover extent x extent.
local function square(extent)
  local size = (extent + TILE - 1) // TILE * TILE
  return { global = { size, size }, group = { TILE, TILE } }
end

function baseline.tiled.mmm(device, buffers, n)
  local program, range = build(device, MMM), square(n)
  local a, b, c = table.unpack(buffers)
  return function() program.mmm(range, a, b, c, n) end
end

function baseline.tiled.jac2d(device, buffers, n, steps)
  local program, range = build(device, JAC2D), square(n - 2)
  local a, b = table.unpack(buffers)
  return function()
    for _ = 1, steps do
      program.average(range, a, b, n)
      program.move(range, a, b, n)
    end
  end
end

return baseline
