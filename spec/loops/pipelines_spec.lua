-- SPDX-License-Identifier: MIT
-- Rows of sequential nests that overlap: groups that wait for each other.

local helper = require "spec.helper"
local loops = require "clcompute.loops"

local N = 100

describe("a pipeline", function()
  local device = helper.device()

  local function matrix() return helper.matrix(N, N) end

  -- Tiles so small that all sizes here have many.
  local function compile(text)
    return assert(loops.compile(text, { device = device, force = true, tiles = { lane = 32 } }))
  end

  local function is_pipeline(compiled) return compiled:source():find("await_block", 1, true) ~= nil end

  --- How far rows are behind each other in what was compiled.
  local function lag_of(compiled)
    return compiled:source():match "min%(tile %+ 2" and (compiled:source():match "_first%) %* (%d)" or "1")
      or is_pipeline(compiled) and "0"
  end

  --- Runs a function compiled and in Lua.
  local function compare(text, ...)
    local compiled, values = compile(text), matrix()
    local buffer = device:buffer(values, "double")
    for _ = 1, 2 do
      assert(load("return " .. text))()(values, ...)
      compiled(buffer, ...)
      assert.same(values, buffer:read(), text)
    end
    return compiled
  end

  local HEADS = { { "for i = 4, m do", "for j = 4, n do", 1, 1 }, { "for i = m, 4, -1 do", "for j = 4, n do", -1, 1 },
    { "for i = 4, m do", "for j = n, 4, -1 do", 1, -1 }, { "for i = m, 4, -1 do", "for j = n, 4, -1 do", -1, -1 },
    { "for i = 4, m do", "for j = 4, math.min(n, i) do", 1, 1 }, { "for i = 4, m do", "for j = i, n do", 1, 1 },
    { "for i = 4, m do", "for j = 4, i do", 1, 1 }, { "for i = m, 4, -1 do", "for j = i + 1, n do", -1, 1 },
    { "for i = 4, m do", "for j = m - i + 4, n do", 1, 1 } }

  local function element(i, j) return (("a[i + %d][j + %d]"):format(i, j):gsub("%+ %-", "- ")) end

  --- A nest whose passes need some of the passes of rows before and of their own row.
  local function random_nest()
    local outer, inner, down, across = table.unpack(HEADS[math.random(#HEADS)])
    local terms = { element(0, -across) }
    for k = 2, math.random(2, 4) do
      terms[k] = element(-down * math.random(0, 3), across * math.random(-3, 2))
      if terms[k]:find "a%[i %+ 0%]%[j %+ [12]%]" and across > 0 then terms[k] = "a[i][j]" end
    end
    local sum = table.concat(terms, " + ")
    local body = ({ "a[i][j] = 0.25 * (%s)", "a[i][j] = math.min(%s, a[i][j] + 0.5)",
      "local t = %s; if t > 1 then t = t * 0.25 end; a[i][j] = t",
      "for k = 1, 3 do a[i][j] = a[i][j] * 0.5 + 0.125 * (%s) + 0.01 * k end",
      "a[i][j] = math.max(0.25 * (%s), a[i][j]); a[j][i] = a[j][i]" })[math.random(4)]:format(sum)
    return ("function(a, n, m) for _ = 1, 2 do %s %s %s end end end end"):format(outer, inner, body)
  end

  helper.on_threads("has the results of Lua, whatever its passes need of those before", function()
    local count, lags = 0, {}
    for _ = 1, helper.long(400) or 30 do
      local text = random_nest()
      local compiled
      for _, size in ipairs { { 97, 37 }, { 40, 97 }, { 5, 4 } } do compiled = compare(text, size[1], size[2]) end
      count = count + (is_pipeline(compiled) and 1 or 0)
      lags[lag_of(compiled) or "none"] = true
    end
    assert.is_true(count > 10)
    assert.is_true(lags["0"] and (lags["1"] or lags["2"]))
  end)

  helper.on_threads("goes through steps of time, each behind the one before", function()
    local compiled = compare([[function(a, n, steps)
      for t = 1, steps do for i = 2, n - 1 do for j = 2, n - 1 do
        a[i][j] = 0.2 * (a[i][j] + a[i - 1][j] + a[i][j - 1] + a[i][j + 1] + a[i + 1][j])
      end end end
    end]], N, 9)
    assert.is_true(is_pipeline(compiled))
    assert.equal(2, compiled:stats().launches)
    assert.matches("nest_1, line 2: work%-items %(i, t%) in tiles, whose rows overlap", compiled:explain())
    assert.matches("for t .- %-> blocks of rows, each behind the one before\n", compiled:explain())
  end)

  helper.on_threads("has what a loop in it updates in a register, where the loop reads it nowhere else", function()
    for update, is_kept in pairs { ["math.max(a[i][j], a[i][k] + a[k + 1][j])"] = true,
      ["a[i][j] * 0.5 + a[i][k] * 0.25"] = true, ["a[i][j] * 0.5 + a[k + i][j] * 0.25"] = false } do
      local compiled = compare(([[function(a, n)
        for i = n - 1, 1, -1 do for j = i + 1, n do
          a[i][j] = math.max(a[i][j - 1], a[i + 1][j])
          for k = %s do a[i][j] = %s end
        end end
      end]]):format(is_kept and "i + 1, j - 1" or "0, j - i", update), N)
      assert.is_true(is_pipeline(compiled))
      assert.equal(is_kept, compiled:source():find("= k_%d+_sum;") ~= nil, update)
    end
  end)

  helper.on_threads("may have a sum or an extreme in its passes, which stays in its place", function()
    for _, inner in ipairs { "if a[i][k] > a[k][j] then cost = cost + 1 end", "cost = cost + k * 3" } do
      local compiled = compare(([[function(a, n)
        for i = 2, n do for j = 2, n do
          local cost = 0
          for k = n + 1, 100 do %s end
          a[i][j] = math.min(a[i - 1][j] + 1, a[i][j - 1] + 1, a[i - 1][j - 1] + cost)
        end end
      end]]):format(inner), 90)
      assert.is_true(is_pipeline(compiled))
      assert.equal(2, compiled:stats().launches)
    end
  end)

  helper.on_threads("has tiles that cover all passes, and a counter for each block", function()
    local launchers = require "clcompute.loops.runtime.launchers"
    local program = { kernel = function() return "kernel" end }
    for _, behind in ipairs { 0, 1, 2 } do
      local limits = { most = 32, least = 4, multiple = 4 }
      local nest = { name = "nest", behind = behind, tiles = { size = { small = 100, lane = limits, rows = limits } } }
      local pipeline = launchers.blocks(nest, program, device)
      for _, size in ipairs { { 1, 1 }, { 7, 9 }, { 300, 2 }, { 40, 1001 }, { 3, 33000 }, { 33000, 5000000 } } do
        local columns, rows = table.unpack(size)
        local range, tile = pipeline:share(columns, rows)
        local blocks, across, down = range.global[1], tile[1], tile[2]
        assert.is_true(blocks * down >= rows and (blocks - 1) * down < rows)
        assert.is_true(tile.count * across >= columns + behind * (down - 1), "the last row has a tile for its end")
        assert.is_true(across >= behind * down, "a block leans by no more than a tile")
        assert.is_true((blocks + 1) * 16 <= #pipeline.progress, "each block has a counter")
      end
    end
  end)

  helper.on_threads("is none where a pass needs what is further to the right, or numbers outlive it", function()
    for body, expected in pairs {
      ["for j = 2, n - 3 do a[i][j] = a[i][j - 1] + a[i - 1][j + 2] end"] = true,
      ["for j = 2, n - 3 do a[i][j] = a[i][j - 1] + a[i - 1][j + 3] end"] = false,
      ["for j = 2, n do a[i][j] = a[i][j - 1] + a[n][2] end"] = false,
      ["for j = 2, n do a[1][1] = a[1][1] + a[i][j] end"] = false,
      ["for j = 2, n do s = s + a[i][j]; a[i][j] = s end"] = false,
    } do
      local text = ("function(a, n) local s = 0.0; for i = 2, n do %s end end"):format(body)
      local compiled, buffer = compile(text), device:random("double", N, N)
      compiled(buffer, N)
      assert.equal(expected, is_pipeline(compiled), text)
    end
  end)

  helper.on_threads("is one work-item where a device has no threads that go on side by side", function()
    local target = require("clcompute.loops.runtime.kernel_target")
    assert.is_true(target.of(device, {}).may_wait)
    for field, value in pairs { platform = "Oclgrind", compute_units = 1 } do
      local other = setmetatable({ [field] = value }, { __index = device })
      assert.is_false(target.of(other, {}).may_wait)
    end
  end)
end)
