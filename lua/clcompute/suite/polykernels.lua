-- SPDX-License-Identifier: MIT

--- The 19 PolyKernels, other functions that people write as loops, and nests of whose passes or elements data decide:
-- plain Lua functions, each with the same loops in C and data to run on.
--
-- A row is a file of `examples/polykernels`, `examples/nests` or `examples/irregular`: `name`, `title`; `parameters` in
-- order: { name, extent, ... } an array (with `low`, `high` of its random elements, or `dominant`: a diagonal that
-- dominates; or with `integers`, a function of a place, n and a generator, of elements that are 64-bit integers),
-- { name, value= } a number, or the name of a size, "n" or "steps"; `results`, the arrays it writes; `sizes`, quick and
-- full; `run`, the nest; `c`, its loops in C on arrays from 0, of the type `real`; `cuda`, those for CUDA where it
-- needs another order (`clcompute.suite.nest_in_cuda`); `has_transcendental`: it calls `exp` or `log`, whose last
-- digits are the device's own.

local data = require "clcompute.suite.data"

local polykernels = {}

-- Their names, in the order of the paper's tables.
polykernels.NAMES = { "jac", "jac2d", "adi", "fdtd1d", "fdtd2d", "gs", "gemver", "lud", "mmm", "mvt", "sor", "ssymm",
  "ssyr2k", "ssyrk", "strmm", "strsm", "tmm", "trisolv_if", "trisolv" }

-- Functions for which the compiler was not made: the rest of PolyBench/C 4.2, filters, stencils, dynamic programming.
polykernels.NESTS = { "prefix_sum", "atax", "durbin", "gramschmidt", "nussinov", "gesummv", "bicg", "edit_distance",
  "lcs", "kmeans", "black_scholes", "cholesky", "seidel", "floyd_warshall", "syr2k", "correlation", "covariance",
  "heat3d", "doitgen", "ludcmp", "mm2", "mm3", "trmm", "conv3d", "nbody", "symm", "box_blur", "conv2d", "deriche",
  "sobel", "matrix_chain", "wave2d", "tridiagonal", "softmax", "dilate", "red_black", "knapsack" }

-- Those of whose passes or elements data decide.
polykernels.IRREGULAR = { "spmv", "mandelbrot", "collatz", "search", "histogram", "life" }

local STEPS = 4 -- where none are given: enough for what one step leaves to be read by the next

--- The path of an example's file: in a checkout, or where `make install` and LuaRocks put it.
-- @tparam string name
-- @treturn string
function polykernels.path(name)
  local own = assert(package.searchpath("clcompute.suite.polykernels", package.path))
  local lua = own:match "^(.-)clcompute/suite/polykernels%.lua$"
  local tried = {}
  for _, folder in ipairs { "polykernels", "nests", "irregular" } do
    for _, form in ipairs { "%s../examples/%s/%s.lua", "%sclcompute/%s/%s.lua" } do
      local path = form:format(lua, folder, name)
      local file = io.open(path)
      if file then
        file:close()
        return path
      end
      tried[#tried + 1] = path
    end
  end
  error("none of " .. table.concat(tried, ", "), 0)
end

--- The number that an extent of an array stands for: "n", "n + 1", "16 * n", "256".
local function extent_of(text, n)
  local factor = text:match "^(%d+)%s*%*%s*n$"
  if factor then return n * tonumber(factor) end
  return math.tointeger(text) or n + tonumber(text:match "^n%s*%+%s*(%d+)$" or 0)
end

local function extents_of(parameter, n)
  local extents = {}
  for i = 2, #parameter do extents[#extents + 1] = extent_of(parameter[i], n) end
  return extents
end

--- Makes one argument.
local function argument(parameter, sizes, random)
  if type(parameter) == "string" then return sizes[parameter] end
  if parameter.value then return parameter.value end
  if parameter.integers then
    local place = 0
    return data.array(extents_of(parameter, sizes.n), function()
      place = place + 1
      return parameter.integers(place, sizes.n, random)
    end, 0, 1)
  end
  local array = data.array(extents_of(parameter, sizes.n), random, parameter.low, parameter.high)
  if parameter.dominant then
    for i = 1, sizes.n do array[i][i] = array[i][i] + sizes.n + 1 end
  end
  return array
end

local function add_positions(row)
  local position = {}
  for i, parameter in ipairs(row.parameters) do
    position[type(parameter) == "table" and parameter[1] or parameter] = i
  end
  row.written = {}
  for i, name in ipairs(row.results) do row.written[i] = position[name] end
end

--- A row, with two fields more: `arguments(n [, steps [, seed]])` returns the arguments for `run` as a list, arrays as
-- nested tables of random numbers; `written` lists the positions of `results` among them.
-- @tparam string name one of `polykernels.NAMES`
-- @treturn table
function polykernels.load(name)
  local row = dofile(polykernels.path(name))
  add_positions(row)
  function row.arguments(n, steps, seed)
    local sizes, random, list = { n = n, steps = steps or STEPS }, data.generator(seed or 1), {}
    for i, parameter in ipairs(row.parameters) do list[i] = argument(parameter, sizes, random) end
    return list
  end
  return row
end

--- All rows, in the paper's order.
-- @treturn table
function polykernels.all()
  local list = {}
  for i, name in ipairs(polykernels.NAMES) do list[i] = polykernels.load(name) end
  return list
end

return polykernels
