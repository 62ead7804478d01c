-- SPDX-License-Identifier: MIT
--- What a nest is given to on a GPU of NVIDIA's; plain loops in Lua stand in for the routines of cuBLAS.

local baseline = require "clcompute.suite.baseline"
local data = require "clcompute.suite.data"
local helper = require "spec.helper"
local nest_check = require "clcompute.suite.nest_check"
local nest_in_cublas = require "clcompute.suite.nest_in_cublas"
local nest_on_nvidia = require "clcompute.suite.nest_on_nvidia"
local rows = require "clcompute.suite.polykernels"

-- --- a library in Lua -------------------------------------------------------------

--- The element in a row and a column, from 0, of a matrix as BLAS stores it: columns one after the other.
local function at(memory, i, j) return memory[i + j * memory.n + 1] end

--- A view of a matrix: a function of row and column.
local function view(memory, operation)
  return function(i, j)
    if operation == "T" then i, j = j, i end
    return at(memory, i, j)
  end
end

--- A triangle: `fill` says which is stored, of ones on the diagonal where `diagonal` is "U".
local function triangle(memory, fill, operation, diagonal)
  local function stored(i, j)
    if i == j then return diagonal == "U" and 1 or at(memory, i, j) end
    return (i > j) == (fill == "L") and at(memory, i, j) or 0
  end
  return operation == "T" and function(i, j) return stored(j, i) end or stored
end

local function symmetric(memory, fill)
  return function(i, j)
    if (i > j) ~= (fill == "L") then i, j = j, i end
    return at(memory, i, j)
  end
end

local function both() return true end

--- to <- alpha * the sum of terms(i, j, k) + beta * to, where `kept` says so.
local function combine(n, alpha, terms, beta, to, kept)
  local made = {}
  for j = 0, n - 1 do
    for i = 0, n - 1 do
      local s = 0.0
      for k = 0, n - 1 do s = s + terms(i, j, k) end
      made[i + j * n + 1] = kept(i, j) and alpha * s + beta * at(to, i, j) or at(to, i, j)
    end
  end
  table.move(made, 1, n * n, 1, to)
end

local function in_triangle(fill)
  return function(i, j) return i == j or (i > j) == (fill == "L") end
end

local queue = {}

function queue.gemm(_, n, left, right, alpha, a, b, beta, c)
  local x, y = view(a, left), view(b, right)
  combine(n, alpha, function(i, j, k) return x(i, k) * y(k, j) end, beta, c, both)
end

function queue.symm(_, n, side, fill, alpha, a, b, beta, c)
  local x, y = symmetric(a, fill), view(b)
  if side == "R" then x, y = y, x end
  combine(n, alpha, function(i, j, k) return x(i, k) * y(k, j) end, beta, c, both)
end

function queue.syrk(_, n, fill, operation, alpha, a, beta, c)
  local x = view(a, operation)
  combine(n, alpha, function(i, j, k) return x(i, k) * x(j, k) end, beta, c, in_triangle(fill))
end

function queue.syr2k(_, n, fill, operation, alpha, a, b, beta, c)
  local x, y = view(a, operation), view(b, operation)
  combine(n, alpha, function(i, j, k) return x(i, k) * y(j, k) + y(i, k) * x(j, k) end, beta, c, in_triangle(fill))
end

function queue.trmm(_, n, side, fill, operation, diagonal, alpha, a, b)
  local x, y = triangle(a, fill, operation, diagonal), view(b)
  if side == "R" then x, y = y, x end
  combine(n, alpha, function(i, j, k) return x(i, k) * y(k, j) end, 0, b, both)
end

--- By the lower triangle from the left alone, as it stands.
function queue.trsm(_, n, side, fill, operation, diagonal, alpha, a, b)
  assert(side .. fill .. operation .. diagonal == "LLNN" and alpha == 1)
  for j = 0, n - 1 do
    for i = 0, n - 1 do
      local s = at(b, i, j)
      for k = 0, i - 1 do s = s - at(a, i, k) * at(b, k, j) end
      b[i + j * n + 1] = s / at(a, i, i)
    end
  end
end

function queue.gemv(_, n, operation, alpha, a, x, beta, y)
  local m, made = view(a, operation), {}
  for i = 0, n - 1 do
    local s = 0.0
    for k = 0, n - 1 do s = s + m(i, k) * x[k + 1] end
    made[i + 1] = alpha * s + (beta == 0 and 0 or beta * y[i + 1])
  end
  table.move(made, 1, n, 1, y)
end

function queue.ger(_, n, alpha, x, y, a)
  for j = 0, n - 1 do
    for i = 0, n - 1 do a[i + j * n + 1] = at(a, i, j) + alpha * x[i + 1] * y[j + 1] end
  end
end

function queue.add(_, n, alpha, x, y)
  for i = 1, n do y[i] = alpha * x[i] + y[i] end
end

function queue.scale(_, n, alpha, x, first, step)
  for i = 0, n - 1 do x[first + i * step + 1] = alpha * x[first + i * step + 1] end
end

--- The functions of tools/cuda.cu that forms call, on lists.
local function library_of(n)
  local library = {}
  function library.memory(bytes)
    local list = { n = n }
    if type(bytes) == "number" then
      for i = 1, bytes // 8 do list[i] = 0 / 0 end
    else
      for i = 1, #bytes // 8 do list[i] = string.unpack("<d", bytes, 8 * i - 7) end
    end
    return list
  end
  function library.string(list) return data.pack(table.move(list, 1, #list, 1, {})) end
  function library.queue_copy(from, to) table.move(from, 1, #from, 1, to) end
  function library.seconds(f)
    f()
    return 1.0
  end
  for name, f in pairs(queue) do library["queue_" .. name] = f end
  return library
end

-- --- the specs --------------------------------------------------------------------

--- What a nest is as a task (`clcompute.suite.nest`).
local function task_of(row, n)
  local task = { row = row, shape = { row = row.name, n = n }, dtype = "double", bytes = {} }
  for i, value in ipairs(row.arguments(n, 3, helper.seed)) do
    task.bytes[i] = type(value) == "table" and data.pack(value) or value
  end
  return task
end

describe("a nest by routines of cuBLAS", function()
  for name in pairs(nest_in_cublas.calls) do
    it("is called with the operands that it wants: " .. name, function()
      local row = rows.load(name)
      for _, n in ipairs { 1, 2, 9 } do
        local task = task_of(row, n)
        local form = assert(nest_on_nvidia.cuBLAS(task, nil, library_of(n)))
        assert.equal(1.0, form.run())
        assert.is_true(form.check(form.result()) <= 1, ("n = %d"):format(n))
        form.run()
        form.reset()
        form.run()
        assert.is_true(form.check(form.result()) <= 1, ("n = %d, after a reset"):format(n))
      end
    end)
  end

  it("is checked: sums in another order are right, others are not", function()
    local task = task_of(rows.load "mvt", 9)
    local check = nest_check.of_sums(task.row, task.bytes, 9)
    local right = nest_check.once_in_c(task.row, task.bytes)
    assert.is_true(check(right) <= 1)
    right.x1 = right.x2
    assert.is_false(check(right) <= 1)
  end)

  it("is none where there is no such routine", function()
    local form, reason = nest_on_nvidia.cuBLAS(task_of(rows.load "jac", 5), nil, library_of(5))
    assert.is_nil(form)
    assert.matches("no routine", reason)
  end)
end)

describe("a nest in CUDA", function()
  it("is none where no loop is parallel", function()
    assert.same({ nil, "no loop is parallel in this order" },
      { nest_on_nvidia.CUDA(task_of(rows.load "sor", 5), nil, library_of(5)) })
  end)

  it("calls the row's function of the object that nvcc makes", function()
    local task, called = task_of(rows.load "mvt", 4), nil
    local library = library_of(4)
    function library.nest(...)
      called = { ... }
      return 0.5
    end
    local form, reason = nest_on_nvidia.CUDA(task, nil, library)
    if not form then return pending(reason) end
    assert.equal(0.5, form.run())
    assert.same({ "mvt", { 4 }, {} }, { called[2], called[3], called[4] })
    assert.equal(5, #called[5])
    assert.equal(baseline.pack(task.row, task.bytes).arrays[1], library.string(called[5][1]))
  end)
end)
