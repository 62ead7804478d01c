-- SPDX-License-Identifier: MIT
-- Locals that have an element for each pass of the loop around them, so that what computes them and what reads them
-- may be loops of their own.

local helper = require "spec.helper"
local loops = require "clcompute.loops"

local N = 41 -- a strip and some passes more
local WIDE = { kernel = "items", rows = 1, columns = 1, vector = 1, passes = 1, jam = 1, group = 8, depth = 1 }

local ATAX = [[function(a, b, c, n)
  for i = 1, n do
    local s = 0.0
    for j = 1, n do s = s + a[i][j] * b[1][j] end
    for j = 1, n do c[1][j] = c[1][j] + a[i][j] * s end
  end
end]]

describe("expanded locals", function()
  local function compare(text)
    return helper.compare_in_all_ways(text, 3, N, function() return math.random() - 0.5 end)
  end

  it("leave two parallel nests", function()
    local _, wide = compare(ATAX)
    assert.matches("nest_1, line 2: work%-items %(i%); reads a, b, writes s of all passes", wide:explain())
    assert.matches("nest_2, line 5: work%-items %(j%); reads c, a, s of all passes, writes c", wide:explain())
  end)

  helper.on_pocl("go in strips that groups share on a processor", function()
    local in_strips = assert(loops.compile(ATAX, { device = helper.device() }))
    assert.matches("one launch, whose groups share the parallel loops; reads a, b, c, s of all passes",
      in_strips:explain())
    assert.matches("min_int%(add_int%(i_%d+, 31L%), n_4%)", in_strips:source())
  end)

  it("may be several, integers, and of a loop that begins anywhere", function()
    local _, wide = compare [[function(a, b, c, n)
      for i = 3, n - 1 do
        local s, k = 0.0, n - i + 1
        for j = 1, n do s = s + a[i][j] * b[k][j] end
        for j = 2, n do c[1][j] = c[1][j] + a[k][j] * s end
      end
    end]]
    assert.matches("writes s of all passes", wide:explain())
  end)

  it("may be of others that change behind them, and go as far as an array", function()
    for _, text in ipairs {
      "i = 1, n do local s = 0.0; for j = 1, n do s = s + a[i][j] * b[1][j] end; local t = s * 2; s = s + 1; "
        .. "for j = 1, n do c[1][j] = c[1][j] + a[i][j] * t end end",
      "i = 1, n do local s = 0.5; local t = s; for j = 1, n do s = s + a[i][j] end; "
        .. "for j = 1, n do c[1][j] = c[1][j] + a[i][j] * (t - s) end end",
      "i = 1, #a do local s = 0.0; for j = 1, n do s = s + a[i][j] end; for j = 1, n do c[1][j] = c[1][j] - s end end",
    } do
      local _, wide = compare(("function(a, b, c, n) for %s end"):format(text))
      assert.matches("of all passes", wide:explain())
    end
  end)

  it("are doubles in mode fast, too, where arrays are", function()
    local device = helper.device()
    local fast = assert(loops.compile(ATAX, { device = device, force = true, tiles = WIDE, mode = "fast" }))
    local values = { helper.matrix(N, N, function() return 1e100 end), helper.matrix(N, N, function() return 2.0 end),
      helper.matrix(N, N, function() return 0.0 end) }
    local buffers = {}
    for k, value in ipairs(values) do buffers[k] = device:buffer(value, "double") end
    fast(buffers[1], buffers[2], buffers[3], N)
    assert(load("return " .. ATAX))()(values[1], values[2], values[3], N)
    assert.near(1, buffers[3]:read()[1][1] / values[3][1][1], 1e-12)
    assert.not_matches("copy s of all passes", fast:explain())
  end)

  it("stay where a pass needs what the one before has stored", function()
    for _, text in ipairs {
      "for j = 1, n do s = s + a[i][j] * c[1][j] end; for j = 1, n do c[1][j] = c[1][j] + a[i][j] * s end",
      "for j = 1, n do s = s + a[1][j] end; for j = 1, n do c[1][j] = c[1][j] + s end; a[1][i] = c[1][i]",
      "for j = 1, n do s = s + a[i][j] end; for j = 1, n do c[1][j] = c[1][j] + s end; s = s + 1; c[2][1] = s",
    } do
      local _, wide = compare(("function(a, b, c, n) for i = 1, n do local s = 0.0; %s end end"):format(text))
      assert.not_matches("of all passes", wide:explain())
    end
  end)

  it("are in Lua or on the device, as their nests are", function()
    local device = helper.device()
    for on_device = 0, 2 do
      local f = assert(loops.compile(ATAX, { device = device, tiles = WIDE }))
      local values, buffers = {}, {}
      for k = 1, 3 do
        values[k] = helper.matrix(N, N, function() return math.random() end)
        buffers[k] = device:buffer(values[k], "double")
      end
      assert.is_true(helper.call_on_device(on_device, f, buffers[1], buffers[2], buffers[3], N))
      assert(load("return " .. ATAX))()(values[1], values[2], values[3], N)
      assert.same(values[3], buffers[3]:read())
    end
  end)

  local function random() return math.random() end

  it("are right in repeated calls, with tables, floats, and no passes", function()
    local device = helper.device()
    local f = assert(loops.compile(ATAX, { device = device, force = true, tiles = WIDE }))
    local run = assert(load("return " .. ATAX))()
    local a, b, c = helper.matrix(N, N, random), helper.matrix(N, N, random), helper.matrix(N, N, random)
    local on_device = { device:buffer(a, "double"), device:buffer(b, "double"), device:buffer(c, "double") }
    for _, n in ipairs { N, N, N, 0, 1, N - 1, N - 1, N } do
      f(on_device[1], on_device[2], on_device[3], n)
      run(a, b, c, n)
      assert.same(c, on_device[3]:read())
    end
    local tables = { on_device[1]:read(), on_device[2]:read(), on_device[3]:read() }
    f(tables[1], tables[2], tables[3], N)
    run(a, b, c, N)
    assert.same(c, tables[3])
    local fast = assert(loops.compile(ATAX, { device = device, force = true, tiles = WIDE, mode = "fast" }))
    local floats = { device:buffer(a, "float"), device:buffer(b, "float"), device:zeros("float", N, N) }
    fast(floats[1], floats[2], floats[3], N)
    assert.matches("global float %*restrict s_", fast:source())
    local zeros = helper.matrix(N, N, function() return 0.0 end)
    run(a, b, zeros, N)
    for j, value in ipairs(floats[3]:read()[1]) do assert.near(zeros[1][j], value, 1e-4 * math.abs(zeros[1][j])) end
  end)

  local FIRST = { "for j = 1, n do s = s + a[i][j] * b[1][j] end", "s = b[i][2]", "for j = 1, i do s = s - c[j][i] end",
    "b[i][1] = s; for j = 2, n do s = s + b[i][j] end", "for j = 1, n do a[j][i] = s; s = s + c[2][j] end" }
  local REST = { "c[1][j] = c[1][j] + a[i][j] * s", "c[j][1] = c[j][1] - s", "b[j][i] = s + b[j][i]",
    "a[i][j] = a[i][j] * s", "c[i][j] = s; b[1][j] = b[1][j] + s", "b[2][j] = b[2][j] + c[i][j] * s" }
  local HEADS = { "i = 1, n", "i = 2, n", "i = 3, n - 1" }

  it("have the results of Lua, whatever they read and store", function()
    for program = 1, helper.long(300) or 12 do
      math.randomseed(program)
      local function pick(list) return list[math.random(#list)] end
      local lines = { ("for %s do local s = 0.5; %s"):format(pick(HEADS), pick(FIRST)) }
      for k = 1, math.random(2) do
        lines[k + 1] = ("for j = %d, n do %s end"):format(math.random(2), pick(REST))
      end
      compare(("function(a, b, c, n) %s end end"):format(table.concat(lines, "; ")))
    end
  end)
end)
