-- SPDX-License-Identifier: MIT
--- Operators, slices and writes at random, while finalizers compute, slice and release: every element is the one that
-- Lua's integers make of them.

local helper = require "spec.helper"

local OPERATORS = { function(a, b) return a + b end, function(a, b) return a - b end, function(a, b) return a * b end }
local LEAVES = 4

--- Rows of values: those of f(row, column).
local function table_of(rows, columns, f)
  local values = {}
  for i = 1, rows do
    values[i] = {}
    for j = 1, columns do values[i][j] = f(i, j) end
  end
  return values
end

--- A buffer with what it is to hold: {buffer=, values=, rows=, columns=}.
local function leaf(d)
  local rows, columns = ({ 1, 5 })[math.random(2)], ({ 1, 7 })[math.random(2)]
  local values = table_of(rows, columns, function() return math.random(-9, 9) end)
  return { buffer = d:buffer(values, "long"), values = values, rows = rows, columns = columns }
end

local function combined(x, y)
  local operator, rows, columns = OPERATORS[math.random(3)], math.max(x.rows, y.rows), math.max(x.columns, y.columns)
  return { buffer = operator(x.buffer, y.buffer), rows = rows, columns = columns,
    values = table_of(rows, columns, function(i, j)
      return operator(x.values[math.min(i, x.rows)][math.min(j, x.columns)],
        y.values[math.min(i, y.rows)][math.min(j, y.columns)])
    end) }
end

--- Every other row.
local function sliced(x)
  local rows = (x.rows + 1) // 2
  local values = table_of(rows, x.columns, function(i, j) return x.values[2 * i - 1][j] end)
  return { buffer = x.buffer:slice { 1, x.rows, 2 }, values = values, rows = rows, columns = x.columns }
end

--- Slices of five rows have three, or two in their turn, which go with none but themselves.
local function fits(x) return x.rows == 1 or x.rows == 5 end

--- Writes to a leaf, whose buffer may stand at several places.
local function write(pool)
  local x, v = pool[math.random(LEAVES)], math.random(-3, 3)
  x.buffer:fill(v)
  for i = 1, x.rows do
    for j = 1, x.columns do x.values[i][j] = v end
  end
end

local function read_all(pool)
  for _, x in ipairs(pool) do assert.same(x.values, x.buffer:read()) end
end

--- What a finalizer does with one of the pool, as it is by then.
local USES = {
  function(x) x.buffer:eval() end,
  function(x) return x.buffer:slice({ 1, x.rows, 2 }):read() end,
  function(x) return (x.buffer + 1):release() end,
}

--- Has one of the uses happen whenever garbage goes, until it is told to stop.
local function haunt(state)
  setmetatable({}, { __gc = function()
    if state.ended then return end
    local x = state.pool[math.random(#state.pool)]
    if x then USES[math.random(#USES)](x) end
    haunt(state)
  end })
end

helper.describe_each("expressions", function(d)
  it("at random, of slices too, have their values whatever finalizers do", function()
    local state = { pool = {} }
    finally(function()
      state.ended = true
      collectgarbage("incremental", 200, 100, 13)
    end)
    haunt(state)
    collectgarbage("incremental", 20, 1000, 6)
    for _ = 1, helper.long(200) or 6 do
      local pool = {}
      for i = 1, LEAVES do pool[i] = leaf(d) end
      state.pool = pool
      for _ = 1, math.random(3, 8) do
        local x, y = pool[math.random(#pool)], pool[math.random(#pool)]
        if fits(x) and fits(y) then pool[#pool + 1] = combined(x, y) end
        if math.random(3) == 1 then pool[#pool + 1] = sliced(pool[math.random(#pool)]) end
        if math.random(4) == 1 then write(pool) end
        if math.random(5) == 1 then pool[math.random(#pool)].buffer:eval() end
      end
      read_all(pool)
    end
  end)
end)
