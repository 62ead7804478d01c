-- SPDX-License-Identifier: MIT
local helper = require "spec.helper"
local cl = require "clcompute"

local function product(shape)
  local n = 1
  for _, extent in ipairs(shape) do n = n * extent end
  return n
end

--- All orders of the numbers 1 .. n.
local function orders(n)
  if n == 0 then return { {} } end
  local all = {}
  for _, order in ipairs(orders(n - 1)) do
    for place = 1, n do
      local longer = table.move(order, 1, n - 1, 1, {})
      table.insert(longer, place, n)
      all[#all + 1] = longer
    end
  end
  return all
end

--- The elements of a list with its axes in another order.
local function turned(list, shape, axes)
  local steps, step, out = {}, 1, {}
  for k = #shape, 1, -1 do steps[k], step = step, step * shape[k] end
  local function go(k, at)
    if k > #axes then
      out[#out + 1] = list[at + 1]
      return
    end
    for i = 0, shape[axes[k]] - 1 do go(k + 1, at + i * steps[axes[k]]) end
  end
  go(1, 0)
  return out
end

local function check(x, axes)
  local shape, expected = x.shape, {}
  local out = cl.transpose(x, axes and { axes = axes })
  if not axes then
    axes = {}
    for k = 1, #shape do axes[k] = #shape + 1 - k end
  end
  for k, axis in ipairs(axes) do expected[k] = shape[axis] end
  assert.same(expected, out.shape)
  assert.equal(x.dtype, out.dtype)
  local n = product(shape)
  if n == 0 then return end
  expected = turned(x:reshape(n):read(), shape, axes)
  local got = out:reshape(n):read()
  for k = 1, n do
    if expected[k] ~= got[k] then
      error(("%s %s, axes %s, element %d: expected %s, got %s"):format(x.dtype, table.concat(shape, "x"),
        table.concat(axes, " "), k, expected[k], got[k]))
    end
  end
end

local function numbers(d, dtype, shape)
  local list = {}
  for k = 1, product(shape) do list[k] = k % 127 end
  return d:buffer(list, dtype):reshape(table.unpack(shape))
end

helper.describe_kinds("transpose", function(d, dtypes, _, is_sample)
  it("turns matrices of odd shapes, of every dtype", function()
    for _, dtype in ipairs(dtypes) do
      for _, shape in ipairs { { 1, 1 }, { 5, 3 }, { 17, 33 }, { 16, 64 } } do check(numbers(d, dtype, shape)) end
    end
    if helper.is_simulator(d) then return end
    for _, shape in ipairs { { 1, 700 }, { 700, 1 }, { 64, 65 }, { 131, 263 }, { 3, 5000 }, { 5000, 3 }, { 68, 96 } } do
      check(numbers(d, "float", shape))
    end
  end)

  it("takes every order of up to 4 axes", function()
    for _, shape in ipairs { { 7 }, { 5, 6 }, { 3, 4, 5 }, { 2, 3, 5, 4 }, { 3, 1, 5, 2 }, { 17, 2, 33 } } do
      for _, axes in ipairs(orders(#shape)) do
        if not helper.is_simulator(d) or #shape < 4 and shape[1] < 9 then check(numbers(d, "float", shape), axes) end
      end
      check(numbers(d, "int", shape))
    end
    if not helper.is_simulator(d) then
      for _, axes in ipairs(orders(3)) do check(numbers(d, "ushort", { 19, 70, 36 }), axes) end
    end
  end)

  if is_sample then return end

  it("takes any shape and order, slices too", function()
    math.randomseed(helper.seed)
    local many = helper.is_simulator(d) and 6 or 20
    for _ = 1, helper.long(400) or 12 do
      local shape, cuts = {}, {}
      for k = 1, math.random(4) do
        shape[k] = math.random(#shape > 1 and 5 or many)
        local first = math.random(shape[k])
        cuts[k] = { first, math.random(first, shape[k]), math.random(3) }
      end
      local x, all = numbers(d, dtypes[math.random(#dtypes)], shape), orders(#shape)
      check(x, all[math.random(#all)])
      check(x:slice(table.unpack(cuts, 1, #shape)), all[math.random(#all)])
    end
  end)

  it("takes views of any start, and what has no elements", function()
    local all = numbers(d, "float", { 40, 19 })
    for _, first in ipairs { 2, 5 } do
      check(all:view(first, 37))
      check(all:view(first, 37), { 1, 2 })
    end
    for _, shape in ipairs { { 0 }, { 0, 3 }, { 2, 0, 3 } } do check(d:zeros("float", table.unpack(shape))) end
  end)

  it("is a method, and takes expressions", function()
    local x = numbers(d, "float", { 3, 4 })
    assert.same(cl.transpose(x):read(), x:T():read())
    assert.same(cl.transpose(x):read(), (x + 1 - 1):T():read())
    assert.same(x:read(), x:T():T():read())
    local copy = cl.transpose(x, { axes = { 1, 2 } })
    copy:fill(0)
    assert.equal(1, x:get(1, 1))
  end)
end)

helper.describe_each("transpose", function(d)
  it("has groups of whole rows of a tile, however few work-items reductions have", function()
    local tuning, known = require "clcompute.tuning", require "clcompute.tuning.known"
    local facts = tuning.facts(d, "float")
    facts.type, facts.platform = "gpu", "another one"
    local row = {}
    for key, value in pairs(tuning.choose(known.reduce, facts)) do row[key] = value end
    row.group = 16
    finally(function() tuning.use(d, "reduce", "float", nil) end)
    tuning.use(d, "reduce", "float", row)
    check(numbers(d, "float", { 40, 33 }))
  end)

  it("says what is wrong", function()
    local x = d:zeros("float", 2, 3)
    helper.raises("transpose: argument 1: buffer expected, got table", cl.transpose, {})
    helper.raises("transpose: option 'axes': each of 1 .. 2 once expected, got 3 in place 2", cl.transpose, x,
      { axes = { 1, 3 } })
    helper.raises("transpose: option 'axes': each of 1 .. 2 once expected, got 1 in place 2", cl.transpose, x,
      { axes = { 1, 1 } })
    helper.raises("transpose: option 'axes': each of 1 .. 2 once expected, got nil in place 2", cl.transpose, x,
      { axes = { 1 } })
    helper.raises("transpose: option 'axes': 2 numbers expected, one a dimension, got 3", cl.transpose, x,
      { axes = { 1, 2, 3 } })
    helper.raises("transpose: unknown option 'axis'", cl.transpose, x, { axis = 1 })
    helper.raises("T: no argument expected, got 1", function() x:T(1) end)
  end)
end)
