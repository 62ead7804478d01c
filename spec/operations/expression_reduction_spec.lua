-- SPDX-License-Identifier: MIT
--- Reductions of expressions that nothing has computed: the elements are computed within the launch.

local helper = require "spec.helper"
local cl = require "clcompute"
local enqueue = require("clcompute.core.internal").enqueue

--- What f() returns, and how many kernels it has launched.
local function launches(f)
  cl.profile(true)
  local result, count = f(), 0
  for _, row in ipairs(cl.profile()) do count = count + (row.kind == "kernel" and row.calls or 0) end
  cl.profile(false)
  return result, count
end

local REDUCTIONS = {
  sum = cl.sum, asum = cl.asum, norm2 = cl.norm2, dot = function(z) return cl.dot(z, z) end,
  mean = function(z) return #z == 0 and 0 or cl.mean(z) end,
  min = function(z) return #z == 0 and 0 or cl.min(z) end,
  argmax = function(z) return #z == 0 and 0 or (cl.argmax(z)) end,
  reduce = function(z) return cl.reduce("a + b", z, { map = "x[i] * 2", init = 0 }) end,
}

local NAMES = {}
for name in pairs(REDUCTIONS) do NAMES[#NAMES + 1] = name end
table.sort(NAMES)

--- Expressions of two buffers of a dtype.
local EXPRESSIONS = {
  function(x, y) return x * y + 3 end, function(x, y) return cl.maximum(x - y, 1) // 2 end,
  function(x, y) return cl.lt(x, y) end, function(x) return x * 0.5 end,
  function(x) return x:slice { 1, #x, 2 } + 1 end, -- lies otherwise, and is stored
}

--- Calls f(name of a reduction, expression, dtype): all of them in the long form, else each at least once.
local function each_choice(dtypes, f)
  for r, name in ipairs(NAMES) do
    for e, expression in ipairs(EXPRESSIONS) do
      for k, dtype in ipairs(dtypes) do
        local is_chosen = (r - e) % #EXPRESSIONS == 0 and (r - k) % #dtypes == 0
        if is_chosen or helper.long(true) then f(name, expression, dtype) end
      end
    end
  end
end

helper.describe_kinds("a reduction of an expression", function(d, dtypes, is_other)
  if is_other and helper.is_simulator(d) then return end

  it("is that of its elements, for every dtype", function()
    for _, n in ipairs(is_other and { 257 } or { 257, 0, 1 }) do
      each_choice(dtypes, function(name, expression, dtype)
        local x = cl.map("i % 9", {}, { out = d:empty(dtype, n) })
        local y = cl.map("i * 7 % 5", {}, { out = d:empty(dtype, n) })
        local wanted = REDUCTIONS[name](expression(x, y):eval())
        assert.equal(wanted, REDUCTIONS[name](expression(x, y)), ("%s of %s %d"):format(name, dtype, n))
      end)
    end
  end)

  it("along an axis is that of its elements", function()
    local m, v = d:random("float", 13, 37, { seed = 5 }), d:random("float", 13, 37, { seed = 6 })
    for axis = 1, 2 do
      for _, name in ipairs { "sum", helper.long "mean", helper.long "norm2", helper.long "argmin" } do
        local stored = cl[name]((m * v):eval(), { axis = axis })
        assert.equal(stored:string(), cl[name](m * v, { axis = axis }):string(), name)
      end
    end
  end)
end)

helper.describe_each("a reduction of an expression", function(d)
  local x, y = d:buffer { 1, 2, 3, 4 }, d:buffer { 5, 6, 7, 8 }

  it("is one launch, and stores no elements", function()
    local z = x * y
    for name, reduction in pairs { sum = cl.sum, mean = cl.mean, norm2 = cl.norm2, max = cl.max } do
      z = x * y
      local stored = reduction((x * y):eval())
      reduction(x * y)
      collectgarbage()
      local bytes = cl.live().bytes
      assert.same({ stored, 1 }, { launches(function() return reduction(z) end) }, name)
      assert.equal(bytes, cl.live().bytes, name)
    end
    assert.same({ 5, 12, 21, 32 }, z:read())
  end)

  it("is of several expressions at once, and of one twice", function()
    local p, q = x + y, x - y
    assert.same({ -4 * (6 + 8 + 10 + 12), 1 }, { launches(function() return cl.dot(p, q) end) })
    local z = x + y
    assert.equal(36 + 64 + 100 + 144, cl.dot(z, z))
    assert.equal(-4 * 36 * 2, cl.reduce("a + b", { u = x + y, v = x - y, s = 2 }, { map = "u[i] * v[i] * s" }))
  end)

  it("has the elements stored where they are asked for again", function()
    local z = x * y
    assert.same({ 70, 32 }, { cl.sum(z), cl.max(z) })
    assert.same({ 5, 0 }, { launches(function() return z[1] end) })
    assert.equal(70, cl.sum(z))
  end)

  it("has the values of when it was written", function()
    local a = x:copy()
    local z, w = a * y, a + 1
    assert.equal(70, cl.sum(z))
    a:fill(0)
    assert.same({ 70, 14 }, { cl.sum(z), cl.sum(w) })
  end)

  it("has them where something writes while it is launched", function()
    local a, launch = x:copy(), enqueue.launch
    local function written(f)
      a:write { 1, 2, 3, 4 }
      function enqueue.launch(...)
        enqueue.launch = launch
        a:fill(0)
        return launch(...)
      end
      local result = f()
      enqueue.launch = launch
      return result
    end
    assert.equal(70, written(function() return cl.sum(a * y) end))
    assert.same({ 8, 12 }, written(function() return cl.sum(a:reshape(2, 2) * 2, { axis = 1 }) end):read())
  end)

  it("names the function in what it refuses", function()
    helper.raises("sum: argument 1: buffer expected, got number", cl.sum, 5)
    local z = x * y
    z:release()
    helper.raises("sum: argument 1 is released", cl.sum, z)
    helper.raises("dot: 'x' has 4 elements, but 'y' has 2", cl.dot, x + 1, d:zeros("float", 2) + 1)
  end)
end)
