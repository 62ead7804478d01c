-- SPDX-License-Identifier: MIT
--- Random functions of the Lua that people write do on a device what they do in Lua, every bit of every array and
-- number; and what such functions become.

local copies = require "spec.support.copies"
local decision = require("clcompute.loops.runtime").decision
local helper = require "spec.helper"
local loops = require "clcompute.loops"
local profitability = require "clcompute.loops.runtime.profitability"
local random_programs = require "spec.support.random_programs"

local is_long = os.getenv "LONG" ~= nil

--- Runs f while all nests and tasks run on the device.
local function everywhere(f)
  local decide, make = profitability.decide, decision.make
  profitability.decide = function(plan, _, _, _, options)
    local verdict = { on_device = {}, reasons = {} }
    for i in ipairs(plan.kernels) do verdict.on_device[i] = options.force ~= false end
    verdict.is_spread = verdict.on_device
    return verdict
  end
  decision.make = function(state, ...)
    state.options.heuristics = "none" -- so that no build is waited for
    local verdict = make(state, ...)
    state.options.heuristics = "model"
    return verdict
  end
  local results = table.pack(pcall(f))
  profitability.decide, decision.make = decide, make
  return table.unpack(results, 1, results.n)
end

--- The indices at which a function reads or writes outside of its arguments, as texts: Lua reads nil there, which may
-- do no harm, and stores there, where a device raises an error.
local function indices_outside(in_lua, values)
  local seen = {}
  local function watched(value)
    if type(value) ~= "table" then return value end
    local own = {}
    for key, inner in pairs(value) do own[key] = watched(inner) end
    return setmetatable(own, { __index = function(_, i) seen[tostring(i)] = true end,
      __newindex = function(list, i, inner)
        seen[tostring(i)] = true
        rawset(list, i, inner)
      end })
  end
  local list = {}
  for i, value in ipairs(values) do list[i] = watched(value) end
  in_lua(table.unpack(list))
  return seen
end

describe("a random program", function()
  it("does what it does in Lua, or raises an error where Lua does", function()
    local device, launches, errors = helper.device(), 0, 0
    local count = is_long and 400 or 8
    for _ = 1, count do
      local seed = math.random(1 << 30)
      math.randomseed(seed)
      local text, values = random_programs.text(), random_programs.arguments(6, seed % 4 == 0)
      local in_lua = assert(load(text))()
      local target = seed % 5 == 0 and "gpu" or nil
      local compiled <close> = assert(loops.compile(in_lua, { device = device, target = target }), text)
      local expected, got = copies.of(values), copies.of(values)
      local ok, result = pcall(in_lua, table.unpack(expected))
      local is_right, found = everywhere(function() return compiled(table.unpack(got)) end)
      local place = ("seed %d\n%s\n"):format(seed, text)
      if ok and not is_right then
        local index = tostring(found):match "index (%-?%d+) is outside of"
        assert.is_true(indices_outside(in_lua, values)[index], place .. tostring(found))
      end
      assert.is_true(ok or not is_right, place)
      if ok and is_right then
        assert.is_true(copies.are_equal({ result }, { found }), place)
        assert.equal(math.type(result), math.type(found), place)
        for i, value in ipairs(got) do
          assert.is_true(copies.are_equal(expected[i], value), ("%sargument %d"):format(place, i))
        end
      else
        errors = errors + 1
      end
      launches = launches + compiled:stats().launches
    end
    assert.is_true(launches > 0 and errors < count)
  end)
end)

local function vector(count, element)
  local list = {}
  for i = 1, count do list[i] = element(i) end
  return list
end

describe("functions that people write", function()
  local device = helper.device()

  local function spmv(y, row, col, val, x, n)
    for i = 1, n do
      local s = 0.0
      for k = row[i], row[i + 1] - 1 do s = s + val[k] * x[col[k]] end
      y[i] = s
    end
  end

  --- A band of a matrix in rows, three elements in each.
  local function sparse(n)
    return vector(n, function() return 0.0 end), vector(n + 1, function(i) return 3 * i - 2 end),
      vector(3 * n, function(k) return (k * 7) % n + 1 end), vector(3 * n, function(k) return k / 8 end),
      vector(n, function(i) return 1.0 / i end), n
  end

  it("exchange elements where data say", function()
    local function eliminate(A, n)
      for k = 1, n - 1 do
        local p = k
        for i = k + 1, n do if math.abs(A[i][k]) > math.abs(A[p][k]) then p = i end end
        for j = 1, n do A[k][j], A[p][j] = A[p][j], A[k][j] end
        for i = k + 1, n do
          local f = A[i][k] / A[k][k]
          for j = k, n do A[i][j] = A[i][j] - f * A[k][j] end
        end
      end
    end
    local function sort_rows(A, n)
      for r = 1, n do
        for i = 2, n do
          local j = i
          while j > 1 and A[r][j - 1] > A[r][j] do
            A[r][j - 1], A[r][j] = A[r][j], A[r][j - 1]
            j = j - 1
          end
        end
      end
    end
    local function merge(A, n) -- a step of a bitonic sort
      for r = 1, n do
        for i = 0, n - 1 do
          local l = i ~ r & 7
          if l > i and A[r][l + 1] > A[r][i + 1] then A[r][l + 1], A[r][i + 1] = A[r][i + 1], A[r][l + 1] end
        end
      end
    end
    for f, parallel in pairs { [eliminate] = "for j +parallel", [sort_rows] = "for r +parallel",
      [merge] = "for r +parallel" } do
      local compiled = assert(loops.compile(f, { device = device, force = true }))
      local A = helper.matrix(16, 16, function() return math.random() - 0.5 end)
      local expected, got = copies.of { A, 16 }, copies.of { A, 16 }
      f(table.unpack(expected))
      compiled(table.unpack(got))
      assert(copies.are_equal(expected, got))
      assert.matches(parallel, compiled:explain())
    end
    local swap = assert(loops.compile(function(x, p, n)
      for i = 1, n do local at = p[i]; x[i], x[at] = x[at], x[i] end
    end, { device = device }))
    everywhere(function()
      helper.raises("x[at]): index 9 is outside of 1 .. 3", swap, { 1.0, 2.0, 3.0 }, { 1, 9, 2 }, 3)
    end)
  end)

  it("exchange elements whose places are elements, known before the first is stored", function()
    for _, body in ipairs { "a[k[i]], k[i] = a[k[i]] + 1, i", "k[k[i]], k[i] = k[i], k[k[i]]",
      "a[k[i]], a[i] = a[i], a[k[i]]" } do
      local text = ("function(a, k, n) for i = 1, n do %s end end"):format(body)
      for _, is_one in ipairs { false, not body:find("+", 1, true) or nil } do
        local k = { 2, 3, 1, 6, 4, 5 }
        local values = { is_one and k or { 9, 8, 7, 6, 5, 4 }, k, 6 }
        local expected, got = copies.of(values), copies.of(values)
        if is_one then expected[1], got[1] = expected[2], got[2] end
        assert(load("return " .. text))()(table.unpack(expected))
        assert(loops.compile(text, { device = device, force = true }))(table.unpack(got))
        assert.same(expected, got, text)
      end
    end
  end)

  it("store where data say, and raise an error where no element is", function()
    local function invert(p, at, n)
      for i = 1, n do at[p[i]] = i end
    end
    local function select_above(x, limit, y, n)
      local m = 0
      for i = 1, n do
        if x[i] > limit then
          m = m + 1
          y[m] = x[i]
        end
      end
      return m
    end
    local function sort(x, n)
      for i = 2, n do
        local v, j = x[i], i - 1
        while j >= 1 and x[j] > v do
          x[j + 1] = x[j]
          j = j - 1
        end
        x[j + 1] = v
      end
    end
    local function clear(a, n) -- no sum of loop variables and the call's numbers says where
      for i = 1, n do a[i * n] = a[i * n // 2 + 1] end
    end
    local p, x, zeros = { 3, 1, 4, 2 }, { 0.5, -1.0, 2.5, 1.5 }, { 0, 0, 0, 0 }
    for _, case in ipairs { { invert, p, zeros, 4 }, { select_above, x, 0.0, { 9.0, 9.0, 9.0, 9.0 }, 4 },
      { sort, x, 4 }, { clear, { 1, 2, 3, 4 }, 2 } } do
      local in_lua, expected, got = case[1], copies.of { table.unpack(case, 2) }, copies.of { table.unpack(case, 2) }
      local compiled = assert(loops.compile(in_lua, { device = device }))
      local results = table.pack(in_lua(table.unpack(expected)))
      local found = table.pack(everywhere(function() return compiled(table.unpack(got)) end))
      assert.same({ true, table.unpack(results) }, { table.unpack(found) })
      assert.same(expected, got)
      assert.equal(1, compiled:stats().launches)
      in_lua(table.unpack(expected))
      compiled(table.unpack(got)) -- in Lua
      assert.same(expected, got)
    end
    local compiled = assert(loops.compile(invert, { device = device }))
    for _, call in ipairs { pcall, everywhere } do
      local ok, message = call(function() compiled({ 1, 5, 2 }, { 0, 0, 0 }, 3) end)
      assert.is_false(ok)
      assert.matches("line %d+: at%[p%[i%]%] is stored, which is no element: index 5 is outside of ", message)
    end
  end)

  it("give rows names", function()
    local function cube(n)
      local planes = {}
      for i = 1, n do planes[i] = helper.matrix(n, n) end
      return planes
    end
    for text, parallel in pairs {
      ["local row = a[i]; for j = 1, #row do row[j] = row[j] * 2 end"] = "for i +parallel",
      ["local row, p = b[i - 1], 1; local other = a[p]; p = 2; for j = 1, n do row[j] = row[j] + other[j] * a[p][1] "
        .. "end"] = "for j +parallel",
      ["local plane = c[i]; for j = 1, n do local row = plane[n - j + 1]; for k = 1, n do row[k] = row[k] + i * j end "
        .. "end"] = "for i +parallel",
      ["a[i][1] = dot(a[i], b[n - i + 1])"] = "for i +parallel",
      ["local one, other = a[i], b[i]; one[1] = dot(one, other)"] = "for i +parallel",
      ["for j, row in ipairs(b) do local s = 0.0; for k, v in ipairs(row) do s = s + v * k end; a[i][j] = s end"]
        = "for i +parallel",
      ["local v = a[i][1]; for j = 1, n do local v = b[j]; v[i] = v[i] + 1 end; a[i][2] = v"] = "for i +parallel",
    } do
      local whole = ([[function(a, b, c, n)
        local function dot(x, y) local s = 0.0; for k = 1, n do s = s + x[k] * y[k] end; return s end
        for i = 2, n do %s end
      end]]):format(text)
      local values = { helper.matrix(5, 5), helper.matrix(5, 5), cube(5), 5 }
      local expected, got = copies.of(values), copies.of(values)
      local compiled = assert(loops.compile(whole, { device = device, force = true }))
      compiled(table.unpack(got))
      assert(load("return " .. whole))()(table.unpack(expected))
      assert.same(expected, got, whole)
      assert.matches(parallel, compiled:explain(), whole)
    end
  end)

  it("read elements through others, where they are", function()
    local compiled = assert(loops.compile(spmv, { device = device, force = true }))
    local expected, got = { sparse(20) }, { sparse(20) }
    spmv(table.unpack(expected))
    compiled(table.unpack(got))
    assert.same(expected, got)
    assert.equal(1, compiled:stats().launches)
    assert.matches("^[^\n]*the latest call ran 1 nest of 1 on ", compiled:explain())
    for _, outside in ipairs { 0, 21, math.maxinteger, math.mininteger } do
      local values = { sparse(20) }
      values[3][17] = outside
      helper.raises(("attempt to perform arithmetic on a nil value (x[col[k]]): index %d is outside of 1 .. 20")
        :format(outside), compiled, table.unpack(values))
      values = { sparse(20) }
      values[2][4] = outside
      local is_right = pcall(spmv, table.unpack(values))
      assert.equal(is_right, (pcall(compiled, table.unpack(values))))
    end
    compiled(table.unpack(got)) -- what failed once does not fail again
    assert.same(expected, got)
  end)

  it("share out sums of integers where data say, on a device of many work-items", function()
    local function histogram(h, k, n)
      for i = 1, n do h[k[i]] = h[k[i]] + i end
    end
    for dtype, reduce in pairs { int = "tree", uint = "sequential", long = "tree", ulong = "sequential" } do
      if dtype:find "int" or device.extensions:find("int64_base_atomics", 1, true) then
        local compiled = assert(loops.compile(histogram, { device = device, force = true, target = "gpu",
          reduce = reduce }))
        local expected, keys = vector(5, function() return 3 end), vector(300, function(i) return i * i % 5 + 1 end)
        local counts = device:buffer(expected, dtype)
        compiled(counts, keys, 300)
        histogram(expected, keys, 300)
        assert.same(expected, counts:read())
        assert.equal(1, compiled:stats().launches)
        assert.matches("parallel, h%[k%[i%]%] %(line %d+%) is added to in one step", compiled:explain())
        keys[7] = 6
        helper.raises("(h[k[i]]): index 6 is outside of 1 .. 5", compiled, counts, keys, 300)
      end
    end
  end)

  it("give arrays further names", function()
    local function steps(x, n)
      local new, other = {}, x
      for i = 1, n do new[i] = other[i] end
      local from, to = x, new
      for _ = 1, n do
        for i = 2, n do to[i] = from[i - 1] + 1 end
        from, to = to, from
      end
      local last = from
      return last, last[n], other[1]
    end
    local compiled <close> = assert(loops.compile(steps, { device = device, force = true }))
    for n = 1, 5 do
      local expected, got = { 5.0, 4.0, 3.0, 2.0, 1.0 }, { 5.0, 4.0, 3.0, 2.0, 1.0 }
      assert.same({ steps(expected, n) }, { compiled(got, n) })
      assert.same(expected, got)
    end
  end)

  it("return the integer that a sum begins with where no float was added", function()
    local function sum(x)
      local all = 10
      for i = 1, #x do all = all + x[i] end
      return all
    end
    local compiled <close> = assert(loops.compile(sum, { device = device, reduce = "tree", force = true }))
    for _, x in ipairs { {}, { 1.5, 2.0 }, { 0.0 }, { 1.0, -1.0 }, { 10.5 } } do
      local expected = sum(x)
      for _, given in ipairs { x, #x > 0 and device:buffer(x, "double") or device:zeros("double", 0) } do
        local found = compiled(given)
        assert.same({ expected, math.type(expected) }, { found, math.type(found) })
      end
    end
    assert.is_true(compiled:stats().launches > 0)
  end)

  it("return that integer from a task, whose call Lua repeats", function()
    local text = "function(x) local s = 10 for i = 1, #x do if x[i] > 0 then s = s + x[i] end end return s end"
    local compiled <close> = assert(loops.compile(text, { device = device }))
    for _, x in ipairs { { -1.0, 0.0 }, { -1.0, 0.5 }, { 0.0, -1.0 }, { 0.0, -1.0 } } do
      local buffer, found = device:buffer(x, "double"), nil
      everywhere(function() found = compiled(buffer) end)
      assert.equal(x[2] > 0 and "float" or "integer", math.type(found))
    end
    assert.is_true(compiled:stats().launches >= 4)
  end)

  it("return such a sum from a task that stores, too, in calls in which a float is added whatever data are", function()
    for body, is_task in pairs {
      ["for i = 1, n do s = s + x[i] y[i] = s end"] = true,
      ["for i = 2, n do for j = i, n - 1 do s = s + x[i] y[j] = s end end"] = true,
      ["if n > 3 then for i = 1, n do y[i] = x[i] s = s + y[i] end end"] = true,
      ["local t = 1 for i = 1, n do t = t * x[i] y[i] = t s = t end"] = true,
      ["for i = 1, n do y[i] = x[i] + s if x[i] > 0 then s = s + x[i] end end"] = false,
      ["for i = 1, n do y[i] = s s = s + x[i] end if n > 3 then s = 0 end"] = false,
      ["for i = 1, n do y[i] = s s = s + x[i] if s > 2 then break end end"] = false,
    } do
      local text = ("function(x, y, n) local s = 0 %s return s end"):format(body)
      local f, compiled <close> = assert(load("return " .. text))(), assert(loops.compile(text, { device = device }))
      for n = 0, 5 do
        local values = { { 1.0, -1.0, 0.0, 0.5, 2.5, 1.0 }, { 0.0, 0.0, 0.0, 0.0, 0.0, 0.0 }, n }
        local expected, got = copies.of(values), copies.in_buffers(values, device, "double")
        local sum, found = f(table.unpack(expected)), nil
        everywhere(function() found = compiled(table.unpack(got)) end)
        assert.same({ sum, math.type(sum) }, { found, math.type(found) }, text)
        assert(copies.are_equal(expected, copies.read(got)))
      end
      assert.equal(is_task, compiled:stats().launches > 0, text)
    end
  end)

  it("are Lua's alone where they store, and only data say whether they return an integer", function()
    local function least(a, w)
      local s = 0.5
      for i = 1, #a do
        s = math.min(math.floor(a[i]), a[i] * 2)
        w[i] = w[i] + 1
      end
      return s
    end
    local compiled <close> = assert(loops.compile(least, { device = device, force = true }))
    local w = { 1.5, 2.5, 3.5 }
    assert.equal(-6.0, compiled({ 1.0, -2.5, -3.0 }, w))
    assert.same({ 2.5, 3.5, 4.5 }, w) -- no call is repeated
  end)

  it("assign numbers between loops, whose bounds stay known", function()
    local compiled <close> = assert(loops.compile(function(x, n)
      n = n // 2
      local m = n
      m = m - 1
      local half = {}
      for i = 1, m do half[#half + 1] = x[i + 1] end
      n = 1
      return half, n, m
    end, { device = device, force = true }))
    assert.same({ { 2.0, 3.0 }, 1, 2 }, { compiled({ 1.0, 2.0, 3.0, 4.0, 5.0, 6.0 }, 6) })
    assert.matches(": for i +parallel", compiled:explain())
  end)

  it("assign parameters, which stay as they are for the caller", function()
    local function powers(base, exponent, modulus, out)
      base = base % modulus
      local result = 1
      while exponent > 0 do
        if exponent & 1 == 1 then result = result * base % modulus end
        base, exponent = base * base % modulus, exponent >> 1
      end
      out[1] = base
      return result
    end
    local compiled <close> = assert(loops.compile(powers, { device = device }))
    for exponent = 0, 20 do
      local expected, got = { 0 }, { 0 }
      assert.equal(powers(7, exponent, 1009, expected), compiled(7, exponent, 1009, got))
      assert.same(expected, got)
    end
    assert.equal(powers(2.5, 5, 100, { 0 }), compiled(2.5, 5, 100, { 0 }))
  end)

  it("return numbers, also before their end", function()
    local function first_above(x, limit)
      if limit < 0 then return 0, 0.5 end
      for i, value in ipairs(x) do
        if value > limit then return i, value end
      end
      return #x + 1, limit
    end
    local compiled = assert(loops.compile(first_above, { device = device }))
    local x = vector(30, function(i) return i / 2 end)
    for _, limit in ipairs { -1.0, 7.2, 100.0 } do
      local own = table.pack(first_above(x, limit))
      for _, found in ipairs { table.pack(everywhere(function() return compiled(x, limit) end)),
        { true, compiled(x, limit) } } do
        assert.is_true(found[1])
        assert.equal(own[1], found[2])
        assert.equal(own[2], found[3])
        assert.equal("integer", math.type(found[2]))
      end
    end
    assert.matches("result 1: int; result 2: float", compiled:explain(), 1, true)
  end)

  --- What a text of statements does to x, y and n; it also has the local functions that follow.
  local function with_helpers(text)
    return ([[function(x, y, n)
      local changed, steps = 1.5, 0
      local function cmul(ar, ai, br, bi) return ar * br - ai * bi, ar * bi + ai * br end
      local function order(a, b) if a < b then return a, b end return b, a end
      local function turned(a, b) return order(b, -a) end
      local function bump(a) changed, steps = changed + a, steps + 1 x[steps] = changed return changed, steps end
      local function step(a) steps = steps + a return steps end
      local function find(limit) for i = 1, n do if x[i] > limit then return i, x[i] end end return 0, limit end
      local function least(a, b) return (order(a, b)) end
      local function spread(a, b) return b - a end
      local function store(a, b) y[1], y[2] = a, b end
      local function stored(a) return store(order(a, 0.5)) end
      local function divided(a, k) return a / 2, n // k end
      %s
    end]]):format(text)
  end

  it("give several numbers to locals, targets and calls, as in Lua", function()
    for _, text in ipairs {
      "for i = 1, n do x[i], y[i] = cmul(x[i], y[i], 0.5, 0.25) end",
      "for i = 1, n do local a, b = order(x[i], y[i]) x[i], y[n - i + 1] = a, b end",
      "for i = 1, n do local zr, zi = 0.0, 0.0 for _ = 1, 9 do zr, zi = cmul(zr, zi, zr, zi) zr, zi = zr + x[i], "
        .. "zi + y[i] end x[i] = zr end",
      "for i = 1, n do local a = order(x[i], y[i]) y[i] = (order(a, 1.0)) + order(2.0, x[i]) end",
      "for i = 1, n do x[i] = spread(order(x[i], y[i])) + math.max(0.5, order(y[i], 3.0)) * least(x[i], 1.0) end",
      "for i = 1, n do x[i], y[i] = order(turned(cmul(x[i], y[i], order(0.25, 0.75)))) end",
      "for i = 1, n do local a, b, c = x[i], turned(x[i], y[i]) x[i] = a + b * c end",
      "local p, q, r = changed, bump(2.0) y[1], y[2], y[3] = p, q, r return p, bump(q)",
      "local p, q, r = x[1], bump(2.0) y[1], y[2], y[3] = p, q, r return x[1], changed, bump(q)",
      "x[steps + 2], y[1] = bump(2.0) y[steps + 1] = bump(1.0) y[3], x[4] = changed, bump(1.0)",
      "for i = steps + 1, step(2) do y[i] = i + 0.5 end bump(2.0) for i = steps, n do y[i] = steps + 0.5 end",
      "local k, v = find(2.0) y[1] = v return k, find(1e9)",
      "store(turned(x[1], x[2])) stored(x[3]) stored(x[4]) return stored(x[5])",
      "local t = {} for i = 1, n do local a, b = order(x[i], y[i]) t[#t + 1] = a t[#t + 1] = b end "
        .. "return t, least(x[1], 2.0)",
      "local a = divided(x[1], n - 3) y[1] = a + divided(x[2], 2)",
      "local a, b = x[1], x[2] a, b = b, a + b a, b = order(b, a) return a, b",
      "if n > 100 then return order(1.0, 2.0) elseif x[1] < -9 then return changed, 0.5 end "
        .. "return cmul(x[1], x[2], x[3], x[4])",
    } do
      local whole = with_helpers(text)
      local in_lua, compiled = load("return " .. whole)(), assert(loops.compile(whole, { device = device }))
      for _, run in ipairs { function(f) return f() end, everywhere } do
        local expected = { vector(12, function(i) return i * 0.75 - 2 end),
          vector(12, function(i) return 3.0 - i end), 6 }
        local got = copies.of(expected)
        local own = table.pack(in_lua(table.unpack(expected)))
        local found = table.pack(run(function() return true, compiled(table.unpack(got)) end))
        assert.same(own, table.pack(table.unpack(found, run == everywhere and 3 or 2, found.n)), text)
        for i, value in ipairs(own) do assert.equal(math.type(value), math.type(found[found.n - own.n + i])) end
        assert.same(expected, got, text)
      end
    end
  end)

  it("store in an array that is read before under another name, as two arguments may be one array", function()
    for _, text in ipairs {
      "for i = 1, n do local a, b = x[1], f(x[i]) z[i] = a * 10 + b end",
      "for i = 1, n do z[i], z[1] = x[1], f(x[i]) end", "return x[1], f(7.0)",
    } do
      local whole = ("function(x, y, z, n) local function f(u) y[1] = u return u + 1 end %s end"):format(text)
      local in_lua, compiled = load("return " .. whole)(), assert(loops.compile(whole, { device = device }))
      for _, run in ipairs { function(f) return f() end, everywhere } do
        local expected, got = { 1.5, -2.0, 0.25, 3.0, -0.5 }, { 1.5, -2.0, 0.25, 3.0, -0.5 }
        local z, found = vector(5, function() return 0.5 end), vector(5, function() return 0.5 end)
        local own = { in_lua(expected, expected, z, 5) }
        local results
        run(function() results = { compiled(got, got, found, 5) } return true end)
        assert.same({ own, expected, z }, { results, got, found }, text)
      end
    end
  end)

  it("raise what Lua raises in a number that nobody takes", function()
    local compiled = assert(loops.compile(with_helpers "for i = 1, n do local a = divided(x[i], n - i) y[i] = a end",
      { device = device }))
    local x, y = vector(12, function(i) return i + 0.5 end), vector(12, function() return 0.5 end)
    local ok, message = everywhere(function() return compiled(x, y, 6) end)
    assert.is_false(ok)
    assert.matches("attempt to divide by zero", message, 1, true)
  end)

  it("share out sums of numbers that come together", function()
    local compiled = assert(loops.compile(function(x, y, n)
      local function add(ar, ai, br, bi) return ar + br, ai + bi end
      local sr, si = 0.0, 0.0
      for i = 1, n do sr, si = add(sr, si, x[i], y[i]) end
      return sr, si
    end, { device = device, reduce = "tree", force = true }))
    local x, y = vector(900, function(i) return i + 0.0 end), vector(900, function(i) return i * 2.0 end)
    assert.same({ 405450.0, 810900.0 }, { compiled(x, y, 900) })
    assert.matches("sum in si %(line %d+%), sum in sr %(line %d+%); shared out", compiled:explain())
  end)
end)
