-- SPDX-License-Identifier: MIT
--- Sums in elements of which data say where they are, by a log: each element is Lua's to the last bit.

local copies = require "spec.support.copies"
local helper = require "spec.helper"
local loops = require "clcompute.loops"
local random_reductions = require "spec.support.random_reductions"
local scattered = require "clcompute.loops.runtime.scattered"
local scattered_sums = require "spec.support.scattered_sums"

local list_of = random_reductions.list_of
local any, values_of, in_loop, text_of = scattered_sums.any, scattered_sums.values_of, scattered_sums.in_loop,
  scattered_sums.text_of

local SIZE = 2300 -- passes, for which a log pays

local LOGGED = {
  in_loop "h[k[i]] = h[k[i]] + x[i]",
  in_loop "h[k[i]] = x[i] * 0.5 + h[k[i]]",
  in_loop "h[k[i]] = h[k[i]] - x[i]; h[l[i]] = h[l[i]] - (x[i] - x[i])",
  in_loop "local j = k[i]; c[j] = c[j] + 1; for m = 1, 4 do t[j][m] = t[j][m] + x[i] * m end; h[j] = h[j] + i",
  in_loop "if x[i] > 0.0 then h[k[i]] = h[k[i]] + x[i] elseif x[i] < -0.5 then h[l[i]] = h[l[i]] - x[i] end",
  in_loop "t[k[i]][l[i]] = t[k[i]][l[i]] - x[i]",
  in_loop "local s = 0.0; for m = 1, 3 do s = s + x[i] * m end; h[k[i]] = h[k[i]] + s",
  text_of "for s = 1, 3 do for i = 1, n do h[k[i]] = h[k[i]] + x[i] * s end end",
  text_of "for i = 1, n // 16 do for j = i, n // 8 do h[k[j]] = h[k[j]] + x[i] end end",
  text_of "for i = n, 1, -2 do h[k[i]] = h[k[i]] + x[i]; c[l[i]] = c[l[i]] - i * 3 end",
  text_of [=[for i = 1, n // 8 do
    for j = 1, i % 5 do h[k[i]] = h[k[i]] + x[j] end
    for j = i, n // 8, 16 do h[l[j]] = x[j] + h[l[j]] end
  end]=],
  in_loop "h[k[i]] = (h[k[i]] or 0) - x[i]",
}

-- Loops with few passes, around loops of many: a log for each pass.
local FEW = {
  text_of "for s = 1, 3 do local f = s * 0.5; for i = 1, n do h[k[i]] = h[k[i]] + x[i] * f end end",
  in_loop "for m = 1, 4 do t[k[i]][m] = t[k[i]][m] + x[i] * m end",
  text_of "for s = 1, 2 do for i = 1, n do h[k[i]] = h[k[i]] + x[i] end for i = 1, n do c[l[i]] = c[l[i]] - i end end",
}

-- What stays as it is: two sums in one statement, loops that data bound, and what is more than a sum.
local NOT_LOGGED = {
  in_loop "h[k[i]] = x[i] * 0.5 + h[k[i]] - 0.125",
  in_loop "for j = l[i], k[i] do h[j] = h[j] + x[i] end",
  in_loop "for m = 1, l[i] do for j = m, 4 do h[j] = h[j] + x[i] end end",
  table.unpack(scattered_sums.NO_SUMS),
}

helper.describe_each("a sum in a log", function(device)
  local own = scattered.logs
  local is_simulator = helper.is_simulator(device) -- elsewhere groups of one work-item do, as processors have them
  local gpu = { type = is_simulator and "gpu" or "cpu", compute_units = 8, global_memory = device.global_memory,
    empty = function(_, ...) return device:empty(...) end }
  local chunks, ranges

  setup(function()
    scattered.logs = function(nest, program, _, real)
      local sums = own(nest, program, gpu, real)
      local share = sums.share
      function sums.share(...)
        ranges, chunks = share(...)
        return ranges, chunks
      end
      return sums
    end
  end)

  teardown(function() scattered.logs = own end)

  before_each(function() chunks, ranges = 0, nil end)

  local function compile(f, given)
    local all = { device = device, force = true, target = "gpu" }
    for name, value in pairs(given or {}) do all[name] = value end
    return assert(loops.compile(f, all))
  end

  local function check(compiled, text, values)
    copies.check(compiled, text, values, ("n = %d"):format(values[7]))
  end

  it("is Lua's to the bit", function()
    for _, text in ipairs(LOGGED) do
      local compiled = compile(text)
      assert.matches("sums of [%w_, ]+ by a log, in Lua's order", compiled:explain(), text)
      for _, n in ipairs { 0, 1, 77, SIZE } do check(compiled, text, values_of(n, any)) end
      assert(ranges and chunks > 1, text)
    end
  end)

  it("is one for each of few passes around it, and one for all of many", function()
    for _, text in ipairs(FEW) do
      local compiled = compile(text)
      assert.matches("has 256 times as many passes as", compiled:explain(), text)
      for _, n in ipairs { 0, 77, SIZE } do check(compiled, text, values_of(n, any)) end
      assert(chunks > 1 or not is_simulator, text) -- elsewhere costs are a processor's
    end
    local summed = compile(text_of [=[for s = 1, 3 do
      local f = 0.0
      for i = 1, n do f = f + x[i] end
      for i = 1, n do h[k[i]] = h[k[i]] + f end
    end]=])
    assert.not_matches("loop on the host", summed:explain()) -- which would read x there
  end)

  it("is Lua's in elements of few bits: each sum is rounded", function()
    for _, mode in ipairs { "exact", "fast" } do
      local compiled = compile(LOGGED[1], { mode = mode })
      local got = copies.in_buffers(values_of(SIZE, any), device, "float")
      local expected = copies.read(got)
      for i = 1, SIZE do
        local place = expected[4][i]
        expected[1][place] = string.unpack("f", string.pack("f", expected[1][place] + expected[6][i]))
      end
      compiled(table.unpack(got))
      assert(copies.are_equal(expected, copies.read(got)), mode)
      assert(ranges, mode)
    end
  end)

  it("is the same where sizes of calls change, as the log grows", function()
    local compiled = compile(LOGGED[4])
    for _, n in ipairs { SIZE, 3 * SIZE, SIZE, 5, 2 * SIZE } do check(compiled, LOGGED[4], values_of(n, any)) end
    assert.is_true(chunks > 1)
  end)

  it("raises what Lua does, and adds nothing then", function()
    local compiled = compile(LOGGED[4])
    for _, fault in ipairs { 0, 21, math.mininteger } do
      local values = values_of(SIZE, any)
      values[4][SIZE - 7] = fault
      local before = copies.of(values)
      helper.raises(("(c[j]): index %d is outside of 1 .. 20"):format(fault), compiled, table.unpack(values))
      assert(copies.are_equal(before, values))
      assert.is_truthy(ranges)
    end
    check(compiled, LOGGED[4], values_of(SIZE, any))
  end)

  it("keeps signs of zero, NaN and infinity, and all that is for one element", function()
    local compiled, values = compile(LOGGED[1]), values_of(SIZE, any)
    values[1] = { -0.0, 0 / 0, math.huge, -0.0, -0.0, -math.huge }
    for i = 1, SIZE do values[4][i] = 4 end
    check(compiled, LOGGED[1], values)
    for i = 1, SIZE do values[4][i], values[6][i] = i % 6 + 1, -0.0 end
    check(compiled, LOGGED[1], values)
    assert.is_truthy(ranges)
  end)

  it("subtracts zeros from zeros as Lua does", function()
    for _, zero in ipairs { "x[i]", "0.0", "-0.0", "0", "(l[i] - l[i])", "(x[i] - x[i])" } do
      local text = in_loop(("h[k[i]] = h[k[i]] - %s"):format(zero))
      local compiled, values = compile(text), values_of(SIZE, any)
      values[1] = { -0.0, 0.0, -0.0, 0.0, -0.0 }
      for i = 1, SIZE do values[6][i] = i % 9 == 0 and -0.0 or 0.0 end
      check(compiled, text, values)
      assert(ranges, text)
    end
  end)

  it("goes in fewer chunks where there is less memory", function()
    local values = values_of(SIZE, any)
    values[1] = list_of(300, any)
    check(compile(LOGGED[1]), LOGGED[1], values)
    local many = chunks
    gpu.global_memory = 100000 * 16
    finally(function() gpu.global_memory = device.global_memory end)
    check(compile(LOGGED[1]), LOGGED[1], values)
    assert.is_true(ranges ~= nil and chunks < many)
  end)

  it("subtracts the least integer from floats as Lua does", function()
    local text = in_loop "h[k[i]] = h[k[i]] - l[i]"
    local compiled, values = compile(text), values_of(SIZE, any)
    for i = 1, SIZE, 3 do values[5][i] = math.mininteger end
    check(compiled, text, values)
    assert.is_truthy(ranges)
  end)

  it("goes to many elements by neighbours", function()
    local compiled, values = compile(LOGGED[1]), values_of(4 * SIZE, any)
    values[1] = list_of(300, any)
    values[4] = list_of(4 * SIZE, function() return math.random(300) end)
    check(compiled, LOGGED[1], values)
    assert.equal(is_simulator and 32 or 1, ranges.places.group[1])
    assert.equal(is_simulator and 32 or 1, ranges.result.group[1])
  end)

  it("is one work-item's where a log does not pay, or has no room", function()
    local compiled = compile(LOGGED[1])
    check(compiled, LOGGED[1], values_of(100, any))
    assert.is_nil(ranges)
    assert.equal(1, compiled:stats().launches)
    check(compiled, LOGGED[1], values_of(SIZE, any))
    assert.is_truthy(ranges)
    assert.equal(5, compiled:stats().launches)
    gpu.global_memory = 16 * SIZE
    finally(function() gpu.global_memory = device.global_memory end)
    local small = compile(LOGGED[1], { mode = "fast" })
    check(small, LOGGED[1], values_of(SIZE, scattered_sums.eighth))
    assert.is_nil(ranges)
  end)

  it("is not for other loops, for processors, or with the paper's heuristics", function()
    for _, text in ipairs(NOT_LOGGED) do
      local compiled = compile(text)
      check(compiled, text, values_of(33, any))
      assert.not_matches("by a log", compiled:explain(), text)
    end
    for _, given in ipairs { { target = "cpu" }, { heuristics = "paper" }, { reduce = "tree" } } do
      assert.not_matches("by a log", compile(LOGGED[1], given):explain())
    end
  end)

  it("is Lua's to the bit in random loops", function()
    local count, logged = helper.long(300) or 24, 0
    for _ = 1, count do
      local seed = math.random(1 << 30)
      math.randomseed(seed)
      local text, values = scattered_sums.random_loop(), values_of(math.random(0, 2 * SIZE), any)
      local place_of = ("seed %d\n%s"):format(seed, text)
      ranges = nil
      local expected, got = copies.of(values), copies.of(values)
      load("return " .. text)()(table.unpack(expected))
      compile(text)(table.unpack(got))
      assert(copies.are_equal(expected, got), place_of)
      logged = logged + (ranges and 1 or 0)
    end
    assert.is_true(logged >= count // 24, "few were logged: " .. logged)
  end)
end)
