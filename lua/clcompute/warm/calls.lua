-- SPDX-License-Identifier: MIT
--- What is built before it is needed, as rows: a name and a small call of each operation in the ways that scripts use
-- most. What else a script computes is built when it asks.

local answers = require "clcompute.answers"
local tuning = require "clcompute.tuning"

local rows = {}

local MANY = 100000 -- elements that several workers share

--- The library's table, complete: operations in Lua are found there.
local function cl() return require "clcompute" end

--- A system of equations with a solution, and its right-hand sides.
local function system(device, dtype, n, columns)
  local a = device:random(dtype, n, n, { seed = 1 })
  for i = 1, n do a:set(i, i, n) end
  return a, device:random(dtype, n, columns, { seed = 2 })
end

local function saxpy(device, dtype)
  local x <close> = device:random(dtype, MANY)
  local y <close> = device:random(dtype, MANY)
  cl().saxpy(2, x, y)
end

--- The fast kernel and its judgement, and the plain one in all four forms.
local function gemm(device, dtype)
  tuning.of(device, "gemm", dtype)
  local a <close> = device:random(dtype, 64, 64)
  for _, transa in ipairs { false, true } do
    for _, transb in ipairs { false, true } do
      for _, kernel in ipairs { "naive", "fast" } do
        cl().gemm(a, a, { kernel = kernel, transa = transa, transb = transb }):release()
      end
    end
  end
end

local function gauss(device, dtype)
  for _, shape in ipairs { { 32, 1 }, { 64, 1 }, { 200, 1 }, { 200, 40 } } do
    local a, b = system(device, dtype, shape[1], shape[2])
    cl().gauss(a, b):release()
    a:release()
    b:release()
  end
end

local function reductions(device, dtype)
  local x <close> = device:random(dtype, MANY)
  for _, name in ipairs { "sum", "min", "max", "argmax", "norm2", "mean" } do cl()[name](x) end
  cl().dot(x, x)
  cl().scan("a + b", x):release()
end

local function arrays(device, dtype)
  local x <close> = device:random(dtype, MANY)
  cl().sort(x):release()
  local m <close> = device:random(dtype, 300, 300)
  cl().transpose(m):release()
  local s <close> = (2 * m + m):copy() -- luacheck: no unused
end

local OPERATIONS = { { "saxpy", saxpy }, { "gemm", gemm }, { "gauss", gauss }, { "reductions and scan", reductions },
  { "sort, transpose, arithmetic", arrays } }

--- Those that the library asks for.
local function tests(device)
  local list = { answers.compiler_tests.collectives, answers.compiler_tests.large_arrays }
  for _, loop in ipairs(answers.compiler_tests.loops) do list[#list + 1] = loop.test end
  for _, test in ipairs(list) do answers.verdict(device, test) end
end

--- The rows for a device, in the order in which they are built: what takes longest comes first.
function rows.of(device)
  local list = {}
  for _, dtype in ipairs(tuning.dtypes(device)) do
    for _, operation in ipairs(OPERATIONS) do
      list[#list + 1] = { name = ("%s of %s"):format(operation[1], dtype),
        run = function(d) operation[2](d, dtype) end }
    end
  end
  list[#list + 1] = { name = "tests of the compiler", run = tests }
  return list
end

return rows
