-- SPDX-License-Identifier: MIT
-- Copies of arrays for what reads elements as they were before the nest.

local helper = require "spec.helper"
local loops = require "clcompute.loops"

local N = 17
local WIDE = { kernel = "items", rows = 1, columns = 1, vector = 1, passes = 1, jam = 1, group = 8, depth = 1 }

local TRMM = [[function(a, b, c, n)
  for i = 1, n do
    for j = 1, n do
      for k = i + 1, n do b[i][j] = b[i][j] + a[k][i] * b[k][j] end
      b[i][j] = 0.5 * b[i][j]
    end
  end
end]]

describe("what is read as it was before a nest", function()
  local function random() return math.random() - 0.5 end
  local function compare(text) return helper.compare_in_all_ways(text, 3, N, random) end

  it("comes from a copy where both loops are parallel then", function()
    local on_tiles, wide = compare(TRMM)
    assert.not_matches("the old b", on_tiles:explain())
    assert.matches("nest_1, line 2: work%-items %(i, i%); reads b, writes the old b", wide:explain())
    assert.matches("nest_2, line 2: work%-items %(j, i%)", wide:explain())
  end)

  it("lets sums go inside", function()
    local _, wide = compare [[function(a, b, c, n)
      for i = 2, n do
        for j = 1, n do
          for k = 1, i - 1 do b[j][k] = b[j][k] + a[i][k] * b[j][i] end
        end
      end
    end]]
    assert.matches("nest_2, line 3: work%-items %(k, j%)", wide:explain())
  end)

  it("is not copied where no more is parallel then", function()
    for _, sum in ipairs { "c[1][j] + c[i][j]", "c[1][j] + c[2][j] * a[i][j]" } do
      local text = "function(a, b, c, n) for i = 3, n do for j = 1, n do c[1][j] = %s end end end"
      local _, wide = compare(text:format(sum))
      assert.not_matches("the old c", wide:explain())
    end
  end)

  it("is looked at before a call, as all that is read", function()
    local device = helper.device()
    local a, b = device:zeros("double", N, N), device:zeros("double", N, N)
    local text = "function(a, b, n) for i = 1, n do for j = 1, n do for %s end end end end"
    for head, message in pairs {
      ["k = i + 1, n do b[i][j] = b[i][j] + a[k][i] * b[k][j + 5]"] = "b[_][22] is needed",
      ["k = i + 1, n + 3 do b[i][j] = b[i][j] + a[1][i] * b[k][j]"] = "b[20][_] is needed",
      ["k = 0, i - 1 do b[n - i + 1][j] = b[n - i + 1][j] + a[1][i] * b[k + 1000000000][j]"] = "b[10000000",
    } do
      local f = assert(loops.compile(text:format(head), { device = device, force = true, tiles = WIDE }))
      local ok, found = pcall(f, a, b, N)
      assert.is_false(ok)
      assert.matches(message, found, 1, true)
    end
  end)

  it("is copied anew in each call, from tables and from buffers, whatever their sizes", function()
    local device, run = helper.device(), assert(load("return " .. TRMM))()
    local f = assert(loops.compile(TRMM, { device = device, force = true, tiles = WIDE }))
    for _, size in ipairs { N, N, N + 3, 1 } do
      local a, b = helper.matrix(size, size, random), helper.matrix(size, size, random)
      local on_device, tables = { device:buffer(a, "double"), device:buffer(b, "double") }, {}
      for i, row in ipairs(b) do tables[i] = table.move(row, 1, size, 1, {}) end
      for _, n in ipairs { size, size, math.max(size - 2, 0) } do
        run(a, b, nil, n)
        f(on_device[1], on_device[2], on_device[1], n)
        f(a, tables, a, n)
        assert.same(b, on_device[2]:read())
        assert.same(b, tables)
      end
    end
  end)

  it("is so with arrays from 0, of floats, and with nests in Lua", function()
    local device = helper.device()
    local text = TRMM:gsub("1, n do", "0, n - 1 do"):gsub("i %+ 0, n %- 1", "i + 1, n - 1"):gsub("k = i %+ 1, n do",
      "k = i + 1, n - 1 do")
    local f = assert(loops.compile(text, { device = device, force = true, tiles = WIDE, base = 0 }))
    local a, b, run = helper.matrix(N, N, random), helper.matrix(N, N, random), assert(load("return " .. TRMM))()
    local x, y = device:buffer(a, "double"), device:buffer(b, "double")
    f(x, y, x, N)
    local g = assert(loops.compile(TRMM, { device = device, tiles = WIDE }))
    local u, v = device:buffer(a, "double"), device:buffer(b, "double")
    assert.is_true(helper.call_on_device(1, g, u, v, u, N))
    run(a, b, nil, N)
    assert.same(b, y:read())
    assert.same(b, v:read())
  end)

  local TARGETS = { "b[i][j]", "b[i][j]", "b[j][k]", "b[i][k]", "c[i][j]", "b[j][i]" }
  local READS = { "b[k][j]", "b[i][k]", "b[j][i]", "c[k][j]", "a[k][i]", "b[k][i]", "b[i + 1][j]", "b[i - 1][j]" }
  local HEADS = { "for i = 2, n - 1 do", "for i = n - 1, 2, -1 do" }
  local BOUNDS = { "i + 1, n", "1, i - 1", "1, n", "1, j - 1", "j, n" }

  it("has the results of Lua, whatever is read and stored", function()
    for program = 1, helper.long(400) or 16 do
      math.randomseed(program)
      local function pick(list) return list[math.random(#list)] end
      local lines = { pick(HEADS), "for j = 1, n do", ("for k = %s do"):format(pick(BOUNDS)) }
      for _ = 1, math.random(2) do
        local target = pick(TARGETS)
        lines[#lines + 1] = ("%s = %s + 0.5 * %s - a[j][k] * %s"):format(target, target, pick(READS), pick(READS))
      end
      compare(("function(a, b, c, n) %s end end end end"):format(table.concat(lines, "\n")))
    end
  end)

  it("is none of the arrays that passes of a loop around have for themselves", function()
    compare [[function(a, b, c, n)
      for t = 1, 2 do
        for i = 1, 0 do for j = 1, n do a[i][j] = b[i][j] end end
        for i = 1, n do for j = 1, n do b[i][j] = c[i][j] * 0.125 end end
      end
    end]]
    local compiled = assert(loops.compile([[function(x, y, z, n, steps)
      for t = 1, steps do
        for i = 1, 0 do z[i] = y[i] end
        for i = 1, n do y[i] = x[i] * 0.125 end
      end
    end]], { target = "gpu" }))
    local y = { 4.0, 5.0 }
    compiled({ 8.0, 16.0 }, y, { 0.0, 0.0 }, 2, 3)
    assert.same({ 1.0, 2.0 }, y)
  end)
end)
