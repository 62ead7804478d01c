-- SPDX-License-Identifier: MIT
--- Subscripts that say what they mean in a roundabout way, arrays that are one, and views of one buffer.

local copies = require "spec.support.copies"
local helper = require "spec.helper"
local loops = require "clcompute.loops"
local random_subscripts = require "spec.support.random_subscripts"
local shapes = require "spec.support.loop_shapes"

--- Compiles a random function for a random shape; returns it, what Lua makes of it, and what messages say of it.
local function random_function(device)
  local seed = math.random(1 << 30)
  math.randomseed(seed)
  local text, shape = random_subscripts.text(), shapes[math.random(#shapes)]
  local compiled = assert(loops.compile(text, { device = device, force = true, target = shape.target,
    tiles = shape.tiles }))
  return compiled, assert(load(text))(), ("seed %d, %s\n%s"):format(seed, shape.name, text)
end

describe("a subscript or bound", function()
  local function run(bound, target, first, second)
    local text = ([[
      return function(b, c, n)
        for i = 1, %s do
          for j = 1, n do
            b[%s][%s] = b[%s][%s] + c[5 - i][j] + c[j // 2 + 1][j]
          end
        end
      end]]):format(bound, target[1], target[2], first, second)
    local compiled = assert(loops.compile(text, { device = helper.device(), force = true }))
    local b, c = { { 1, 2, 3, 4 }, { 5, 6, 7, 8 }, { 9, 1, 2, 3 } }, { { 1, 1 }, { 2, 3 }, { 5, 7 }, { 8, 9 } }
    compiled(b, c, 2)
    return (compiled:source():gsub("//[^\n]*", "")), b -- without comments, which quote the text
  end

  it("is the sum of what does not cancel out", function()
    local source, result = run("n", { "i", "j + 1" }, "i + 1", "j + 1")
    for _, way in ipairs {
      { "n - n + n", { "j - j + i", "1 + j" }, "2 * (i + 1) - i - 1", "j + i + 1 - i" },
      { "2 * n - n", { "0 * j + i", "i - i + j + 1" }, "i - -1", "j % 1 + j + (3 - 2)" },
      { "n // 1", { "(j - j) // 3 + i", "-(-j - 1)" }, "1 + i + 100000 * 100000 - 10000000000", "3 * j - 2 * j + 1" },
    } do
      local own_source, own_result = run(table.unpack(way))
      assert.equal(source, own_source)
      assert.same(result, own_result)
    end
  end)
end)

helper.describe_each("elements of which data say where they are", function(device)
  local TEXT = [[function(a, b, k, n)
    for i = 1, n do
      local first, last, step = k[i], k[i + 1], k[i + 2]
      local s = 0
      for j = first, last, %s do s = s + a[j] end
      b[i] = s
    end
  end]]

  it("are all there if those of the first and the last pass are, whatever the step", function()
    for _, case in ipairs { { "1", 1, 5, 5 }, { "2", 1, 6, 5 }, { "3", 2, 9, 8 }, { "-1", 5, 1, 5 }, { "-2", 5, 0, 5 },
      { "step", 1, 6, 5, 2 }, { "step", 5, 0, 5, -3 }, { "step", 3, 2, 1, 1 }, { "2", 6, 5, 1 } } do
      local step, first, last, most, own = table.unpack(case)
      local text, a = TEXT:format(step), {}
      for j = 1, most do a[j] = j * j end
      local f = assert(loops.compile(text, { device = device, force = true }))
      local place = ("%s: %d, %d, %s"):format(step, first, last, own)
      local expected, b, k = { 0, 0 }, { 0, 0 }, { first, last, own or 1, 0 }
      assert(load("return " .. text))()(a, expected, k, 1)
      f(a, b, k, 1)
      assert.same(expected, b, place)
      if expected[1] > 0 then
        a[most] = nil
        assert.error_matches(function() f(a, b, k, 1) end, "outside of 1 .. " .. most - 1, nil, nil, place)
      end
    end
  end)
end)

helper.describe_each("operators on bits", function(device)
  local function matches(text, launches, ...)
    local values = { ... }
    local expected, got = copies.of(values), copies.of(values)
    assert(load("return " .. text))()(table.unpack(expected))
    local compiled = assert(loops.compile(text, { device = device, force = true }))
    compiled(table.unpack(got))
    assert(copies.are_equal(expected, got), text)
    assert.equal(launches, compiled:stats().launches, text)
    return compiled:explain()
  end
  local function vector(count) return helper.matrix(1, count, function(_, j) return j * 5 - 7 end)[1] end

  it("of subscripts and bounds with literals are proved parallel", function()
    for _, text in ipairs {
      "function(x, y, n) for i = 1, n do y[i << 1] = x[i]; y[(i << 1) - 1] = -x[i] end end",
      "function(x, y, n) for i = 0, n - 1 do y[(i ~ 1) + 1] = x[i + 1] end end",
      "function(x, y, n) for i = 1, n do for j = 1, i & 3 do y[i] = y[i] + (x[j] << j) end end end",
      "function(x, y, n) for i = 1, n do local m = i | 1; for j = ~m + i, m do y[i] = y[i] ~ x[j & 7 | 1] end end end",
      "function(x, y, n) for i = 1, n do if i & 1 == 0 then y[i] = x[i - 1] else y[i - 1 + 1] = ~x[i] end end end",
    } do assert.matches("for i +parallel", matches(text, 1, vector(8), vector(16), 8)) end
  end)

  it("have Lua's values, however far they shift", function()
    matches("function(x, y, n) for i = 1, n do y[i] = (x[i] << i - 70) ~ (x[i] >> i - 70) | (i << 63) & ~i end end", 1,
      vector(140), vector(140), 140)
    matches("function(x, y, n) for i = 1, n do y[i] = x[(i * 37 ~ i >> 2) & 127 | 1] end end", 1, vector(140),
      vector(140), 140)
  end)

  it("keep loops in their order whose passes they lead to one place", function()
    local words = matches("function(x, y, n) for i = 1, n do y[i | 1] = x[i] end end", 0, vector(8), vector(9), 8)
    assert.matches("for i +sequential", words)
  end)
end)

helper.describe_each("a random function with roundabout subscripts", function(device)
  local count = helper.long(300) or 3
  local n = helper.is_simulator(device) and 4 or 9

  it("does with arrays of which some are one what it does in Lua", function()
    for _ = 1, count do
      local compiled, in_lua, words = random_function(device)
      local values = random_subscripts.arguments(math.random(3, n))
      local expected, got = copies.of(values), copies.of(values)
      in_lua(table.unpack(expected))
      compiled(table.unpack(got))
      for i, value in ipairs(got) do
        assert(copies.are_equal(expected[i], value), ("argument %d, %s"):format(i, words))
      end
    end
  end)

  it("does with views what it does in Lua, or says that they overlap", function()
    for _ = 1, count do
      local compiled, in_lua, words = random_function(device)
      local rows, arguments_of = random_subscripts.parts(math.random(3, n))
      local whole = device:buffer(rows, "double")
      local views = arguments_of(whole, whole.view)
      local ok, message = pcall(compiled, table.unpack(views))
      if ok then
        in_lua(table.unpack(arguments_of(rows, function(list, first, last)
          return table.move(list, first, last, 1, {})
        end)))
        assert(copies.are_equal(rows, whole:read()), words)
      else
        assert(message:find("shares part of its memory", 1, true), message .. words)
      end
    end
  end)
end)
