-- SPDX-License-Identifier: MIT
local helper = require "spec.helper"
local reference = require "spec.reference"
local cl = require "clcompute"
local sequential = require "clcompute.sequential"
local systems = require "spec.support.systems"

local conditioned, growing, hilbert = systems.conditioned, systems.growing, systems.hilbert
local matrix, uniform, vector = systems.matrix, systems.uniform, systems.vector

local RATIO = 30 -- LAPACK's threshold for the backward error
local dtypes = { "float", "double" }
local nan, inf = 0 / 0, 1 / 0

--- Each row's diagonal outweighs the rest of it: no pivoting needed.
local function dominant(n, scale)
  return matrix(n, n, function(i, j) return (i == j and n + 1 or uniform()) * (scale or 1) end)
end

--- The columns of a result, whatever its shape.
local function columns_of(x)
  local values = x:read()
  return #x.shape == 1 and { values } or reference.transpose(values)
end

--- The largest ratio of the columns, recomputed from the operands as stored.
local function worst_ratio(a, b, x)
  local worst, stored, bs = 0, a:read(), columns_of(b)
  for j, column in ipairs(columns_of(x)) do
    local ratio = reference.ratio(stored, column, bs[j], helper.eps[a.dtype])
    assert(ratio <= RATIO, ("column %d has ratio %g"):format(j, ratio)) -- nor NaN
    worst = math.max(worst, ratio)
  end
  return worst
end

--- Asserts that the solution is one and that info says so.
local function assert_solved(a, b, x, info)
  assert.same(b.shape, x.shape)
  assert.equal(b.dtype, x.dtype)
  local ratio = worst_ratio(a, b, x)
  -- the reference's residual of doubles is itself rounded n times
  local noise = a.dtype == "float" and 1e-3 * ratio + 1e-6 or #a
  assert.near(ratio, info.backward_error, noise)
end

--- Asserts a right answer or an error that holds one of the texts; returns the solution if there is one.
local function solve_or_say(texts, a, b, options)
  local ok, x, info = pcall(cl.gauss, a, b, options)
  if ok then
    assert_solved(a, b, x, info)
    return x, info
  end
  for _, text in ipairs(texts) do if tostring(x):find(text, 1, true) then return nil, nil, x end end
  error("the message explains nothing: " .. tostring(x))
end

helper.describe_each("gauss", function(d)
  local slow = helper.is_simulator(d)

  for _, dtype in ipairs(dtypes) do
    it("solves random systems with one and several right-hand sides, " .. dtype, function()
      for _, n in ipairs(slow and { 1, 2, 3, 16, 17 } or { 1, 2, 3, 16, 17, 63, 64, 65, 100 }) do
        local a = systems.solvable(d, n, dtype)
        for _, b in ipairs {
          d:buffer(vector(n, uniform), dtype), d:buffer(matrix(n, 1, uniform), dtype),
          d:buffer(matrix(n, slow and 2 or 17, uniform), dtype),
        } do
          local a_before, b_before = a:string(), b:string()
          local x, info = cl.gauss(a, b)
          assert_solved(a, b, x, info)
          assert.equal(a_before, a:string())
          assert.equal(b_before, b:string())
        end
      end
    end)

    it("exchanges rows as the largest element of each column asks, " .. dtype, function()
      for _, n in ipairs(slow and { 2, 9 } or { 2, 9, 40 }) do
        local a = systems.solvable(d, n, dtype)
        local _, info = cl.gauss(a, d:buffer(vector(n, uniform), dtype))
        local w = a:read()
        assert.equal(n, #info.pivots)
        for k, p in ipairs(info.pivots) do
          assert.is_true(k <= p and p <= n)
          w[k], w[p] = w[p], w[k]
          for i = k + 1, n do
            local l = w[i][k] / w[k][k]
            assert.is_true(math.abs(l) <= 1 + n * n * helper.eps[dtype])
            for j = k, n do w[i][j] = w[i][j] - l * w[k][j] end
          end
        end
      end
    end)

    it("finds the reciprocal condition number within a factor of 10, " .. dtype, function()
      for name, rows in pairs {
        diagonal = { { 4, 0, 0 }, { 0, -0.5, 0 }, { 0, 0, 1 } }, one = { { -7 } }, hilbert = hilbert(4),
        random = matrix(6, 6, uniform), growing = growing(5), scaled = dominant(5, 1e-30),
        -- the walk of the estimate starts where it sees nothing of the inverse
        hidden = { { 1, 0, 0 }, { 0, 0.5, 0.5 - 2.0 ^ -15 }, { 0, 0.5 - 2.0 ^ -15, 0.5 } },
        -- one column of the inverse in 30 counts, and exchanges lead there
        cycle = matrix(30, 30, function(i, j) return j ~= i % 30 + 1 and 0 or i == 7 and 2.0 ^ -10 or 1 end),
      } do
        local a = d:buffer(rows, dtype)
        local _, info = cl.gauss(a, d:buffer(vector(#rows, uniform), dtype))
        local exact = reference.rcond(a:read())
        local near = info.rcond <= 10 * exact and info.rcond >= exact / 10
        assert(near, ("%s: %g, not %g"):format(name, info.rcond, exact))
      end
    end)

    it("solves systems of any scale, " .. dtype, function()
      for _, scale in ipairs { 1e-30, 1e30 } do
        local a = d:buffer(dominant(slow and 5 or 50, scale), dtype)
        local b = d:buffer(matrix(#a, 2, function() return uniform() * scale end), dtype)
        local x, info = cl.gauss(a, b)
        assert_solved(a, b, x, info)
        b = d:buffer(vector(#a, uniform), dtype)
        x, info = cl.gauss(a, b)
        assert_solved(a, b, x, info)
      end
    end)

    it("warns of what the dtype cannot resolve, and refuses it below a limit that is given, " .. dtype, function()
      local resolved = {
        { conditioned(20, 1e3), float = true, double = true }, { conditioned(20, 1e6), double = true },
        { conditioned(20, 1e9), float = false, double = true }, { hilbert(4), float = true, double = true },
        { hilbert(8), float = false, double = true }, { hilbert(12), float = false, double = false },
      }
      for i, system in ipairs(resolved) do
        local a = d:buffer(system[1], dtype)
        local b = d:buffer(vector(#a, uniform), dtype)
        local x, info = solve_or_say({ "matrix is singular: column" }, a, b)
        if system[dtype] ~= nil then assert.equal(system[dtype], x ~= nil and not info.warning, "system " .. i) end
        if x then
          assert.equal(info.rcond < helper.eps[dtype], info.warning ~= nil)
          assert.matches("gauss: matrix is singular to working precision: rcond = %d", info.warning
            or "gauss: matrix is singular to working precision: rcond = 0")
          helper.raises("gauss: matrix is refused by option 'rcond': rcond = ", cl.gauss, a, b,
            { rcond = 2 * info.rcond })
          assert.equal(x:string(), cl.gauss(a, b, { rcond = info.rcond }):string())
        end
      end
    end)

    it("mends or reports the growth of elements, " .. dtype, function()
      for _, n in ipairs(slow and { 20 } or { 20, 60, 100, 140 }) do
        local a, b = d:buffer(growing(n), dtype), d:buffer(vector(n, uniform), dtype)
        local x = solve_or_say({ "backward error ratio", "the elimination overflows" }, a, b)
        if n == 20 then assert.is_truthy(x) end
      end
    end)

    it("calls a matrix singular and names the column, or warns where rounding hides it, " .. dtype, function()
      local function assert_refused_or_warned(rows, b)
        local _, info, message = solve_or_say({ "matrix is singular: column" }, d:buffer(rows, dtype), b)
        assert.matches("singular to working precision", message and "singular to working precision" or info.warning)
      end
      for _, n in ipairs(slow and { 2, 10 } or { 2, 10, 60 }) do
        local b = d:buffer(vector(n, uniform), dtype)
        local a = matrix(n, n, uniform)
        for i = 1, n do a[i][n - 1] = 0 end
        helper.raises({ "singular", "column " .. n - 1 }, cl.gauss, d:buffer(a, dtype), b)
        a = matrix(n, n, uniform)
        a[n] = a[1]
        assert_refused_or_warned(a, b)
        local u, v = vector(n, uniform), vector(n, uniform)
        assert_refused_or_warned(matrix(n, n, function(i, j) return u[i] * v[j] end), b)
        a = matrix(n, n, function() return 0 end)
        helper.raises({ "singular", "column 1" }, cl.gauss, d:buffer(a, dtype), b)
      end
    end)
  end

  it("gives an info that prints its fields", function()
    local _, info = cl.gauss(d:buffer { { 4, 1 }, { 1, 3 } }, d:buffer { 1, 2 })
    local names = {}
    for name in pairs(info) do names[#names + 1] = name end
    table.sort(names)
    assert.same({ "backward_error", "pivots", "rcond", "steps" }, names)
    assert.equal(("backward_error = %.6g, rcond = %.6g, steps = 0, pivots = {1, 2}")
      :format(info.backward_error, info.rcond), tostring(info))
    info.pivots = { 9, 8, 7, 6, 5, 4, 3 }
    assert.matches("pivots = {9, 8, 7, 6, 5, 4, ...}", tostring(info), 1, true)
    _, info = cl.gauss(d:buffer { { 4, 1 }, { 1, 3 } }, d:buffer { 1, 2 }, { kernel = "paper" })
    assert.equal(("backward_error = %.6g, steps = 0"):format(info.backward_error), tostring(info))
  end)

  it("exchanges rows where the diagonal is zero", function()
    for _, case in ipairs { -- matrix, right-hand side, solution, pivots
      { { { 0, 1 }, { 1, 0 } }, { 3, 4 }, { 4, 3 }, { 2, 2 } },
      { { { 0, 0, 2 }, { 4, 0, 0 }, { 0, 8, 0 } }, { 2, 4, 8 }, { 1, 1, 1 }, { 2, 3, 3 } },
      { { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } }, { 1, 2, 3 }, { 1, 2, 3 }, { 1, 2, 3 } },
      { { { 1, 1 }, { -1, 1 } }, { 3, 1 }, { 1, 2 }, { 1, 2 } }, -- of equals the upper one
      { { { 1, 2 }, { 4, 4 } }, { 3, 8 }, { 1, 1 }, { 2, 2 } }, { { { -5 } }, { 10 }, { -2 }, { 1 } },
    } do
      local x, info = cl.gauss(d:buffer(case[1]), d:buffer(case[2]))
      assert.same(case[3], x:read())
      assert.same(case[4], info.pivots)
      assert.equal(0, info.steps)
    end
  end)

  it("sees a condition that the walk of the estimate misses, or that overflows", function()
    local q = 0.5 - 2.0 ^ -25
    local hidden = d:buffer { { 1, 0, 0 }, { 0, 0.5, q }, { 0, q, 0.5 } }
    assert.matches("working precision: rcond", select(2, cl.gauss(hidden, d:buffer { 1, 1, 1 })).warning)
    local tiny = d:buffer { { 1, 0 }, { 0, 1e-39 } } -- some devices take it for 0, or its reciprocal for infinity
    local _, info = solve_or_say({ "matrix is singular", "overflows" }, tiny, d:buffer { 1, 1e-39 })
    if info then assert.matches("working precision: rcond", info.warning) end
  end)

  it("judges each right-hand side by itself", function()
    local a = d:buffer(matrix(5, 5, uniform))
    local scales = { 0, 1e-20, 1, 1e20 }
    local b = d:buffer(matrix(5, 4, function(_, j) return scales[j] * uniform() end))
    local x, info = cl.gauss(a, b)
    assert_solved(a, b, x, info)
    for _, row in ipairs(x:read()) do assert.equal(0, row[1]) end
  end)

  it("finds the inverse, also when a and b are one buffer", function()
    local a = d:buffer { { 2, 0 }, { 0, 4 } }
    assert.same({ { 0.5, 0 }, { 0, 0.25 } }, cl.gauss(a, d:buffer { { 1, 0 }, { 0, 1 } }):read())
    assert.same({ { 1, 0 }, { 0, 1 } }, cl.gauss(a, a):read())
  end)

  it("solves an empty system", function()
    for _, kernel in ipairs { "blocked", "unblocked", "paper" } do
      local x, info = cl.gauss(d:zeros("float", 0, 0), d:zeros("float", 0), { kernel = kernel })
      assert.same({ 0 }, x.shape)
      assert.equal(0, info.backward_error)
    end
    local x, info = cl.gauss(d:buffer { { 1 } }, d:zeros("float", 1, 0))
    assert.same({ 1, 0 }, x.shape)
    assert.equal(0, info.backward_error)
  end)

  it("takes views of any start", function()
    local all = d:buffer(matrix(9, 3, uniform))
    local rights = d:buffer(vector(9, uniform))
    for first = 1, 7 do
      local a, b = all:view(first, first + 2), rights:view(8 - first, 10 - first)
      for _, kernel in ipairs { "blocked", "unblocked", "paper" } do
        local x, info = solve_or_say({ "without pivoting elements grew" }, a, b, { kernel = kernel })
        if kernel ~= "paper" then assert.is_truthy(x and info.rcond > 0) end
      end
    end
  end)

  it("refines when it must, when told to, and not when forbidden", function()
    local a, b = d:buffer(growing(33)), d:buffer(vector(33, uniform))
    local x, info = cl.gauss(a, b)
    assert_solved(a, b, x, info)
    assert.is_true(info.steps >= 1)
    local texts = { "backward error ratio", "exceeds 30", "refine=false" }
    helper.raises(texts, cl.gauss, a, b, { refine = false })
    a = d:buffer(dominant(9))
    b = d:buffer(matrix(9, 2, uniform))
    for refine, steps in pairs { [true] = 1, [false] = 0 } do
      x, info = cl.gauss(a, b, { refine = refine })
      assert_solved(a, b, x, info)
      assert.equal(steps, info.steps)
    end
    assert.equal(0, select(2, cl.gauss(a, b)).steps)
  end)

  it("names the element that is NaN or infinite", function()
    local a, b = { { 2, 0, 1 }, { 0, 2, 1 }, { 1, 1, 3 } }, { { 1, 2 }, { 3, 4 }, { 5, 6 } }
    for _, kernel in ipairs { "blocked", "unblocked", "paper" } do
      for i = 1, 3 do
        for j = 1, 3 do
          for value, name in pairs { [inf] = "infinite", [-inf] = "infinite", NaN = "NaN" } do
            local wrong = tonumber(value) or nan
            local bad = matrix(3, 3, function(r, c) return r == i and c == j and wrong or a[r][c] end)
            local text = ("a[%d][%d] is %s"):format(i, j, name)
            helper.raises(text, cl.gauss, d:buffer(bad), d:buffer { 1, 2, 3 }, { kernel = kernel })
          end
        end
        local line = { 1, 2, 3 }
        line[i] = nan
        helper.raises(("b[%d] is NaN"):format(i), cl.gauss, d:buffer(a), d:buffer(line), { kernel = kernel })
      end
    end
    for i = 1, 3 do
      for j = 1, 2 do
        local bad = matrix(3, 2, function(r, c) return r == i and c == j and nan or b[r][c] end)
        helper.raises(("b[%d][%d] is NaN"):format(i, j), cl.gauss, d:buffer(a), d:buffer(bad))
      end
    end
  end)

  it("reports an elimination that leaves the range of the dtype", function()
    local a = d:buffer { { 3e38, 3e38 }, { 3e38, -3e38 } }
    helper.raises({ "overflows", "column 2" }, cl.gauss, a, d:buffer { 1, 1 })
    a = d:buffer { { 3e38, 0 }, { 3e38, 3e38 } } -- a norm above the largest float alone is no fault
    local b = d:buffer { 3e38, 3e38 }
    assert_solved(a, b, cl.gauss(a, b))
  end)

  it("reports a solution that leaves the range of the dtype", function()
    local rows = { { 1e-30, 0 }, { 0, 1e-30 } }
    helper.raises("gauss: x or its residual overflows; use double", cl.gauss, d:buffer(rows), d:buffer { 1, 1e20 })
    local a, b = d:buffer { rows, { { 2, 0 }, { 0, 2 } } }, d:buffer { { 1e20, 1 }, { 2, 2 } }
    helper.raises("system 1: x or its residual overflows", cl.gauss, a, b)
    if not d.has_double then return end
    assert.same({ 1e30, 1e50 }, cl.gauss(d:buffer({ { 2.0 ^ -99, 0 }, { 0, 2.0 ^ -99 } }, "double"),
      d:buffer({ 1e30 * 2.0 ^ -99, 1e50 * 2.0 ^ -99 }, "double")):read())
  end)

  it("sees growth where the norm of the solution overflows", function()
    local n = slow and 3 or 100 -- small, nothing grows
    local a = growing(n)
    for i = 1, n do for j = 1, n do a[i][j] = a[i][j] * 2.0 ^ -1000 end end
    local b = d:buffer(vector(n, function() return uniform() * 2.0 ^ 21 end), "double")
    a = d:buffer(a, "double")
    if not slow then helper.raises({ "gauss: " }, cl.gauss, a, b) end
    local tiny = d:buffer({ { 1e-300, 0 }, { 0, 1e-300 } }, "double")
    local x = cl.gauss(tiny, d:buffer({ 1e8, 1.2e8 }, "double"))
    assert.is_true(x[1] > 9e307 and x[2] > 1e308)
  end)

  it("names the argument or option that is wrong", function()
    local a, b, released = d:buffer { { 2, 1 }, { 1, 3 } }, d:buffer { 1, 2 }, d:buffer { 1, 2 }
    released:release()
    for _, case in ipairs {
      { { "#1", "buffer" }, nil, b }, { { "#1", "buffer" }, io.stdout, b }, { { "#2", "buffer" }, a, { 1, 2 } },
      { { "#1", "released" }, released, b }, { { "#2", "released" }, a, released },
      { { "#1", "float or double", "int" }, d:buffer({ { 1 } }, "int"), b },
      { { "#2", "float", "double" }, a, d:buffer({ 1, 2 }, "double") },
      { { "#1", "square", "2x3" }, d:zeros("float", 2, 3), b }, { { "#1", "square", "2" }, b, b },
      { { "#1", "square", "2x2x3" }, d:zeros("float", 2, 2, 3), b },
      { { "#1", "square" }, d:zeros("float", 2, 2, 2, 2), b },
      { { "#2", "3 systems of 2 rows", "2" }, d:zeros("float", 3, 2, 2), b },
      { { "#2", "3 systems of 2 rows", "2x3" }, d:zeros("float", 3, 2, 2), d:zeros("float", 2, 3) },
      { { "'kernel'", "batch" }, d:zeros("float", 3, 2, 2), d:zeros("float", 3, 2), { kernel = "unblocked" } },
      { { "#2", "2 rows", "3" }, a, d:zeros("float", 3) }, { { "#2", "2 rows", "1x2" }, a, d:zeros("float", 1, 2) },
      { { "#2", "2x1x1" }, a, d:zeros("float", 2, 1, 1) }, { { "#3", "table" }, a, b, "paper" },
      { { "#3", "'pivot'" }, a, b, { pivot = true } },
      { { "'kernel'", "'best'", "blocked", "unblocked" }, a, b, { kernel = "best" } },
      { { "'kernel'", "string" }, a, b, { kernel = true } },
      { { "'refine'", "boolean", "number" }, a, b, { refine = 1 } },
      { { "'refine'", "unblocked" }, a, b, { kernel = "paper", refine = true } },
      { { "'rcond'", "unblocked" }, a, b, { kernel = "paper", rcond = 0 } },
      { { "'rcond'", "0 to 1", "-1" }, a, b, { rcond = -1 } }, { { "'rcond'", "0 to 1", "2" }, a, b, { rcond = 2 } },
      { { "'rcond'", "0 to 1", "nan" }, a, b, { rcond = nan } },
      { { "'rcond'", "number", "boolean" }, a, b, { rcond = true } },
      { { "'group'", "paper" }, a, b, { group = 16 } }, { { "'range'", "paper" }, a, b, { range = "fixed" } },
      { { "'remainder'", "paper" }, a, b, { remainder = "host" } },
      { { "'range'", "'grow'", "shrink" }, a, b, { kernel = "paper", range = "grow" } },
      { { "'remainder'", "'pad'", "split" }, a, b, { kernel = "paper", remainder = "pad" } },
      { { "'group'", "0" }, a, b, { kernel = "paper", group = 0 } },
      { { "'group'", "-1" }, a, b, { kernel = "paper", group = -1 } },
      { { "'group'", "1.5" }, a, b, { kernel = "paper", group = 1.5 } },
      { { "'group'", "nan" }, a, b, { kernel = "paper", group = nan } },
      { { "group", "exceeds" }, a, b, { kernel = "paper", group = math.maxinteger } },
      { { "#2", "one right-hand side" }, a, d:zeros("float", 2, 2), { kernel = "paper" } },
    } do helper.raises(case[1], cl.gauss, case[2], case[3], case[4]) end
  end)
end)

helper.describe_each("gauss as the paper has it", function(d)
  local slow = helper.is_simulator(d)
  local ranges, remainders = { "fixed", "shrink" }, { "split", "host" }

  --- Solves on the host and on the device and compares. Diagonal dominance bounds growth by 2
  -- and the condition by 3, so both answers are within a few times n eps.
  local function compare(n, dtype, options)
    local a = d:buffer(dominant(n), dtype)
    local b = d:buffer(vector(n, uniform), dtype)
    local x, info = cl.gauss(a, b, options)
    assert_solved(a, b, x, info)
    local text, format = sequential.gauss(a:string(), b:string(), n, dtype), dtype == "float" and "f" or "d"
    local got, size = x:read(), string.packsize(format)
    for i = 1, n do
      local expected = string.unpack(format, text, (i - 1) * size + 1)
      assert.near(expected, got[i], 8 * (n + 2) * helper.eps[dtype])
    end
    assert.is_nil(info.pivots)
  end

  for _, range in ipairs(ranges) do
    for _, remainder in ipairs(remainders) do
      it(("agrees with the sequential program: range %s, remainder %s"):format(range, remainder), function()
        for _, n in ipairs { 1, 2, 17 } do -- each remainder is a group of its own, which POCL compiles for
          for _, group in ipairs { 1, 7, 64 } do
            compare(n, "float", { kernel = "paper", range = range, remainder = remainder, group = group })
          end
        end
        compare(9, "double", { kernel = "paper", range = range, remainder = remainder, group = 4 })
        if not slow then
          for _, group in ipairs { 16, 34, 100 } do
            compare(33, "float", { kernel = "paper", range = range, remainder = remainder, group = group })
          end
        end
      end)
    end
  end

  it("chooses a group by itself", function()
    for _, dtype in ipairs(dtypes) do compare(10, dtype, { kernel = "paper" }) end
  end)

  it("takes a right-hand side of one column and leaves the operands alone", function()
    local a, b = d:buffer(dominant(6)), d:buffer(matrix(6, 1, uniform))
    local a_before, b_before = a:string(), b:string()
    local x, info = cl.gauss(a, b, { kernel = "paper" })
    assert_solved(a, b, x, info)
    assert.equal(a_before, a:string())
    assert.equal(b_before, b:string())
  end)

  for _, range in ipairs(ranges) do
    for _, remainder in ipairs(remainders) do
      it(("names a pivot that is zero: range %s, remainder %s"):format(range, remainder), function()
        local options = { kernel = "paper", range = range, remainder = remainder, group = 2 }
        for k, a in ipairs {
          { { 0, 1, 2 }, { 1, 0, 1 }, { 1, 1, 1 } }, { { 1, 1, 2 }, { 1, 1, 1 }, { 1, 2, 1 } },
          { { 1, 1, 2 }, { 1, 2, 1 }, { 2, 3, 3 } },
        } do
          local texts = { "pivot " .. k .. " is 0", "unblocked" }
          helper.raises(texts, cl.gauss, d:buffer(a), d:buffer { 1, 2, 4 }, options)
        end
      end)
    end
  end

  it("names a pivot that is not finite", function()
    local a = d:buffer { { 1e-30, 1e20 }, { 1, 1 } }
    helper.raises({ "pivot 2 is not finite" }, cl.gauss, a, d:buffer { 1, 1 }, { kernel = "paper" })
  end)

  it("reports growth as a ratio", function()
    local message = helper.raises({ "backward error ratio", "exceeds 30", "unblocked" }, cl.gauss,
      d:buffer { { 1e-12, 1 }, { 1, 1 } }, d:buffer { 1, 2 }, { kernel = "paper" })
    assert.is_true(tonumber(message:match("ratio ([%d.e+]+)")) > RATIO)
  end)

  it("solves systems of any scale", function()
    for _, scale in ipairs { 1e-30, 1e30 } do
      local a = d:buffer(dominant(12, scale))
      local b = d:buffer(vector(12, function() return uniform() * scale end))
      local x, info = cl.gauss(a, b, { kernel = "paper" })
      assert_solved(a, b, x, info)
    end
  end)
end)

describe("gauss", function()
  it("warns in Lua's way, where warnings are on, and of doubtful systems alone", function()
    local text = helper.output([[
      warn "@on"
      local cl = require "clcompute"
      local d = cl.device()
      cl.gauss(d:buffer { { 4, 1 }, { 1, 3 } }, d:buffer { 1, 2 })
      local rows = {}
      for i = 1, 8 do
        rows[i] = {}
        for j = 1, 8 do rows[i][j] = 1 / (i + j - 1) end
      end
      local a, b = d:buffer(rows), d:random("float", 8, { seed = 1 })
      cl.gauss(a, b)
      print(pcall(cl.gauss, a, b, { rcond = 1.3e-07 }))]], { CLCOMPUTE_DEVICE = helper.device().place })
    assert.matches("^Lua warning: clcompute: gauss: matrix is singular to working precision: rcond = [%d.]+e%-%d+; "
      .. "the option rcond = 1.3e%-07 makes that an error\nfalse\t.*is refused by option 'rcond': rcond = ", text)
  end)

  it("refuses buffers of two devices", function()
    local devices = helper.devices()
    if #devices < 2 then return pending "one device alone" end
    local a, b = devices[1]:buffer { { 1 } }, devices[2]:buffer { 1 }
    helper.raises({ "#2", "another device" }, cl.gauss, a, b)
  end)
end)
