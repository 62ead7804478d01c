-- SPDX-License-Identifier: MIT
-- The kernels that gauss is made of, each by itself.
local helper = require "spec.helper"
local reference = require "spec.reference"

local GROUP = 8

-- Small integers and powers of two: all results are exact.
local lower = { { 1, 0, 0 }, { 0.5, 1, 0 }, { -0.25, 0.5, 1 } }
local upper = { { 8, 4, -2 }, { 0, 4, 2 }, { 0, 0, 2 } }
local packed = { { 8, 4, -2 }, { 0.5, 4, 2 }, { -0.25, 0.5, 2 } }
local solution = { { 1, -2 }, { 3, 4 }, { -5, 6 } }

helper.describe_each("the kernels of gauss", function(d)
  it("factor a matrix, column by column", function()
    -- rows of lower * upper, exchanged: the largest of column 1 is in row 3, of column 2 then in row 3
    local product = reference.gemm(lower, upper)
    local w = d:buffer { product[2], product[3], product[1] }
    local pivots, diagonal = d:buffer({ -1, -1, -1 }, "int"), d:buffer { 0, 0, 0 }
    local pivot = d:kernel("lu_pivot", { defines = { GROUP = GROUP } })
    local swap, update = d:kernel "lu_swap", d:kernel "lu_update"
    for k = 0, 2 do
      pivot({ global = GROUP, group = GROUP }, 3, k, w, 3, pivots, diagonal)
      swap({ global = 8, group = 8 }, 3, k, 0, 3, w, 3, pivots, diagonal)
      update({ global = { 4, 4 }, group = { 4, 1 } }, 3, k, 3, w, 3)
    end
    assert.same({ 2, 2, 2 }, pivots:read())
    assert.same({ 8, 4, 2 }, diagonal:read())
    assert.same(packed, w:read())
  end)

  it("take the upper of rows that are equally large, past the group too", function()
    local rows = {}
    for i = 1, 2 * GROUP + 3 do
      rows[i] = {}
      local large = i == 6 or i == GROUP + 2 or i == 2 * GROUP - 2
      for j = 1, 2 * GROUP + 3 do rows[i][j] = large and -9 or 1 end
    end
    local n = #rows
    local w, pivots, diagonal = d:buffer(rows), d:random("int", n), d:random("float", n)
    local pivot = d:kernel("lu_pivot", { defines = { GROUP = GROUP } })
    pivot({ global = GROUP, group = GROUP }, n, 0, w, n, pivots, diagonal)
    assert.equal(5, pivots[1])
    assert.equal(-9, diagonal[1])
  end)

  it("leave a column of zeros as it is", function()
    local w = d:buffer { { 0, 1 }, { 0, 2 } }
    local pivots, diagonal = d:buffer({ 0, 0 }, "int"), d:buffer { 0, 0 }
    d:kernel "lu_swap"({ global = 4, group = 4 }, 2, 0, 0, 2, w, 2, pivots, diagonal)
    assert.same({ { 0, 1 }, { 0, 2 } }, w:read())
  end)

  it("substitute with either triangle and its transpose", function()
    local function padded(rows) -- to 4 x 4, with zeros
      local w = {}
      for i = 1, 4 do
        w[i] = {}
        for j = 1, 4 do w[i][j] = (rows[i] or {})[j] or 0 end
      end
      return w
    end
    for _, case in ipairs {
      { lower, { LOWER = 1, UNIT = 1, TRANSPOSE = 0 } }, { upper, { LOWER = 0, UNIT = 0, TRANSPOSE = 0 } },
      { reference.transpose(upper), { LOWER = 1, UNIT = 0, TRANSPOSE = 1 } },
      { reference.transpose(lower), { LOWER = 0, UNIT = 1, TRANSPOSE = 1 } },
    } do
      case[2].BLOCK, case[2].SIDE = GROUP, 4
      local w, x = d:buffer(padded(packed)), d:buffer(reference.gemm(case[1], solution))
      local known = case[2].LOWER == 1 and -1 or 1
      d:kernel("lu_sweep", { defines = case[2] })({ global = { GROUP, 2 }, group = { GROUP, 1 } }, 3, known, 2, w, 4, x)
      assert.same(solution, x:read())
    end
  end)

  it("choose the rows of a panel, of equally large ones the first", function()
    local rows = {}
    for i = 1, 20 do -- a nonzero element each: of column 1 the largest is in row 7, of 2 in 12 and 13, 3 in 3, 4 in 18
      rows[i] = { 0, 0, 0, 0 }
      rows[i][(i - 1) % 4 + 1] = 1
    end
    rows[7], rows[12], rows[13] = { 8, 0, 0, 0 }, { 0, 9, 0, 0 }, { 0, 9, 0, 0 }
    rows[3], rows[18] = { 0, 0, -6, 0 }, { 0, 0, 0, 5 }
    for share = 1, 2 do -- rows of a work-item
      local w, lists, group = d:buffer(rows), d:zeros("int", 16), 16 // share
      local choose = d:kernel("lu_tournament", { defines = { SHARE = share } })
      choose({ global = 2 * group, group = group }, 20, 0, 0, w, 4, lists, 0, 0)
      assert.same({ 6, 11, 2, 3 }, lists:read(1, 4))
      choose({ global = group, group = group }, 8, 0, 1, w, 4, lists, 0, 8)
      assert.same({ 6, 11, 2, 17 }, lists:read(9, 12))
    end
  end)

  it("repeat exchanges of rows, by work-items with one column or many", function()
    local rows, first, count = 23, 2, 19
    for _, lanes in ipairs { 1, 2, 16, 64 } do
      for _, columns in ipairs { 1, 15, 16, 17, 65 } do
        local w, pivots = d:random("float", rows, columns, { seed = columns }), {}
        local expected = w:read()
        for k = 1, count do
          local p = k + math.random(0, rows - first - k)
          pivots[k] = p - 1
          expected[first + k], expected[first + p] = expected[first + p], expected[first + k]
        end
        local range = { global = (columns + lanes - 1) // lanes, group = 8, remainder = "pad" }
        local exchange = d:kernel("lu_exchange", { defines = { LANES = lanes } })
        exchange(range, count, columns, first, d:buffer(pivots, "int"), w)
        assert.same(expected, w:read())
      end
    end
  end)

  it("gather rows in another order, and sum columns", function()
    local order, x = d:buffer({ 2, 0, 1 }, "int"), d:buffer { 9, 1, 2, 3, 4, 5, 6 }
    local y = d:random("float", 3, 2)
    d:kernel "gather_rows"({ global = { 4, 4 }, group = { 2, 2 } }, 3, 2, order, x, 1, y, 2)
    assert.same({ { 5, 6 }, { 1, 2 }, { 3, 4 } }, y:read())
    local sums = d:random("float", 2)
    d:kernel "column_sums"(4, 3, 2, d:buffer { 7, -1, 2, 3, -4, 5, 6 }, 1, sums)
    assert.same({ 9, 12 }, sums:read())
  end)

  it("keep the residual that a plain sum would lose", function()
    -- 1 - (1 + e)(1 - e) is e^2, far below the spacing of the numbers that cancel
    for _, dtype in ipairs { "float", "double" } do
      local e = dtype == "float" and 2.0 ^ -16 or 2.0 ^ -40
      local a, x = d:buffer({ 99, 1 + e }, dtype), d:buffer({ 99, 99, 1 - e }, dtype)
      local b, r = d:buffer({ 1 }, dtype), d:buffer({ 99 }, dtype)
      d:kernel("residual", { dtype = dtype })({ 1, 1 }, 1, 1, a, 1, x, 2, b, 0, r)
      assert.equal(e * e, r[1])
    end
  end)
end)
