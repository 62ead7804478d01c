-- SPDX-License-Identifier: MIT
-- Eliminations whose passes update what later ones sum up, and passes that do something first.

local helper = require "spec.helper"

local N = 21

local function random() return math.random() + 0.5 end

local function compare(text, count, n) return helper.compare_in_all_ways(text, count or 2, n or N, random) end

describe("an elimination", function()
  local CHOLESKY = [[function(a, n)
    for i = 1, n do
      for j = 1, i - 1 do
        for k = 1, j - 1 do a[i][j] = a[i][j] - a[i][k] * a[j][k] / 16 end
        a[i][j] = a[i][j] / a[j][j]
      end
      for k = 1, i - 1 do a[i][i] = a[i][i] - a[i][k] * a[i][k] / 16 end
      a[i][i] = math.sqrt(math.abs(a[i][i]))
    end
  end]]

  it("has its updates in one launch on GPUs, with the diagonal", function()
    for _, n in ipairs { 1, 2, N } do
      local on_tiles, wide = compare(CHOLESKY, 1, n)
      assert.not_matches("nest_2", on_tiles:explain())
      assert.matches("nest_2, line %d: work%-items %(j, i%)", wide:explain())
      assert.equal(2 * (n - 1), wide:stats().launches)
    end
  end)

  local SOLVE = [[function(l, b, n)
    for i = 1, n do
      for j = 1, n do
        for k = 1, j - 1 do b[j][i] = b[j][i] - l[j][k] * b[k][i] end
        b[j][i] = b[j][i] / l[j][j]
      end
    end
  end]]

  it("goes around a parallel loop where it is long", function()
    local _, few = compare(SOLVE)
    assert.equal(1, few:stats().launches)
    local n = 193
    local _, many = compare(SOLVE:gsub("/ l%[j%]%[j%]", "/ (l[j][j] * n)"), 2, n)
    assert.equal(2 * n - 1, many:stats().launches)
  end)

  local LU = [[function(a, n)
    for i = 1, n do
      for j = 1, i - 1 do
        local w = a[i][j]
        for k = 1, j - 1 do w = w - a[i][k] * a[k][j] / 8 end
        a[i][j] = w / a[j][j]%s
      end
      for j = i, n do
        local w = %s
        for k = 1, i - 1 do w = w - a[i][k] * a[k][j] / 8 end
        a[i][j] = w
      end
    end
  end]]

  it("has elements in place of locals that begin with them", function()
    local _, wide = compare(LU:format("", "a[i][j]"), 1)
    assert.matches("nest_3, line 2: work%-items %(j, i%)", wide:explain()) -- neighbours in memory are those in a group
    assert.equal(3 * (N - 1) - 1, wide:stats().launches)
  end)

  it("has each second row where only such are computed", function()
    for _, body in ipairs {
      "for k = 1, j - 1 do a[j][j] = a[j][j] - a[j][k] * a[j][k] / 9 end; %s a[i][j] = a[i][j] - a[i][k] * a[j][k] / 9",
      "b[j][j] = b[j][j] / 2; %s b[i][j] = b[i][j] - a[i][k] * b[j][k] / 9",
    } do
      body = body:format "for i = j + 1, n, 2 do for k = 1, j - 1 do" .. " end; a[i][j] = a[i][j] / 2 end"
      local _, wide = compare(("function(a, b, n) for j = 1, n do %s end end"):format(body))
      assert.matches("nest_2", wide:source())
    end
  end)

  it("leaves locals that are more than that", function()
    for _, parts in ipairs { { " + a[i][j]", "a[i][j]" }, { "", "a[i][j] + 1" } } do
      local _, wide = compare(LU:format(table.unpack(parts)), 1)
      assert.matches("double w_", wide:source())
    end
  end)

  it("stays where sums would have another order, or read what is not there yet", function()
    for _, body in ipairs {
      "for k = 1, i - 1 do b[i][j] = b[i][j] - a[i][k] * b[i - k][j] end", -- the last element first
      "for k = 1, i - 1 do b[i][j] = b[i][j] - a[i][k] * b[n - k + 1][j] end", -- what later passes overwrite
      "for k = 1, i - 1 do b[i][j] = b[i][j] - a[k][j] end; a[i][j] = a[i][j] + b[i][j]; a[1][j] = b[i][j]",
    } do
      local _, wide = compare(("function(a, b, n) for i = 1, n do for j = 1, n do %s end end end"):format(body))
      assert.not_matches("work%-items %(j, i%)", wide:explain())
    end
  end)

  it("is what Lua has, whatever its statements are", function()
    local SUMS = { "for k = 1, j - 1 do a[%s][j] = a[%s][j] - a[%s][k] * a[k][j] end",
      "a[%s][j] = a[%s][j] / (3 + a[%s][1])", "for k = 1, j - 1 do b[%s][j] = b[%s][j] + a[k][%s] end",
      "for k = 1, j - 1 do b[j][%s] = b[j][%s] - b[%s][k] / 4 end" }
    local turned = 0
    for _ = 1, helper.long(200) or 12 do
      local lines = {}
      for s = 1, math.random(3) do
        local place = math.random(2) == 1 and "i" or "j"
        local text = SUMS[math.random(#SUMS)]:gsub("%%s", place)
        local second = math.random(2) == 1 and "a[i][j] = a[i][j] / 2" or ""
        lines[s] = place == "i" and ("for i = j + %d, n do %s; %s end"):format(math.random(0, 1), text, second) or text
      end
      local _, wide = compare(("function(a, b, n) for j = 1, n do %s end end"):format(table.concat(lines, "; ")))
      turned = turned + (wide:source():find "nest_2" and 1 or 0)
    end
    assert.is_true(turned > 0)
  end)
end)

describe("what the first pass of a loop does", function()
  local SOLVE = [[function(a, b, n)
    for i = 1, n do
      for j = 1, n do
        for k = i + 1, n do
          if %s then b[j][i] = b[j][i] / a[i][i] end
          b[j][k] = b[j][k] - a[i][k] * b[j][i]
        end
      end
    end
  end]]

  it("comes before it where the loop is parallel then", function()
    local on_tiles, wide = compare(SOLVE:format "k == i + 1")
    assert.not_matches("nest_2", on_tiles:explain())
    assert.matches("nest_2, line 3: work%-items %(k, j%)", wide:explain())
    assert.equal(2 * N - 1, wide:stats().launches)
  end)

  it("stays where it is no first pass, or the loop is sequential without it", function()
    for _, condition in ipairs { "k == i + 2", "k == n", "k == i + 1 and a[i][k] > 1" } do
      local _, wide = compare(SOLVE:format(condition))
      assert.not_matches("nest_2", wide:explain())
    end
    local _, wide = compare((SOLVE:gsub("b%[j%]%[i%]\n", "b[j][k - 1]\n"):format "k == i + 1"))
    assert.not_matches("nest_2", wide:explain())
  end)
end)
