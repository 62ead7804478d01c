-- SPDX-License-Identifier: MIT
--- Products of vectors, matrices and stacks, judged by sums in Lua.

local helper = require "spec.helper"
local cl = require "clcompute"

--- Elements of a buffer as a list, and a look at them by places from 1.
local function flat(b)
  local count = 1
  for _, extent in ipairs(b.shape) do count = count * extent end
  return b:reshape(count):read()
end

helper.describe_each("matmul", function(d)
  local function random(shape, seed)
    local given = { table.unpack(shape) }
    given[#given + 1] = { seed = helper.seed + seed, low = -1, high = 1 }
    return d:random("float", table.unpack(given))
  end

  --- Asserts what the product of two shapes is: sums, of terms of at most 1, that are off by a rounding for each term.
  local function check(left_shape, right_shape, shape, seed)
    local a, b = random(left_shape, seed), random(right_shape, seed + 100)
    local got = cl.matmul(a, b)
    assert.same(shape, got.shape)
    local depth, columns = left_shape[#left_shape], right_shape[math.max(#right_shape, 2)] or 1
    local left, right, list = flat(a), flat(b), flat(got)
    local rows_of_one = #right_shape == 3 and left_shape[2] or math.huge
    for i = 0, #list - 1 do
      local row, column = i // columns, i % columns
      local matrix = rows_of_one == math.huge and 0 or row // rows_of_one
      local sum, size = 0, 0
      for k = 0, depth - 1 do
        local term = left[row * depth + k + 1] * right[(matrix * depth + k) * columns + column + 1]
        sum, size = sum + term, size + math.abs(term)
      end
      assert.near(sum, list[i + 1], (depth + 2) * 2 ^ -24 * size)
    end
    assert.same(list, flat(a:dot(b)))
  end

  it("sums over the last extent of the one and the last but one of the other", function()
    for seed, case in ipairs {
      { { 3, 5 }, { 5, 2 }, { 3, 2 } }, { { 3, 5 }, { 5 }, { 3 } }, { { 5 }, { 5, 2 }, { 2 } },
      { { 4, 3, 5 }, { 5, 2 }, { 4, 3, 2 } }, { { 4, 3, 5 }, { 5 }, { 4, 3 } },
      { { 4, 3, 5 }, { 4, 5, 2 }, { 4, 3, 2 } }, { { 1, 1 }, { 1, 1 }, { 1, 1 } },
    } do
      check(case[1], case[2], case[3], seed)
    end
    assert.near(32, cl.matmul(d:buffer { 1, 2, 3 }, d:buffer { 4, 5, 6 }), 0)
    assert.near(32, d:buffer({ 1, 2, 3 }):dot(d:buffer { 4, 5, 6 } + 0), 0)
  end)

  it("is that of sums for any shapes", function()
    math.randomseed(helper.seed)
    local most = helper.is_simulator(d) and 9 or 40
    for trial = 1, helper.long(200) or 12 do
      local n, m, k, count = math.random(most), math.random(most), math.random(most), math.random(4)
      local case = ({
        { { n, k }, { k, m }, { n, m } }, { { n, k }, { k }, { n } }, { { k }, { k, m }, { m } },
        { { count, n, k }, { k, m }, { count, n, m } }, { { count, n, k }, { k }, { count, n } },
        { { count, n, k }, { count, k, m }, { count, n, m } },
      })[(trial - 1) % 6 + 1]
      check(case[1], case[2], case[3], trial)
    end
  end)

  it("of a float and a double buffer is double", function()
    if not d.has_double then return pending "the device has no double" end
    local v = { 1 + 2 ^ -40, 3 }
    local a, b = d:buffer({ v }, "double"), d:buffer { 1, 2 }
    assert.equal(7 + 2 ^ -40, cl.matmul(a, b)[1])
    assert.equal(7 + 2 ^ -40, cl.matmul(b, a:T())[1])
    assert.equal(7 + 2 ^ -40, cl.matmul(d:buffer(v, "double"), b))
  end)

  it("of vectors of any dtype is their dot product, exact for integers", function()
    local large = d:buffer({ 2 ^ 30, 3, -1 }, "int")
    assert.equal((1 << 60) + 10, cl.matmul(large, large))
    assert.equal("integer", math.type(large:dot(large)))
    local x = d:buffer { 0.5, 1, 2 }
    assert.equal(cl.dot(large, x), cl.matmul(large, x))
    if d.has_half then assert.equal(5.25, x:astype("half"):dot(x:astype("half"))) end
  end)

  it("has beside it b:astype(dtype), which converts as C does", function()
    local x = d:buffer { { 1.75, -1.75 }, { 3, 300 } }
    local whole = x:astype "int"
    assert.same({ { 1, -1 }, { 3, 300 } }, whole:read())
    assert.same({ 2, 4 }, { (whole * 2):astype("float")[1][1], x:astype("float").count })
    helper.raises("astype: no dtype 'integer'; there are", function() return x:astype "integer" end)
    helper.raises("astype: argument 1: dtype expected, got nil", function() return x:astype() end)
  end)

  it("says what does not go together", function()
    local m, whole = d:zeros("float", 2, 3), d:zeros("int", 2, 2)
    for _, case in ipairs {
      { "matmul: shapes 2x3 and 2x3 do not go together", m, m },
      { "matmul: shapes 2x3 and 2 do not go together", m, d:zeros("float", 2) },
      { "matmul: shapes 2x3 and 1x3x2 do not go together", m, d:zeros("float", 1, 3, 2) },
      { "matmul: shapes 2x1x3 and 1x3x2 do not go together", d:zeros("float", 2, 1, 3), d:zeros("float", 1, 3, 2) },
      { "matmul: argument 2: at most 3 dimensions expected, got 1x1x3x2", m, d:zeros("float", 1, 1, 3, 2) },
      { "matmul: argument 2: buffer expected, got number", m, 2 },
      { "matmul: argument 1: matrices of float or double expected, got int", whole, whole },
      { "matmul: argument 2: matrices of float or double expected, got int", d:zeros("float", 2), whole },
      { "matmul: shapes 2 and 3 do not go together", d:zeros("int", 2), d:zeros("int", 3) },
    } do
      helper.raises(case[1], cl.matmul, case[2], case[3])
    end
    helper.raises("dot: argument 1: buffer expected, got number", function() return m:dot(2) end)
    helper.raises("dot: the buffer: matrices of float or double", function() return d:zeros("int", 2, 2):dot(m) end)
    helper.raises("solve: matrix is singular", cl.solve, d:zeros("float", 2, 2), d:zeros("float", 2))
    helper.raises("solve: pivot 1 is 0", cl.solve, d:zeros("float", 2, 2), d:zeros("float", 2), { kernel = "paper" })
    local near = d:buffer { { 1, 1 }, { 1, 1 + 2^-23 } }
    assert.matches("^solve: matrix is singular to working", select(2, cl.solve(near, d:buffer { 1, 1 })).warning)
  end)
end)
