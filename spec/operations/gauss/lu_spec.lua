-- SPDX-License-Identifier: MIT
local helper = require "spec.helper"
local cl = require "clcompute"
local known = require "clcompute.tuning.known"
local sequential = require "clcompute.sequential"
local systems = require "spec.support.systems"

local growing, matrix, uniform = systems.growing, systems.matrix, systems.uniform

local RATIO = 30 -- LAPACK's threshold for the backward error
local dtypes = { "float", "double" }

--- Column j of a matrix, packed.
local function column(values, j, dtype)
  local list = {}
  for i, row in ipairs(values) do list[i] = string.pack(dtype == "float" and "f" or "d", row[j]) end
  return table.concat(list)
end

--- Asserts that the columns of x solve the system, as LAPACK's tests judge it.
local function assert_solved(a, b, x)
  local n = a.shape[1]
  assert.same(b.shape, x.shape)
  assert.equal(b.dtype, x.dtype)
  local many = #b.shape == 2
  local xs, bs = many and x:read(), many and b:read()
  for j = 1, many and b.shape[2] or 1 do
    local ratio = sequential.backward_error(a:string(), many and column(bs, j, a.dtype) or b:string(),
      many and column(xs, j, a.dtype) or x:string(), n, a.dtype)
    assert(ratio <= RATIO, ("n = %d, column %d: ratio %g"):format(n, j, ratio))
  end
end

--- The largest sum of magnitudes of a column.
local function norm1(m) return cl.max(cl.sum(cl.abs(m), { axis = 1 })) end

--- By parts: those of panels, vectors and blocks, and what is one more or less.
local SIZES = helper.long { 1, 2, 3, 15, 16, 17, 31, 33, 63, 64, 65, 127, 128, 129, 255, 257, 400, 513 }
  or { 1, 3, 16, 17, 33, 64, 65, 129, 257 }
local FEW = { float = { 9, 34 }, double = { 3 } } -- by a simulator
local SMALL = 128 -- up to these rows a CPU takes the kernels of a batch where none are asked for
local EXACT = 65 -- of larger ones two candidates for a pivot may differ by no more than what was rounded

helper.describe_each("gauss by blocks", function(d)
  local slow = helper.is_simulator(d)

  for _, dtype in ipairs(dtypes) do
    it("solves, and exchanges the rows that the columns one by one exchange, " .. dtype, function()
      for _, n in ipairs(slow and FEW[dtype] or SIZES) do
        local a, expected = systems.solvable(d, n, dtype)
        local b = d:buffer(matrix(n, 1, uniform), dtype)
        if not slow then assert_solved(a, b, (cl.gauss(a, b, { kernel = "unblocked" }))) end
        for _, options in ipairs { { kernel = "blocked" }, n <= (slow and 9 or SMALL) and {} or nil } do
          local x, info = cl.gauss(a, b, options)
          assert_solved(a, b, x)
          if n <= EXACT then assert.same(expected.pivots, info.pivots) end
          assert.near(1, info.rcond / expected.rcond, 0.1)
        end
      end
    end)

    it("takes the first of equal pivots, " .. dtype, function()
      local n = slow and 20 or 120
      -- multiples of 1/2 that stay exact: every column ties in many rows
      local a = d:buffer(growing(n), dtype)
      local f <close> = cl.lu(a)
      assert.equal(2.0 ^ (n - 1), f:det()) -- none was exchanged
    end)
  end

  it("solves permuted triangles, whose every pivot lies elsewhere", function()
    for _, n in ipairs(slow and { 33 } or { 9, 64, 130, 300 }) do
      local rows = matrix(n, n, function(i, j) return i == j and 2 + i / n or j > i and uniform() / n or 0 end)
      for i = n, 2, -1 do
        local k = math.random(i)
        rows[i], rows[k] = rows[k], rows[i]
      end
      local a, b = d:buffer(rows), d:buffer(matrix(n, 3, uniform))
      assert_solved(a, b, cl.gauss(a, b))
    end
  end)

  it("calls a matrix singular and names the column, wherever the panel that meets it", function()
    for _, n in ipairs(slow and { 34 } or { 17, 64, 200, 300 }) do
      for _, k in ipairs(slow and { n } or { 1, n // 2, n }) do
        local a = d:buffer(matrix(n, n, function(i, j) return j == k and 0 or i == j and 5 or uniform() / n end))
        helper.raises({ "lu", "singular", "column " .. k }, cl.lu, a)
        if not slow then helper.raises({ "gauss", "singular", "column " .. k }, cl.gauss, a, d:zeros("float", n)) end
      end
    end
  end)

  it("names the element that is not finite, in matrices of many sums", function()
    local n = slow and 20 or 300
    local rows = matrix(n, n, uniform)
    rows[n - 1][n - 2] = 0 / 0
    helper.raises(("gauss: a[%d][%d] is NaN"):format(n - 1, n - 2), cl.gauss, d:buffer(rows), d:zeros("float", n))
    rows[n - 1][n - 2] = -1 / 0
    helper.raises(("lu: a[%d][%d] is infinite"):format(n - 1, n - 2), cl.lu, d:buffer(rows))
  end)
end)

helper.describe_each("lu", function(d)
  local slow = helper.is_simulator(d)

  for _, dtype in ipairs(dtypes) do
    it("solves for one and for many right-hand sides, again and again, " .. dtype, function()
      for _, n in ipairs(slow and { dtype == "float" and 9 or 2 } or { 1, 17, 64, 65, 200, 300 }) do
        local a = d:buffer(matrix(n, n, uniform), dtype)
        local f <close> = cl.lu(a)
        for _, columns in ipairs(slow and { 9 } or { 1, 2, 8, 9, 31, 32, 33, 70 }) do
          local b = d:buffer(matrix(n, columns, uniform), dtype)
          local before = b:string()
          assert_solved(a, b, f:solve(b))
          assert.equal(before, b:string())
        end
        local b = d:buffer(matrix(1, n, uniform)[1], dtype)
        assert_solved(a, b, f:solve(b))
      end
    end)

    it("tells the determinant and the condition, " .. dtype, function()
      local f <close> = cl.lu(d:buffer({ { 0, 2, 0 }, { 4, 0, 0 }, { 0, 0, 0.5 } }, dtype))
      assert.equal(-4, f:det())
      assert.equal(0.125, f:rcond())
      assert.equal(0.125, f:rcond())
      local n = slow and 20 or 100
      local g <close> = cl.lu(d:buffer(matrix(n, n, function(i, j) return i == j and 2 or 0 end), dtype))
      assert.equal(2.0 ^ n, g:det())
      local function extreme(i, j) return i == j and (i <= n / 2 and 1e30 or 1e-30) or 0 end
      local h <close> = cl.lu(d:buffer(matrix(n, n, extreme), dtype))
      assert.near(1, h:det(), 1e-4)
    end)

    it("factors many small systems at once, each as if it were alone, " .. dtype, function()
      for _, n in ipairs(slow and { 5 } or { 1, 2, 17, 33 }) do
        local count = slow and 2 or 9
        local all = {}
        for s = 1, count do all[s] = matrix(n, n, uniform) end
        local a = d:buffer(all, dtype)
        local f <close> = cl.lu(a)
        for _, columns in ipairs(slow and { dtype == "float" and 5 or 0 } or { 0, 1, 5 }) do
          local b = columns == 0 and d:random(dtype, count, n) or d:random(dtype, count, n, columns)
          local x, info = cl.gauss(a, b)
          local y = f:solve(b)
          assert.same(b.shape, x.shape)
          assert.equal(x:string(), y:string())
          for s = 1, count do
            local function part(buffer, ...) return buffer:view(s, s):reshape(...) end
            local as = part(a, n, n)
            local shape = columns == 0 and { n } or { n, columns }
            assert_solved(as, part(b, table.unpack(shape)), part(x, table.unpack(shape)))
            local g <close> = cl.lu(as)
            local _, expected = cl.gauss(as, part(b, table.unpack(shape)), { kernel = "unblocked" })
            assert.same(expected.pivots, info.pivots[s])
            assert.near(1, info.rcond[s] / expected.rcond, 0.1)
            assert.near(1, f:det()[s] / g:det(), 1e-2)
            assert.equal(info.rcond[s], f:rcond()[s])
            assert.is_true(info.backward_error[s] <= RATIO)
          end
        end
      end
    end)
  end

  it("tells the condition of matrices whose inverse is near the largest number, or their norm", function()
    local sizes = { float = { 1e-37, 1e37 }, double = { 1e-306, 1e306 } }
    for _, dtype in ipairs(d.has_double and dtypes or { "float" }) do
      for _, size in ipairs(sizes[dtype]) do
        -- a simulator has more rows than a panel with floats: the bounds of numbers do not depend on them
        for _, n in ipairs(slow and { 2, dtype == "float" and 33 or 9 } or { 2, 33, 100 }) do
          local a, b = d:eye(n, n, dtype) * size, d:full(dtype, size, n)
          for _, kernel in ipairs { "blocked", "unblocked", false } do
            assert.near(1, select(2, cl.gauss(a, b, { kernel = kernel or nil })).rcond, 1e-5)
          end
          assert.near(1, cl.lu(a):rcond(), 1e-5)
          assert.near(1, cl.lu(a:copy():reshape(1, n, n)):rcond()[1], 1e-5)
        end
      end
    end
  end)

  it("tells the same condition of the same systems of a batch", function()
    local twins = {}
    for s = 1, 16, 2 do
      twins[s] = matrix(4, 4, uniform)
      twins[s + 1] = twins[s]
    end
    local f <close> = cl.lu(d:buffer(twins))
    local rconds = f:rcond()
    for s = 1, 16, 2 do assert.equal(rconds[s], rconds[s + 1]) end
  end)

  it("names system and column of a batch", function()
    local a = d:buffer { { { 1, 2 }, { 3, 4 } }, { { 1, 2 }, { 2, 4 } } }
    local b = d:zeros("float", 2, 2)
    helper.raises({ "lu: system 2: ", "singular", "column 2" }, cl.lu, a)
    helper.raises({ "gauss: system 2: ", "singular", "column 2" }, cl.gauss, a, b)
    local near = d:buffer { { { 1, 2 }, { 3, 4 } }, { { 1, 2 }, { 2 + 2.0 ^ -22, 4 } } }
    local _, info = cl.gauss(near, b)
    assert.matches("^gauss: system 2: matrix is singular to working precision: rcond = %d.*e%-", info.warning)
    helper.raises("gauss: system 2: matrix is refused by option 'rcond': rcond = ", cl.gauss, near, b, { rcond = 1e-6 })
    local nan = d:buffer { { { 1, 2 }, { 3, 4 } }, { { 1, 2 }, { 0 / 0, 4 } } }
    helper.raises("lu: a[2][2][1] is NaN", cl.lu, nan)
    helper.raises("gauss: a[2][2][1] is NaN", cl.gauss, nan, b)
    local good = d:buffer { { { 1, 2 }, { 3, 4 } } }
    helper.raises("gauss: b[1][2] is NaN", cl.gauss, good, d:buffer { { 1, 0 / 0 } })
  end)

  it("looks at no more systems of a batch at once than every GPU takes", function()
    if slow then return pending "a simulator takes minutes" end
    local count = 65537
    cl.profile(true)
    finally(function() cl.profile(false) end)
    local x, info = cl.gauss(d:empty("float", count, 1, 1):fill(2), d:empty("float", count, 1):fill(6))
    local calls
    for _, row in ipairs(cl.profile()) do calls = row.kind .. row.name == "kernelresidual" and row.calls or calls end
    if calls then assert.equal(2, calls) end -- groups with an item a row are counted along the first dimension
    assert.equal(3, cl.min(x))
    assert.equal(3, cl.max(x))
    for i = 1, count do assert.equal(0, info.backward_error[i]) end
  end)

  it("refines the systems of a batch", function()
    local n = 33 -- of which none solves well enough by luck
    local a = d:buffer { growing(n), matrix(n, n, uniform) }
    local b = d:buffer(matrix(2, n, uniform))
    local x, info = cl.gauss(a, b)
    assert.is_true(info.steps >= 1)
    for s = 1, 2 do assert_solved(a:view(s, s):reshape(n, n), b:view(s, s):reshape(n), x:view(s, s):reshape(n)) end
    helper.raises({ "system 1: ", "refine=false" }, cl.gauss, a, b, { refine = false })
  end)

  it("takes what is empty", function()
    local f <close> = cl.lu(d:zeros("float", 0, 0))
    assert.same({ 0 }, f:solve(d:zeros("float", 0)).shape)
    assert.equal(1, f:det())
    assert.equal(1, f:rcond())
    local g <close> = cl.lu(d:buffer { { 2 } })
    assert.same({ 1, 0 }, g:solve(d:zeros("float", 1, 0)).shape)
    local h <close> = cl.lu(d:zeros("float", 0, 3, 3))
    assert.same({}, h:det())
    assert.same({ 0, 3 }, h:solve(d:zeros("float", 0, 3)).shape)
    local x, info = cl.gauss(d:zeros("float", 2, 0, 0), d:zeros("float", 2, 0))
    assert.same({ 2, 0 }, x.shape)
    assert.same({ 0, 0 }, info.backward_error)
  end)

  it("has fields, a text, and errors for what it has not", function()
    local a = d:buffer { { 4, 1 }, { 1, 3 } }
    local f <close> = cl.lu(a)
    assert.equal(2, f.n)
    assert.equal("float", f.dtype)
    assert.equal(d, f.device)
    assert.matches("^LU factors of a float matrix 2x2 on ", tostring(f))
    local g <close> = cl.lu(d:zeros("double", 1, 2, 2):fill(0):write { { { 1, 0 }, { 0, 1 } } })
    assert.equal(1, g.count)
    assert.matches("^LU factors of 1 double matrices 2x2 on ", tostring(g))
    helper.raises("no field 'inverse'", function() return f.inverse end)
    helper.raises("no field 'count'", function() return f.count end)
    helper.raises("cannot set field", function() f.n = 3 end)
    for _, case in ipairs {
      { { "#1", "buffer" }, cl.lu, 1 }, { { "#1", "square", "2" }, cl.lu, d:zeros("float", 2) },
      { { "#1", "square", "2x3" }, cl.lu, d:zeros("float", 2, 3) },
      { { "#1", "float or double", "int" }, cl.lu, d:zeros("int", 2, 2) },
      { { "LU factors expected", "colon" }, f.solve, a }, { { "buffer" }, f.solve, f, { 1, 2 } },
      { { "2 rows", "3" }, f.solve, f, d:zeros("float", 3) },
      { { "2 rows", "2x1x1" }, f.solve, f, d:zeros("float", 2, 1, 1) },
      { { "1 systems of 2 rows", "2" }, g.solve, g, d:zeros("double", 2) },
      { { "float buffer expected", "double" }, f.solve, f, d:zeros("double", 2) },
    } do helper.raises(case[1], case[2], case[3], case[4]) end
  end)

  it("is released by hand, at the end of a scope, or with its device", function()
    local a = d:buffer { { 4, 1 }, { 1, 3 } }
    local f = cl.lu(a)
    assert.equal(f, f:release())
    f:release()
    assert.equal("LU factors (released)", tostring(f))
    helper.raises("released", f.solve, f, a)
    helper.raises("released", f.det, f)
    helper.raises("released", f.rcond, f)
    local q = d:queue()
    local g = cl.lu(q:buffer { { 2, 0 }, { 0, 2 } })
    assert.equal(4, g:det())
    q:close()
    helper.raises("released", g.det, g)
    g:release()
  end)

  it("keeps no more memory than the factors last released, however many there were", function()
    local n = slow and 4 or 40
    local a, b = d:random("float", n, n, { low = -1, high = 1 }), d:random("float", n)
    local function round()
      local f <close> = cl.lu(a)
      local x <close> = f:solve(b)
      return x:string()
    end
    local first = round()
    collectgarbage()
    local before = cl.live().bytes
    for _ = 1, 5 do assert.equal(first, round()) end
    collectgarbage()
    assert.equal(before, cl.live().bytes)
  end)

  it("solves on another queue of the device, whose reading the next factors do not disturb", function()
    local n = slow and 6 or 300
    local a, c = d:random("float", n, n, { low = -1, high = 1 }), d:random("float", n, n, { low = -1, high = 1 })
    local q <close> = d:queue()
    local b = q:random("float", n, slow and 3 or 40)
    d:wait()
    local f = cl.lu(a)
    local x = f:solve(b)
    f:release()
    cl.lu(c):release()
    q:wait()
    assert_solved(a, b, x)
  end)

  it("keeps factors apart that live at the same time", function()
    local a, c = d:buffer { { 2, 0 }, { 0, 2 } }, d:buffer { { 4, 0 }, { 0, 4 } }
    local b = d:buffer { 8, 8 }
    cl.lu(a):release()
    local f, g = cl.lu(a), cl.lu(c)
    assert.same({ 4, 4 }, f:solve(b):read())
    f:release()
    local h = cl.lu(a)
    assert.same({ 2, 2 }, g:solve(b):read())
    assert.same({ 4, 4 }, h:solve(b):read())
    g:release()
    h:release()
  end)
end)

--- Calls f with a queue of the device that takes a row of numbers for LU, as other devices would.
local function with_numbers(device, row, f)
  local rows = known.lu
  known.lu = { row }
  local q = device:queue()
  local ok, message = pcall(function()
    cl.lu(q:buffer { { 1 } }):release() -- asks for them
    if q.has_double then cl.lu(q:buffer({ { 1 } }, "double")):release() end
  end)
  known.lu = rows
  if ok then ok, message = pcall(f, q) end
  q:close()
  assert(ok, message)
end

helper.describe_each("lu with the numbers", function(d)
  local slow = helper.is_simulator(d)
  for name, row in pairs {
    ["of a GPU"] = { vector = 1, group = 64, columns = 8, block = 32, large = 40, few = 2 },
    ["of a GPU, in panels of one level"] = { vector = 1, group = 64, columns = 32, block = 64, large = 1000, few = 2 },
    ["of a GPU, in panels that rows compete for"] = { vector = 1, group = 64, columns = 8, block = 32, large = 0,
      few = 2, rows = 32, warp = 1 },
    ["of short vectors"] = { vector = 4, group = 1, columns = 16, block = 64, large = 70, few = 2 },
    ["of middling vectors"] = { vector = 8, group = 1, columns = 32, block = 64, large = 70, few = 2 },
  } do
    row.where = {}
    it(name .. " is right too", function()
      local is_alike = name == "of middling vectors" or slow and row.rows -- "lu by tournaments" has those below
      local is_fast = name == "of a GPU" or row.vector == 1 and d.type == "gpu" or row.vector > 1 and not slow
      is_fast = is_fast and not is_alike
      if not is_fast and not helper.long(true) then return pending "it takes long here" end
      with_numbers(d, row, function(q)
        for _, dtype in ipairs(q.has_double and helper.long(dtypes) or { "float" }) do
          for _, n in ipairs(slow and { row.large < 42 and 42 or 34 } or { 1, 33, 65, 150 }) do
            local a, expected = systems.solvable(q, n, dtype)
            for _, columns in ipairs(slow and { 9 } or { 2, 35 }) do
              local b = q:buffer(matrix(n, columns, uniform), dtype)
              local x, info = cl.gauss(a, b)
              assert_solved(a, b, x)
              if n <= (row.rows or EXACT) then assert.same(expected.pivots, info.pivots) end
              assert.near(1, info.rcond / expected.rcond, 0.1)
            end
          end
          local few = slow and 8 or 40
          local pivots = q:random(dtype, few, { low = 2.0 ^ 126, high = 2.0 ^ 127.9 })
          local function diagonal(i, j) return i == j and pivots[i] or 0 end
          local f <close> = cl.lu(q:buffer(matrix(few, few, diagonal), dtype))
          for i, v in ipairs(f:solve(pivots):read()) do assert.near(1, v, 2.0 ^ -22.9, "the pivot " .. pivots[i]) end
          local a, b = q:random(dtype, 3, 12, 12, { low = -1, high = 1 }), q:random(dtype, 3, 12, 2)
          local x = cl.gauss(a, b)
          for s = 1, 3 do
            assert_solved(a:view(s, s):reshape(12, 12), b:view(s, s):reshape(12, 2), x:view(s, s):reshape(12, 2))
          end
        end
      end)
    end)
  end
end)

helper.describe_each("lu of many small systems, by groups with an item a row", function(d)
  local slow = helper.is_simulator(d)
  local ROW = { where = {}, vector = 1, group = 64, columns = 8, block = 32, large = 40, few = 3, items = 512 }
  local dtypes_here = d.type == "gpu" and not slow and dtypes or { "float" }

  for _, dtype in ipairs(dtypes_here) do
    it("makes the same factors of each as column by column, " .. dtype, function()
      with_numbers(d, ROW, function(q)
        -- one panel, and the last of several, with columns that are none; a POCL builds long for each size of group
        for _, n in ipairs(slow and { 33 } or d.type == "gpu" and { 1, 16, 17, 64, 65, 200 } or { 9, 50 }) do
          local a = q:random(dtype, 3, n, n, { low = -1, high = 1 })
          local f <close> = cl.lu(a)
          local rconds, dets = f:rcond(), f:det()
          for _, columns in ipairs(slow and { 1 } or { 1, 3, 4 }) do
            local b = q:random(dtype, 3, n, columns)
            local x, info = cl.gauss(a, b)
            assert.equal(x:string(), f:solve(b):string())
            assert.equal(x:string(), cl.gauss(a, b):string())
            for s = 1, 3 do
              local as = a:view(s, s):reshape(n, n)
              local bs = b:view(s, s):reshape(n, columns)
              assert_solved(as, bs, x:view(s, s):reshape(n, columns))
              local there = slow and helper.device() or q -- what is compared with need not be simulated
              local copy = slow and as:copy(there) or as
              local _, expected = cl.gauss(copy, slow and bs:copy(there) or bs, { kernel = "unblocked" })
              if n <= EXACT then assert.same(expected.pivots, info.pivots[s]) end
              if n <= EXACT then assert.near(1, info.rcond[s] / expected.rcond, 0.1) end
              -- the norm of the inverse is estimated from below, seldom by less than a third (Higham)
              local exact = 1 / norm1(copy) / norm1(cl.gauss(copy, there:eye(n, n, dtype)))
              local ratio = info.rcond[s] / exact
              assert(ratio > 0.99 and ratio < 3, ("n = %d: %g times the exact one"):format(n, ratio))
              assert.equal(rconds[s], info.rcond[s])
              local g <close> = cl.lu(as)
              assert.near(1, dets[s] / g:det(), 1e-2)
            end
          end
        end
      end)
    end)
  end

  it("takes no more local memory than the device has", function()
    if not slow then return pending "there is enough for rows as long as a group" end
    with_numbers(d, ROW, function(q)
      local n = 65 -- a group of 128: 32 columns of a triangle, with as many rows of doubles, are 36 KiB
      local f <close> = cl.lu(q:eye(n, n, "double"):reshape(1, n, n))
      local b = q:random("double", 1, n)
      assert.same(b:read(), f:solve(b):read())
    end)
  end)

  it("solves with its factors when other numbers have no such groups", function()
    local tuning = require "clcompute.tuning"
    local numbers = { vector = 1, group = 64, columns = 8, block = 32, large = 40, few = 3, items = 512 }
    finally(function() tuning.use(d, "lu", "float", nil) end)
    tuning.use(d, "lu", "float", numbers)
    local a, b = d:random("float", 2, 9, 9, { low = -1, high = 1 }), d:random("float", 2, 9)
    local f <close> = cl.lu(a)
    numbers.items = nil
    tuning.use(d, "lu", "float", numbers)
    local x, g <close> = f:solve(b), cl.lu(a)
    for s = 1, 2 do
      assert_solved(a:view(s, s):reshape(9, 9), b:view(s, s):reshape(9), x:view(s, s):reshape(9))
      assert.near(1, f:rcond()[s] / g:rcond()[s], 0.1)
    end
  end)

  it("takes the first of equal pivots, where rows have been exchanged, too", function()
    with_numbers(d, ROW, function(q)
      local n = slow and 9 or 20
      local exchanged = growing(n) -- every column ties in many rows
      exchanged[1], exchanged[n], exchanged[5] = exchanged[5], exchanged[1], exchanged[n]
      local a = q:buffer { matrix(n, n, function(i, j) return i == n + 1 - j and 8 or 0 end), growing(n), exchanged }
      local b = q:random("float", 3, n)
      local _, info = cl.gauss(a, b)
      for s = 1, 3 do
        local _, expected = cl.gauss(a:view(s, s):reshape(n, n), b:view(s, s):reshape(n), { kernel = "unblocked" })
        assert.same(expected.pivots, info.pivots[s])
      end
    end)
  end)

  it("names system and column, wherever the panel that meets it, and an overflow", function()
    with_numbers(d, ROW, function(q)
      local n = slow and 9 or 40
      for _, k in ipairs(slow and { 9 } or { 1, 20, 40 }) do
        local good = matrix(n, n, function(i, j) return i == j and 5 or uniform() / n end)
        local bad = matrix(n, n, function(i, j) return j == k and 0 or i == j and 5 or uniform() / n end)
        local a = q:buffer { good, bad, bad }
        helper.raises({ "lu: system 2: ", "singular", ("column %d has no pivot"):format(k) }, cl.lu, a)
        helper.raises({ "gauss: system 2: ", "singular" }, cl.gauss, a, q:zeros("float", 3, n))
      end
      local large = matrix(2, 2, function(i, j) return i == 2 and j == 1 and -3e38 or 3e38 * (j - 1) end)
      large[1][1] = 3e38
      helper.raises("lu: system 1: the ", cl.lu, q:buffer { large })
    end)
  end)

  it("makes the lists of a large batch's pivots when they are asked for", function()
    with_numbers(d, ROW, function(q)
      local count = 11
      local a = q:buffer(matrix(count, 4, function(i, j) return j == 2 and i or j == 3 and 1 or 0 end))
      local _, info = cl.gauss(a:reshape(count, 2, 2), q:zeros("float", count, 2))
      assert.equal(count, #info.pivots)
      assert.same({ 2, 2 }, info.pivots[count])
      assert.equal(info.pivots[count], info.pivots[count])
      assert.is_nil(info.pivots[count + 1])
      assert.is_nil(info.pivots.first)
      local seen = 0
      for _, list in pairs(info.pivots) do seen = seen + #list end
      assert.equal(2 * count, seen)
    end)
  end)
end)

helper.describe_each("lu by tournaments", function(d)
  local slow = helper.is_simulator(d)
  local ROW = { where = {}, vector = 1, group = 64, columns = 8, block = 32, large = 0, few = 8, rows = 32, warp = 1 }

  --- b of the system whose solution is ones.
  local function sums(rows)
    local b = {}
    for i, row in ipairs(rows) do
      b[i] = 0
      for _, v in ipairs(row) do b[i] = b[i] + v end
    end
    return b
  end

  it("solves hard systems of every size about its parts, the same way each time", function()
    with_numbers(d, ROW, function(q)
      for _, n in ipairs(slow and { 34 } or { 1, 31, 32, 33, 129, helper.long(257) }) do
        local half = n // 2
        for name, element in pairs(slow and not helper.long(true) and { random = uniform } or {
          random = uniform,
          graded = function(i) return uniform() * 10.0 ^ (-i % 13) end,
          growing = function(i, j) return (i == j or j == n) and 1 or i > j and -1 / 64 or 0 end,
          ["with equal rows above the diagonal"] = function(i, j) return i == j and 3 or j > half and 1 or 0 end,
          ["with its rows reversed"] = function(i, j)
            return i + j == n + 1 and 2 or i + j > n + 1 and uniform() / n or 0
          end,
        }) do
          local rows = matrix(n, n, element)
          local a, b = q:buffer(rows), q:buffer(sums(rows))
          local f <close> = cl.lu(a)
          local g <close> = cl.lu(a)
          local x = f:solve(b)
          local ratio = sequential.backward_error(a:string(), b:string(), x:string(), n, "float")
          assert(ratio <= RATIO, ("%s, n = %d: ratio %g"):format(name, n, ratio))
          assert.equal(x:string(), f:solve(b):string())
          assert.equal(x:string(), g:solve(b):string())
          assert.equal(f:det(), g:det())
        end
      end
    end)
  end)

  it("factors the panels of a group", function()
    if slow then return pending "a simulator takes long" end
    with_numbers(d, ROW, function(q)
      local n = 100
      local rows = matrix(n, n, uniform)
      local a, b = q:buffer(rows), q:buffer(sums(rows))
      local g = cl.group({ q, q }, { block = 32 })
      local spread <close> = g:buffer(rows)
      local f <close> = cl.lu(spread)
      local x = q:buffer(f:solve(g:buffer(sums(rows))):read())
      assert_solved(a, b, x)
      g:close()
    end)
  end)

  it("names the column without a pivot, wherever it is", function()
    with_numbers(d, ROW, function(q)
      for _, n in ipairs(slow and { 34 } or { 17, 33, 200 }) do
        for _, k in ipairs(slow and { 9 } or { 1, 8, 9, n // 2, n }) do
          local a = q:buffer(matrix(n, n, function(i, j) return j == k and 0 or i == j and 5 or uniform() / n end))
          helper.raises({ "lu", "singular", ("column %d has no pivot"):format(k) }, cl.lu, a)
        end
        if not slow then
          local equal = q:buffer(matrix(n, n, function(i, j) return math.max(i, 2) == j and 1 or 0 end))
          helper.raises({ "lu", "singular", "column 1 has no pivot" }, cl.lu, equal)
        end
      end
    end)
  end)
end)

describe("factors of a device without vectors", function()
  it("have the condition of those with, where many rows are added up", function()
    local d = helper.device()
    local a = d:random("float", 300, 300, { seed = helper.seed })
    local with <close> = cl.lu(a)
    with_numbers(d, { where = {}, vector = 1, group = 64, columns = 8, block = 32, large = 40, few = 2 }, function(q)
      local f <close> = cl.lu(a:copy(q))
      assert.near(1, f:rcond() / with:rcond(), 0.1)
    end)
  end)

  it("keep their condition when a finalizer asks for another meanwhile", function()
    helper.output([[
      local cl = require "clcompute"
      local d = cl.device()
      require "clcompute.tuning".use(d, "lu", "float",
        { vector = 1, group = 64, columns = 32, block = 256, large = 512, few = 8 })
      local a, b = d:random("float", 70, 70, { seed = 1 }), d:random("float", 70, 70, { seed = 2 })
      local expected = cl.lu(a):rcond()
      local function after(collections, finalizer)
        setmetatable({}, { __gc = function()
          if collections == 0 then finalizer() else after(collections - 1, finalizer) end
        end })
      end
      for i = 1, 50 do
        collectgarbage "stop"
        local mine, other = cl.lu(a), cl.lu(b)
        after(i % 25, function() other:rcond() end)
        collectgarbage "restart"
        collectgarbage("incremental", 0, 1000, 5)
        local rcond = mine:rcond()
        collectgarbage "stop"
        assert(rcond == expected)
      end]], { CLCOMPUTE_DEVICE = helper.device().place })
  end)
end)

describe("factors on a processor", function()
  helper.on_cpu("solve for a few right-hand sides at once, and for many by blocks", function()
    local d, n = helper.device(), 129
    local f <close> = cl.lu(d:random("float", n, n))
    local function kernels_for(columns)
      local b, names = d:random("float", n, columns), {}
      cl.profile(true)
      f:solve(b)
      for _, row in ipairs(cl.profile()) do if row.kind == "kernel" then names[row.name] = row.calls end end
      cl.profile(false)
      return names
    end
    assert.same({ lu_vector = 1 }, kernels_for(2))
    assert.is_nil(kernels_for(100).lu_vector)
  end)
end)
