-- SPDX-License-Identifier: MIT
--- What is built before it is needed, as rows: small calls of all operations in the ways that scripts use most. What a
-- script says itself, as an expression of `cl.map` or a condition, is built when it asks, and so is what has other
-- dtypes.

local answers = require "clcompute.answers"
local tuning = require "clcompute.tuning"

local calls = {}

local MANY = 100000 -- elements that several workers share
local ROWS, COLUMNS = 300, 300

--- The library's table, complete: operations in Lua are found there.
local cl = setmetatable({}, { __index = function(_, name) return require "clcompute"[name] end })

-- --- linear algebra -----------------------------------------------------------------------

--- The fast kernel and its judgement, and the plain one in all four forms.
local function products(device, dtype)
  tuning.of(device, "gemm", dtype)
  local a, many = device:random(dtype, 64, 64), device:random(dtype, 3, 20, 20)
  for _, transa in ipairs { false, true } do
    for _, transb in ipairs { false, true } do
      for _, kernel in ipairs { "naive", "fast" } do
        cl.gemm(a, a, { kernel = kernel, transa = transa, transb = transb })
      end
    end
  end
  cl.gemm(many, many)
end

--- By tensor cores, on a device that has them: it takes a product that is worth it.
local function products_in_class(precision)
  return function(device)
    tuning.of(device, "gemm " .. precision, "float")
    local n = device.type == "gpu" and device.platform ~= "Oclgrind" and 1024 or 64
    local a = device:random("float", n, n)
    cl.gemm(a, a, { precision = precision })
  end
end

--- A system of equations with a solution, and its right-hand sides.
local function system(device, dtype, n, columns)
  local a = device:random(dtype, n, n, { seed = 1 })
  for i = 1, n do a:set(i, i, n) end
  return a, device:random(dtype, n, columns, { seed = 2 })
end

local function systems(n, columns)
  return function(device, dtype) cl.gauss(system(device, dtype, n, columns)) end
end

local function batch_of_systems(device, dtype)
  local a, b = system(device, dtype, 32, 1)
  cl.gauss(cl.concat(a, a):reshape(2, 32, 32), cl.concat(b, b):reshape(2, 32, 1))
end

local function factors(n)
  return function(device, dtype)
    local a, b = system(device, dtype, n, 1)
    local f <close> = cl.lu(a)
    f:solve(b)
    f:det()
    f:rcond()
  end
end

--- Also those of matrices that are large enough for wide blocks, where a tournament chooses their pivots.
local function factors_of_any_size(device, dtype)
  factors(200)(device, dtype)
  local row = tuning.of(device, "lu", dtype)
  if not row.rows or row.large == 0 then return end
  local a <close> = device:random(dtype, row.large + 1, row.large + 1)
  cl.lu(a):release()
end

-- --- elements -----------------------------------------------------------------------------

--- What takes a vector and a mask of as many elements.
local function vector(f)
  return function(device, dtype)
    f(device:random(dtype, MANY), device:zeros("uchar", MANY):fill(1))
  end
end

local function matrix(f)
  return function(device, dtype) f(device:random(dtype, ROWS, COLUMNS)) end
end

local function copy(expression) return expression:copy() end

local function scatter(x) cl.scatter(x, cl.argsort(x), x:copy()) end

local function along_axes(x)
  for axis = 1, 2 do
    cl.sum(x, { axis = axis })
    cl.scan("a + b", x, { axis = axis })
  end
end

local function images(device)
  if device.has_images then answers.misreads_halves(device) end
end

--- Those that the library asks for.
local function tests(device)
  local list = { answers.compiler_tests.collectives, answers.compiler_tests.large_arrays }
  for _, loop in ipairs(answers.compiler_tests.loops) do list[#list + 1] = loop.test end
  if device.type == "gpu" then
    list[#list + 1], list[#list + 2] = answers.compiler_tests.progress, answers.compiler_tests.telling
  end
  for _, test in ipairs(list) do answers.verdict(device, test) end
end

-- --- rows ---------------------------------------------------------------------------------

local FLOAT, FLOATING, ALL = { "float" }, { "float", "double" }, { "float", "double", "int" }
local ONCE = { "" }

--- Names of operations, the dtypes that they are called with, and the call; `seconds` of one dtype on two cores with
-- empty caches, half of one unless given. `is_light`: what a script needs seldom, of which POCL need tell no binary,
-- half of what a build costs. What takes longest comes first.
local LIST = {
  { "gemm matmul", FLOATING, products, seconds = 4 },
  { "gauss solve, blocked", FLOATING, systems(200, 40), seconds = 4 },
  { "gauss solve, small", FLOATING, systems(64, 1), seconds = 3 },
  { "tests of the compiler", ONCE, tests, seconds = 2 },
  { "sort argsort", ALL, vector(function(x) cl.argsort(cl.sort(x)) end), seconds = 2 },
  { "sum, scan along an axis", ALL, matrix(along_axes), seconds = 1.5, is_light = true },
  { "transpose", ALL, matrix(function(x) cl.transpose(x) end), seconds = 1.5 },
  { "gauss solve, one side", FLOATING, systems(200, 1) },
  { "gauss solve, a batch", FLOATING, batch_of_systems },
  { "lu", FLOATING, factors_of_any_size },
  { "lu, small", FLOATING, factors(32) },
  { "gemm, precision tf32", FLOAT, products_in_class "tf32" },
  { "gemm, precision float-tensor", FLOAT, products_in_class "float-tensor" },
  { "images", ONCE, images },
  { "unique", ALL, vector(function(x) cl.unique(x, { counts = true }) end), seconds = 1 },
  { "gather scatter", ALL, vector(function(x) scatter(cl.gather(x, cl.argsort(x))) end) },
  { "compact", ALL, vector(function(x, mask) cl.compact(x, mask) end) },
  { "histogram", ALL, vector(function(x) cl.histogram(x) end), seconds = 1 },
  { "scan", ALL, vector(function(x) cl.scan("a + b", x) end) },
  { "sum reduce", ALL, vector(function(x) cl.sum(x) end) },
  { "min", ALL, vector(function(x) cl.min(x) end) },
  { "max", ALL, vector(function(x) cl.max(x) end) },
  { "argmin", ALL, vector(function(x) cl.argmin(x) end) },
  { "argmax", ALL, vector(function(x) cl.argmax(x) end) },
  { "mean", ALL, vector(function(x) cl.mean(x) end) },
  { "var std", ALL, vector(function(x) cl.var(x) end) },
  { "norm2", FLOATING, vector(function(x) cl.norm2(x) end) },
  { "asum", ALL, vector(function(x) cl.asum(x) end) },
  { "dot", ALL, vector(function(x) cl.dot(x, x) end) },
  { "saxpy", FLOATING, vector(function(x) cl.saxpy(2, x, x:copy()) end) },
  { "x + y", ALL, vector(function(x) copy(x + x:copy()) end) },
  { "x - y", ALL, vector(function(x) copy(x - x:copy()) end) },
  { "x * y", ALL, vector(function(x) copy(x * x:copy()) end) },
  { "2 * x", ALL, vector(function(x) copy(2 * x) end) },
  { "map", ALL, vector(function(x) copy(2 * x + x) end) },
  { "where", ALL, vector(function(x, mask) cl.where(mask, x, 0) end) },
  { "concat", ALL, vector(function(x) cl.concat(x, x) end) },
  { "count any all", ONCE, function(device)
    local mask = device:zeros("uchar", MANY):fill(1)
    for _, name in ipairs { "count", "any", "all" } do cl[name](mask) end
  end },
}

--- The rows for a device, in the order in which they are best begun; light ones find the programs of the others.
-- @tparam Device device
-- @treturn table a list of `name`, `run`, `seconds` that it takes somewhere, `is_light`: no binaries are needed
function calls.of(device)
  local list, light = {}, {}
  for _, row in ipairs(LIST) do
    local names, dtypes, call = table.unpack(row)
    for _, dtype in ipairs(dtypes) do
      local is_light = row.is_light or dtype == "int"
      local to = is_light and light or list
      if dtype ~= "double" or device.has_double then
        to[#to + 1] = { name = names .. (dtype ~= "" and " of " .. dtype or ""), seconds = row.seconds or 0.5,
          is_light = is_light, run = function() call(device, dtype) end }
      end
    end
  end
  return table.move(light, 1, #light, #list + 1, list)
end

return calls
