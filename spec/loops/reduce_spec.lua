-- SPDX-License-Identifier: MIT
--- With reduce = "tree" loops that are sequential only for sums, products, minima and maxima run on a device, and give
--- what they give in Lua: integers and extremes the same, sums of floats within the bounds of rounding.

local helper = require "spec.helper"
local loops = require "clcompute.loops"
local random_reductions = require "spec.support.random_reductions"
local launchers = require "clcompute.loops.runtime.launchers"

local huge, nan = math.huge, 0 / 0

local SIZES = { 0, 1, 2, 3, 7, 64, 65, 10007 }

local function sizes_of(device)
  return helper.is_simulator(device) and { 0, 1, 2, 7, 65, 300 } or SIZES
end

local function compile(f, device, options)
  local all = { device = device, force = true, reduce = "tree" }
  for key, value in pairs(options or {}) do all[key] = value end
  return assert(loops.compile(f, all))
end

local function list_of(count, element)
  local list = {}
  for i = 1, count do list[i] = element(i) end
  return list
end

local function real() return 2 * math.random() - 1 end
local function integer() return math.random(-1000, 1000) end
local function wide() return math.random(0) end -- all 64 bits: sums and products wrap

local function copy(value)
  if type(value) ~= "table" then return value end
  local list = {}
  for i, item in ipairs(value) do list[i] = copy(item) end
  return list
end

local function copies(values)
  local list = {}
  for i, value in ipairs(values) do list[i] = copy(value) end
  return list
end

local function same(a, b)
  return a == b or a ~= a and b ~= b
end

local function assert_same(expected, got, place)
  if type(got) ~= "table" then
    return assert(same(expected, got), ("%s is %s, in Lua %s"):format(place, got, expected))
  end
  for i, item in ipairs(got) do assert_same(expected[i], item, ("%s[%d]"):format(place, i)) end
end

--- Runs a function in Lua and compiled, on tables, and compares all arrays for equality.
local function check_compiled(compiled, f, values)
  local expected, got = copies(values), copies(values)
  f(table.unpack(expected))
  compiled(table.unpack(got))
  for i in ipairs(values) do assert_same(expected[i], got[i], "argument " .. i) end
end

local compiled_of = {} -- by device and function

--- That of a function compiled once for all sizes; returns what was compiled.
local function check(f, device, values)
  local of_device = compiled_of[device] or {}
  compiled_of[device] = of_device
  of_device[f] = of_device[f] or compile(f, device)
  check_compiled(of_device[f], f, values)
  return of_device[f]
end

--- Compares random functions with Lua, on sizes up to the largest; half of them at least are launched.
local function check_random(count, text_of, largest, compile_text)
  local launches = 0
  for _ = 1, count do
    local seed = math.random(1 << 30)
    math.randomseed(seed)
    local text = text_of()
    local values = random_reductions.arguments(math.random(0, largest))
    local expected, got = copies(values), copies(values)
    local compiled = compile_text(text)
    assert(load("return " .. text))()(table.unpack(expected))
    compiled(table.unpack(got))
    for i in ipairs(values) do
      assert_same(expected[i], got[i], ("seed %d\n%s\nargument %d"):format(seed, text, i))
    end
    launches = launches + compiled:stats().launches
  end
  assert.is_true(launches >= count // 2, "few were launched")
end

--- Asserts that a sum of so many numbers, whose absolute values have such a sum, is as near to another order's as
-- rounding allows: each order is off by at most (count) units of it.
local function assert_near(expected, got, count, absolute, unit)
  local bound = 2.0 * (count + 2) * unit * absolute
  assert(math.abs(expected - got) <= bound, ("%s is off %s by more than %s"):format(got, expected, bound))
end

-- --- nests --------------------------------------------------------------------------------

local function sum(x, out, n)
  local s = 0.5
  for i = 1, n do s = s + x[i] end
  out[1] = s
end

local function dot(x, y, out, n)
  for i = 1, n do out[1] = out[1] + x[i] * y[i] end
end

local function all_of_integers(x, out, n)
  local s, t, p, least, most = 3, 0, 5, 17, -17
  for i = 1, n do
    s = s + x[i]
    t = t - 3 * x[i] + i
    p = p * x[i]
    least = math.min(least, x[i])
    most = math.max(x[i], most)
  end
  for i = 1, n do out[3] = math.max(out[3], x[i]) end
  for i = n, 1, -2 do out[4] = x[i] + out[4] end
  out[5] = s
  out[6] = t
  out[7] = p
  out[8] = least
  out[9] = most
end

local function explained(f, options)
  local all = { reduce = "tree" }
  for key, value in pairs(options or {}) do all[key] = value end
  return assert(loops.compile(f, all)):explain()
end

-- --- what is recognised -------------------------------------------------------------------

describe("reductions", function()
  it("are recognised only if they are asked for", function()
    local text = assert(loops.compile(sum)):explain()
    assert.truthy(text:find("sequential: s (line", 1, true), text)
    assert.truthy(assert(loops.compile(sum, { force = true })):source():find("no loop is parallel", 1, true))
    assert.truthy(explained(sum):find("reduction: sum in s (line", 1, true))
    assert.equal(assert(loops.compile(sum)):explain(), assert(loops.compile(sum, { reduce = "sequential" })):explain())
  end)

  for what, f in pairs {
    ["sum in s"] = function(x, out, n) local s = 0.0 for i = 1, n do s = x[i] * 2.0 + s + i end out[1] = s end,
    ["sum in y[1]"] = function(x, y, n) for i = 1, n do y[1] = y[1] - x[i] end y[2] = 0.0 end,
    ["product in y[2]"] = function(x, y, n) for i = 1, n do y[2] = y[2] * (x[i] + 1.0) end end,
    ["minimum in m"] = function(x, out, n) local m = 9.0 for i = 1, n do m = math.min(m, x[i], 3.0) end out[1] = m end,
    ["maximum in m"] = function(x, out, n) local m = 9.0 for i = 1, n do m = math.max(x[i], m) end out[1] = m end,
    ["maximum in most"] = function(x, out, n)
      local most = 0
      for i = 1, n do if x[i] > most then most = x[i] end end
      out[1] = most
    end,
    ["minimum in least"] = function(x, out, n)
      local least = x[1]
      for i = 1, n do if least > x[i] * 2.0 then least = x[i] * 2.0 end end
      out[1] = least
    end,
    ["minimum in y[1]"] = function(x, y, n) for i = 1, n do y[1] = x[i] < y[1] and x[i] or y[1] end end,
    ["maximum in y[1]"] = function(x, y, n)
      local function larger(u, v) return u < v and v or u end
      for i = 1, n do y[1] = larger(x[i] * x[i], y[1]) end
    end,
    ["sum in y[3]"] = function(x, y, n)
      local function squared(u, v) return u + v * v end
      for i = 1, n do y[3] = squared(y[3], x[i] - 0.5) end
    end,
    ["sum in y[n + 1]"] = function(x, y, n) for i = 1, n do if x[i] > 0.5 then y[n + 1] = y[n + 1] + 1.0 end end end,
  } do
    it("are recognised: " .. what, function()
      local text = explained(f)
      assert.truthy(text:find("reduction: " .. what .. " (line", 1, true), text)
    end)
  end

  for what, f in pairs {
    ["a prefix sum"] = function(_, y, n) for i = 2, n do y[i] = y[i - 1] + y[i] end end,
    ["x in e"] = function(x, out, n) local s = 0.0 for i = 1, n do s = s + x[i] * s end out[1] = s end,
    ["x twice"] = function(x, out, n) local s = 0.0 for i = 1, n do s = s + s + x[i] end out[1] = s end,
    ["x read by another statement"] = function(x, out, n)
      local s = 0.0
      for i = 1, n do s = s + x[i] out[i] = s end
    end,
    ["x in a condition"] = function(x, out, n)
      local s = 0.0
      for i = 1, n do if s < 3.0 then s = s + x[i] end end
      out[1] = s
    end,
    ["x written by another statement"] = function(x, out, n)
      local s = 0.0
      for i = 1, n do
        s = s + x[i]
        if x[i] > 2.0 then s = 0.5 end
      end
      out[1] = s
    end,
    ["two operators on one x"] = function(x, out, n)
      local s = 0.0
      for i = 1, n do s = s + x[i] s = s * 2.0 end
      out[1] = s
    end,
    ["two operators in one statement"] = function(x, out, n)
      local s = 0.0
      for i = 1, n do s = (s + x[i]) * 2.0 end
      out[1] = s
    end,
    ["e - x"] = function(x, out, n) local s = 0.0 for i = 1, n do s = x[i] - s end out[1] = s end,
    ["x / e"] = function(x, out, n) local s = 1.0 for i = 1, n do s = s / x[i] end out[1] = s end,
    ["an x that e may be"] = function(_, y, n) for i = 1, n do y[1] = y[1] + y[i] end end,
    ["an x that changes"] = function(x, y, n) for i = 2, n do y[i // 2] = y[i // 2] + x[i] end end,
    ["a comparison that takes equals"] = function(x, out, n)
      local m = 0.0
      for i = 1, n do if x[i] >= m then m = x[i] end end
      out[1] = m
    end,
    ["the place of a maximum"] = function(x, out, n)
      local m, at = x[1], 1
      for i = 1, n do if x[i] > m then m = x[i] at = i end end
      out[1] = m
      out[2] = at
    end,
    ["a comparison with something else"] = function(x, out, n)
      local m = 0.0
      for i = 1, n do if x[i] > 0.5 then m = x[i] end end
      for i = 1, n do if x[i] > m then m = -x[i] end end
      for i = 1, n do if x[i] > m then m = x[i] else m = m * 0.5 end end
      out[1] = m
    end,
    ["a function of x twice"] = function(x, out, n)
      local function twice(v) return v + v end
      local s = 0.0
      for i = 1, n do s = twice(s) + x[i] end
      out[1] = s
    end,
  } do
    it("are not recognised: " .. what, function()
      local text = explained(f)
      assert.falsy(text:find("reduction:", 1, true), text)
    end)
  end

  it("of narrow integers are extremes only of the same kind", function()
    local function extreme(x, y, n) for i = 1, n do y[1] = math.max(y[1], x[i]) end end
    local device = helper.device()
    for dtype, is_found in pairs { int = true, long = false } do
      local compiled = compile(extreme, device)
      compiled(device:buffer({ 1, 2 }, dtype), device:buffer({ 1, 2 }, "int"), 2)
      assert.equal(is_found, compiled:explain():find("reduction:", 1, true) ~= nil)
    end
  end)

  it("leave elements that are known to be others to be used", function()
    local text = explained(function(x, y, n)
      for i = 1, n do
        y[1] = y[1] + x[i]
        y[2] = y[2] + x[i] * y[3]
      end
    end)
    assert.truthy(text:find "sum in y%[1%] %(line %d+%), sum in y%[2%] %(line %d+%); shared out", text)
  end)

  it("stay in a work-item where a loop around is parallel", function()
    local text = explained(function(A, B, C, n)
      for i = 1, n do
        for j = 1, n do
          local s = 0.0
          for k = 1, n do s = s + A[i][k] * B[k][j] end
          C[i][j] = s
        end
      end
    end)
    assert.truthy(text:find("sequential in a work-item, as loops around are shared out", 1, true), text)
    assert.truthy(text:find("work-items (j, i)", 1, true), text)
    assert.falsy(text:find("reduces", 1, true), text)
  end)

  it("leave the work to parallel loops within", function()
    local text = explained(function(A, x, y, n)
      for i = 1, n do
        y[1] = y[1] + x[i]
        for j = 1, n do A[i][j] = x[j] end
      end
    end)
    assert.truthy(text:find("sequential, as loops in it are parallel", 1, true), text)
    assert.truthy(text:find("loop on the host over i", 1, true), text)
  end)

  it("are as docs/compiler.md shows them", function()
    local file <close> = assert(io.open "docs/compiler.md")
    local page = file:read "a":match "\n## Reductions\n(.*)"
    local compiled = compile(page:match "```lua\n(.-)```", helper.device())
    compiled({ 1.0 }, { 1.0 }, { 1.0, 1.0 }, 1)
    local function assert_holds(text, block)
      for line in block:gmatch "%s*([^\n]+)" do assert.truthy(text:find(line, 1, true), line .. "\n" .. text) end
    end
    assert_holds(compiled:explain():gsub(" +", " "), (page:match("\n```\n( *3: .-)```"):gsub(" +", " ")))
    assert_holds(compiled:source(), page:match "```c\n(.-)```")
    assert_holds(compiled.state.latest.spec.host_text, page:match "```lua\n(local reduction.-)```")
  end)

  it("say what is not as in Lua", function()
    local text = explained(function(x, out, n)
      for i = 1, n do
        out[1] = out[1] + x[i]
        out[2] = math.min(x[i], out[2])
      end
    end)
    assert.truthy(text:find("put together in another order than Lua's", 1, true), text)
    assert.truthy(text:find("leave out NaN", 1, true), text)
    assert.truthy(text:find("arithmetic: exact, as in Lua\n", 1, true), text)
    text = explained(function(x, out, n)
      for i = 1, n do out[1] = out[1] + math.sin(x[i]) end
    end)
    assert.truthy(text:find("as in Lua; except math.sin, whose last digits may differ", 1, true), text)
  end)
end)

-- --- what they give -----------------------------------------------------------------------

helper.describe_each("reduce = 'tree'", function(device)
  it("gives sums of floats within the bounds of rounding", function()
    local compiled, compiled_dot = compile(sum, device), compile(dot, device)
    for _, n in ipairs(sizes_of(device)) do
      local x, y, out, absolute = list_of(n, real), list_of(n, real), { 0.0 }, 0.5
      for i = 1, n do absolute = absolute + math.abs(x[i]) end
      sum(x, out, n)
      local expected = out[1]
      compiled(x, out, n)
      assert_near(expected, out[1], n, absolute, helper.unit.double)
      out[1], expected, absolute = 0.25, { 0.25 }, 0.25
      for i = 1, n do absolute = absolute + math.abs(x[i] * y[i]) end
      dot(x, y, expected, n)
      compiled_dot(x, y, out, n)
      assert_near(expected[1], out[1], 2 * n, absolute, helper.unit.double)
    end
    assert.is_true(compiled:stats().launches > 0 and compiled_dot:stats().launches > 0)
  end)

  for _, mode in ipairs { "exact", "fast" } do
    it("gives sums of buffers of floats, mode " .. mode, function()
      local compiled = compile(dot, device, { mode = mode })
      for _, n in ipairs(sizes_of(device)) do
        local x, y = device:buffer(list_of(n + 1, real), "float"), device:buffer(list_of(n + 1, real), "float")
        local a, b, expected, absolute = x:read(), y:read(), 0.25, 0.25
        for i = 1, n do
          expected, absolute = expected + a[i] * b[i], absolute + math.abs(a[i] * b[i])
        end
        local out = device:buffer({ 0.25, 7.0 }, "float")
        compiled(x, y, out, n)
        assert_near(expected, out:read()[1], n + 1, absolute, helper.unit.float)
        assert.equal(7.0, out:read()[2])
      end
    end)
  end

  it("gives integers as they are in Lua, also where they wrap", function()
    for _, n in ipairs(sizes_of(device)) do
      for _, element in ipairs { integer, wide } do
        check(all_of_integers, device, { list_of(n, element), { 1, 2, 3, 4, 5, 6, 7, 8, 9 }, n })
      end
    end
  end)

  it("gives sums and products of narrow integers", function()
    local function f(x, y, n)
      for i = 1, n do y[1] = y[1] + x[i] * 1000 end
      for i = 1, n do y[2] = y[2] * x[i] end
      for i = 1, n do y[3] = math.min(y[3], x[i]) end
    end
    local lengths = { char = 8, ushort = 16, int = 32, uint = 32 }
    if not helper.is_simulator(device) then lengths = helper.long(lengths) or { char = 8, uint = 32 } end
    for dtype, bits in pairs(lengths) do
      local n, compiled = 65, compile(f, device)
      local x, y = list_of(n, function() return 2 * math.random(0, 50) + 1 end), { 1, 3, 90 }
      local bx, by = device:buffer(x, dtype), device:buffer(y, dtype)
      compiled(bx, by, n)
      f(x, y, n)
      for i, got in ipairs(by:read()) do assert.equal(y[i] & (1 << bits) - 1, got & (1 << bits) - 1, dtype) end
    end
  end)

  it("gives minima and maxima of floats, also of infinities", function()
    local function f(x, out, n)
      local least, most = 0.25, -huge
      for i = 1, n do
        least = math.min(least, x[i])
        most = math.max(x[i], most)
      end
      for i = 1, n do out[1] = math.max(out[1], 2.0 * x[i]) end
      out[2] = least
      out[3] = most
    end
    for _, n in ipairs(sizes_of(device)) do
      local x = list_of(n, real)
      check(f, device, { x, { -0.5, 0.0, 0.0 }, n })
      if n > 2 then
        x[1], x[n] = huge, -huge
        check(f, device, { x, { -0.5, 0.0, 0.0 }, n })
      end
    end
  end)

  it("treats NaN as math.min(x, e) does", function()
    local function f(x, out, n)
      local m = out[1]
      for i = 1, n do m = math.min(m, x[i]) end
      for i = 1, n do out[2] = math.max(out[2], x[i]) end
      out[1] = m
    end
    for _, initial in ipairs { 0.5, nan, huge, -huge } do
      for _, all in ipairs { false, true } do
        local x = list_of(65, function(i) return (all or i % 3 == 0) and nan or real() end)
        check(f, device, { x, { initial, initial }, 65 })
      end
    end
  end)

  it("gives what comparisons keep as they do, NaN too", function()
    local function f(x, q, out, n)
      local m, least = out[1], 0
      for i = 1, n do if x[i] > m then m = x[i] end end
      for i = 1, n do out[2] = x[i] < out[2] and x[i] or out[2] end
      for i = 1, n do if q[i] < least then least = q[i] end end
      out[1] = m
      out[3] = least
    end
    for _, n in ipairs(sizes_of(device)) do
      for _, rare in ipairs { huge, 3, 1 } do
        local x = list_of(n, function(i) return i % rare == 0 and nan or real() end)
        check(f, device, { x, list_of(n, integer), { 0.25, nan, 0.0 }, n })
      end
    end
  end)

  it("leaves NaN out of math.min(e, x), and takes the rest", function()
    local function f(x, out, n) for i = 1, n do out[1] = math.max(x[i], out[1]) end end
    local out = { 0.25 }
    compile(f, device)({ nan, 3.0, nan, 0.5, nan }, out, 5)
    assert.equal(3.0, out[1])
  end)

  it("keeps the sign of a sum of zeros, and of x where there is nothing to add", function()
    local function f(x, out, n) for i = 1, n do out[1] = out[1] + x[i] end end
    for _, n in ipairs { 0, 1, 9 } do
      local out = { -0.0 }
      compile(f, device)(list_of(n, function() return -0.0 end), out, n)
      assert.equal(-huge, 1 / out[1])
    end
  end)

  it("reduces rows one after the other where the loop over them is sequential", function()
    local function f(A, x, y, n, m)
      for i = 2, n do
        for j = 1, m do y[i] = y[i] + A[i][j] * x[j] end
        for j = 1, m do y[i] = y[i] - A[i][j] * y[i - 1] end
      end
    end
    local function eighth() return math.random(-8, 8) / 8 end
    for _, m in ipairs { 0, 1, 7, 65 } do
      local A = list_of(3, function() return list_of(m, eighth) end)
      if m > 0 then -- a matrix of no columns is no matrix
        local compiled = check(f, device, { A, list_of(m, eighth), { 1.0, 0.5, 0.25 }, 3, m })
        assert.truthy(compiled:explain():find("loop on the host over i", 1, true))
        assert.truthy(compiled:explain():find("reduces, work-items share (j)", 1, true))
      end
    end
  end)

  it("shares out two loops of one sum, whatever their order and shape", function()
    local function square(A, out, n, m)
      local s = 10
      for i = 1, n do for j = 1, m do s = s + A[i][j] end end
      for j = 1, m do for i = n, 1, -1 do out[1] = out[1] - A[i][j] end end
      out[2] = s
    end
    local function triangles(A, out, n)
      local s, most = 0, -1
      for i = 1, n do
        for j = i, n do
          s = s + A[i][j]
          most = math.max(most, A[j][i])
        end
      end
      for i = n, 1, -1 do for j = 1, i - 1, 2 do out[1] = out[1] + A[i][j] end end
      for i = 1, n do for j = i + 1, n do for k = j, n, 3 do out[4] = out[4] + A[i][j] * A[j][k] end end end
      out[2] = s
      out[3] = most
    end
    for _, shape in ipairs { { 1, 1 }, { 1, 65 }, { 65, 1 }, { 3, 7 }, { 33, 31 } } do
      local n, m = shape[1], shape[2]
      local A = list_of(n, function() return list_of(m, integer) end)
      local compiled = check(square, device, { A, { 5, 0 }, n, m })
      assert.truthy(compiled:explain():find("reduces, work-items share (j, i)", 1, true), compiled:explain())
    end
    for _, n in ipairs { 1, 2, 3, 7, 20 } do
      check(triangles, device, { list_of(n, function() return list_of(n, integer) end), { 1, 2, 3, 4 }, n })
    end
  end)

  it("reduces in a nest what loops in its work-items compute", function()
    check(function(A, out, n)
      local s = 1
      for i = 1, n do
        local t = 0
        for j = 1, i do t = t + A[i][j] end
        if t > 0 then s = s + t * t end
      end
      out[1] = s
    end, device, { list_of(21, function() return list_of(21, integer) end), { 0 }, 21 })
  end)

  it("writes the arrays of its loops beside", function()
    check(function(x, y, out, n)
      for i = 1, n do
        y[i] = 2.0 * x[i]
        out[1] = math.max(out[1], x[i] + i)
      end
    end, device, { list_of(65, real), list_of(65, real), { -9.0, 1.0 }, 65 })
  end)

  it("counts from 0 if told so", function()
    local function f(x, y, n) for i = 0, n - 1 do y[1] = y[1] + x[i] end end
    local function zero_based() return { [0] = 3, 1, 4, 1, 5 }, { [0] = 7, 2, 8 } end
    local x, y = zero_based()
    compile(f, device, { base = 0 })(x, y, 5)
    assert.same({ [0] = 7, 16, 8 }, y)
  end)

  it("works on views", function()
    local buffer = device:buffer(list_of(200, function(i) return i end), "long")
    local out = device:buffer({ 1, 2 }, "long")
    compile(dot, device)(buffer:view(4, 103), buffer:view(101, 200), out, 100)
    local expected = 1
    for i = 1, 100 do expected = expected + (i + 3) * (i + 100) end
    assert.same({ expected, 2 }, out:read())
  end)

  it("shares out the rows of a matrix one by one where they are few and long, on a GPU", function()
    local function rows(A, x, y, z, n, m)
      for i = 1, n do
        local s = 1
        for k = 1, m do s = s + A[i][k] * x[k] end
        y[i] = s
      end
      for i = n, 1, -1 do for k = 1, m do z[i] = z[i] - A[i][k] end end
    end
    local m = 1 << 14
    local A, x = device:empty("long", 2, m), device:empty("long", m)
    local values = { list_of(m, wide), list_of(m, wide) }
    A:write(values)
    x:write(values[1])
    local compiled, y, z = compile(rows, device), device:buffer({ 0, 0 }, "long"), device:buffer({ 5, 6 }, "long")
    compiled(A, x, y, z, 2, m)
    local expected, other = { 0, 0 }, { 5, 6 }
    rows(values, values[1], expected, other, 2, m)
    assert.same(expected, y:read())
    assert.same(other, z:read())
    assert.equal(device.type == "cpu" and 2 or 6, compiled:stats().launches)
    assert.truthy(compiled:explain():find("or, where on a GPU i has at most 8 passes and k 16384 or more:", 1, true))
    local few = compiled:stats().launches
    compiled(A, x, y, z, 2, m - 1)
    assert.equal(few + 2, compiled:stats().launches)
    assert.truthy(compiled:explain():find("nest_1: device: launches: 1", 1, true), compiled:explain())
  end)

  it("gives the same bits at every call, also by a remembered one", function()
    local n = sizes_of(device)[#sizes_of(device)]
    local x, y = device:buffer(list_of(n, real), "double"), device:buffer(list_of(n, real), "double")
    local compiled, out, first = compile(dot, device), device:buffer({ 0.0 }, "double"), nil
    for _ = 1, 5 do
      out:write { 0.0 }
      compiled(x, y, out, n)
      first = first or out:read()[1]
      assert.equal(first, out:read()[1])
    end
    local other = device:buffer({ 0.0 }, "double")
    compile(dot, device)(x, y, other, n)
    assert.equal(first, other:read()[1])
  end)

  it("counts as many launches before a call as the call makes", function()
    for _, f in ipairs { sum, dot } do
      local x, y, out = { 1.0, 2.0 }, { 3.0, 4.0 }, { 0.0 }
      local compiled = compile(f, device)
      if f == sum then compiled(x, out, 2) else compiled(x, y, out, 2) end
      local expected = ("nest_1: device: force = true; launches: %d,"):format(compiled:stats().launches)
      assert.truthy(compiled:explain():find(expected, 1, true), compiled:explain())
    end
  end)

  it("runs by every heuristic, and in Lua until it pays", function()
    local x = list_of(100, integer)
    for _, options in ipairs { { heuristics = "none" }, { heuristics = "paper" }, { heuristics = "model" } } do
      options.device, options.reduce = device, "tree"
      local compiled, expected, got = assert(loops.compile(sum, options)), { 0.0 }, { 0.0 }
      sum(x, expected, 100)
      compiled(x, got, 100)
      assert.equal(expected[1], got[1])
      assert.equal(options.heuristics == "none" and 1 or 0, compiled:stats().launches)
    end
    local compiled = compile(sum, device, { force = false })
    compiled(x, { 0.0 }, 100)
    assert.equal(0, compiled:stats().launches)
  end)

  it("takes groups of any power of 2, and any number of them", function()
    local own = launchers.reduction_shape
    finally(function() launchers.reduction_shape = own end)
    local shapes = { { 1, 37 }, { 2, 1 }, { 8, 3 }, { 64, 37 }, { 256, 1 }, { 256, 3 } }
    if not helper.is_simulator(device) then shapes = helper.long(shapes) or { { 1, 37 }, { 8, 3 }, { 256, 1 } } end
    for _, shape in ipairs(shapes) do
      local lanes, groups = table.unpack(shape)
      launchers.reduction_shape = function() return { lanes = lanes, groups = groups } end
      local compiled = compile(all_of_integers, device)
      for _, n in ipairs { 1, 7, 130 } do
        check_compiled(compiled, all_of_integers, { list_of(n, wide), { 1, 2, 3, 4, 5, 6, 7, 8, 9 }, n })
      end
    end
  end)

  it("gives for random nests what Lua gives", function()
    local is_slow = helper.is_simulator(device)
    check_random(helper.long(60) or is_slow and 12 or 6, random_reductions.text, is_slow and 6 or 12,
      function(text) return compile(text, device) end)
  end)
end)

-- --- passes of a work-group ---------------------------------------------------------------------

local function rows(a, x, y, n)
  for i = 1, n do
    local s = 0.25
    for j = 1, n do s = s + a[i][j] * x[j] end
    y[i] = s
  end
end

local function columns(a, x, y, n)
  for i = 1, n do
    for j = 1, n do y[i] = y[i] + a[j][i] * x[j] end
  end
end

local function softmax(a, y, n)
  for i = 1, n do
    local most = a[i][1]
    for j = 2, n do most = math.max(most, a[i][j]) end
    local s = 0.0
    for j = 1, n do
      a[i][j] = a[i][j] - most
      s = s + a[i][j]
    end
    for j = 1, n do a[i][j] = a[i][j] / s end
    if s < -9.0 then y[i] = s else y[i] = 1.0 end
  end
end

local function triangle(a, y, n)
  for i = 1, n do
    for j = i + 1, n do y[i] = y[i] + a[i][j] end
  end
end

local function above(a, y, n)
  for i = 1, n do
    local most = y[i]
    for j = i + 1, n do most = math.max(a[i][j], most) end
    y[i] = most
  end
end

local function scaled(a, y, n)
  for i = 1, n do
    local s = 0.0
    for j = 1, n do s = s + a[j][i] end
    for j = 1, n do a[j][i] = a[j][i] * 2.0 + 1.0 end
    y[i] = s
  end
end

local function behind(a, y, n, m)
  for j = 1, n do
    if j > n - m then y[1] = math.max(a[j][1], y[1]) end
  end
end

local function doubly(a, y, n, m)
  for i = 1, n do
    for j = 1, n do
      for k = 1, m do y[i] = math.max(a[j][k], y[i]) end
    end
  end
end

helper.describe_each("passes that a work-group shares", function(device) -- of one work-item on processors
  local WIDE = { slices = 8, terms = 1 }
  for name, number in pairs(helper.WIDE) do WIDE[name] = number end

  local function grouped(f) return compile(f, device, { target = "gpu", tiles = WIDE }) end

  local function eighths(count) return list_of(count, function() return math.random(-16, 16) / 8 end) end

  local function matrix(n) return list_of(n, function() return eighths(n) end) end

  it("give what Lua gives", function()
    for _, n in ipairs { 1, 7, 8, 33, 65 } do
      for _, f in ipairs { rows, columns } do
        check_compiled(grouped(f), f, { matrix(n), eighths(n), eighths(n), n })
      end
      check_compiled(grouped(softmax), softmax, { matrix(n), eighths(n), n })
    end
  end)

  it("store nothing where a loop has no pass", function()
    local compiled = grouped(triangle)
    for _, n in ipairs { 2, 9, 40 } do -- y has no element for the last one
      check_compiled(compiled, triangle, { matrix(n), eighths(n - 1), n })
    end
  end)

  it("keep NaN where a loop has no pass", function()
    local compiled = grouped(above)
    for _, n in ipairs { 2, 9, 40 } do
      local y = eighths(n)
      y[n] = nan
      check_compiled(compiled, above, { matrix(n), y, n })
    end
  end)

  it("change elements once where passes side by side are more than there are", function()
    local compiled = grouped(scaled)
    for _, n in ipairs { 1, 31, 33, 41 } do
      check_compiled(compiled, scaled, { matrix(n), eighths(n), n })
    end
    assert.truthy(compiled:source():find("nest_1_group(", 1, true))
  end)

  it("store nothing where no pass comes to an element, which may not be there", function()
    for m, y in pairs { [0] = list_of(9, function() return nan end), [9] = eighths(9) } do
      for _, f in ipairs { doubly, behind } do check_compiled(grouped(f), f, { matrix(9), y, 9, m }) end
    end
  end)

  it("are named in explain, by how elements lie", function()
    local function way(f) return explained(f, { target = "gpu" }):match "nest_1, line %d+: ([^;]*)" end
    assert.equal("work-items (i), or a work-group for each pass", way(rows))
    assert.equal("work-items (i), or a work-group for passes side by side", way(columns))
    assert.truthy(explained(softmax, { target = "gpu" }):find("or shared by those of a group", 1, true))
    assert.equal("work-items (i)", way(function(a, y, n) -- a loop that is neither parallel nor a reduction
      for i = 1, n do
        for j = 2, n do a[i][j] = a[i][j - 1] * y[i] + y[i] end
      end
    end))
  end)

  it("have as many work-items as there are passes for, and as the device needs", function()
    local nest = { name = "nest", grouped = { by_rows = true } }
    local gpu, size = { type = "gpu", compute_units = 4, local_memory = 48 * 1024 }, 1024
    local program = { kernel = function(_, name)
      return { name = name, info = function() return { group_size = size } end }
    end }
    local function slices(by_rows, given, ...)
      nest.grouped.by_rows = by_rows
      local kernel, range = launchers.grouped(nest, program, given, { slices = 128, terms = 4 }):share(...)
      assert.equal(range and "nest_group" or "nest", kernel.name)
      return range and range.group[2]
    end
    assert.equal(128, slices(true, gpu, 1000, 10))
    assert.equal(64, slices(true, gpu, 300, 10))
    assert.equal(32, slices(true, gpu, 1000, 100000))
    assert.equal(nil, slices(true, gpu, 100, 10))
    assert.equal(nil, slices(true, gpu, -3, 10))
    assert.equal(16, slices(false, gpu, 1000, 10, 10))
    assert.equal(2, slices(false, gpu, 1000, 7000))
    assert.equal(nil, slices(false, gpu, 1000, 100000))
    assert.equal(nil, slices(true, { type = "cpu", compute_units = 4, local_memory = 1 << 15 }, 1000, 10))
    size = 300 -- of this kernel
    assert.equal(8, slices(false, gpu, 1000, 10, 1, 1))
    assert.equal(128, slices(true, gpu, 1000, 10))
    size = 96
    assert.equal(64, slices(true, gpu, 1000, 10))
    size, nest.grouped.room = 1024, {} -- sums in Lua's order
    assert.equal(64, slices(true, gpu, 1000, 10))
    assert.equal(32, slices(true, gpu, 1000, 2048))
    assert.equal(nil, slices(true, gpu, 1000, 2049))
    assert.equal(16, slices(false, gpu, 1000, 10, 10))
    assert.equal(nil, slices(false, gpu, 1000, 2049))
    gpu.local_memory = 1 << 15
    assert.equal(8, slices(false, gpu, 1000, 10, 10))
  end)

  it("give for random passes what Lua gives", function()
    check_random(helper.long(60) or helper.is_simulator(device) and 10 or 5, random_reductions.passes, 20, grouped)
  end)
end)
