-- SPDX-License-Identifier: MIT
-- Assignments that have a nest of their own behind the others, and triangles whose loops are moved inwards.

local helper = require "spec.helper"

local N = 21

describe("separated assignments", function()
  local function compare(text)
    return helper.compare_in_all_ways(text, 3, N, function() return math.random() - 0.5 end)
  end

  it("leave a symmetric product two nests of sums", function()
    local on_tiles, wide = compare [[function(a, b, c, n)
      for i = 1, n do
        for j = 1, n do
          local s = 0.0
          for k = 1, i - 1 do
            c[k][j] = c[k][j] + b[i][j] * a[i][k]
            s = s + b[k][j] * a[i][k]
          end
          c[i][j] = c[i][j] + b[i][j] * a[i][i] + s
        end
      end
    end]]
    for _, f in ipairs { on_tiles, wide } do
      assert.matches("nest_1, line 2: work%-items %(j, i%)", f:explain())
      assert.matches("nest_2, line 3: work%-items %(j, k%)", f:explain())
    end
  end)

  it("are for many work-items where one loop is parallel then", function()
    local on_tiles, wide = compare [[function(a, b, c, n)
      for i = 1, n do
        c[i][1] = 0.0
        for j = 1, n do
          b[1][j] = b[1][j] + a[i][1] * a[i][j]
          c[i][1] = c[i][1] + a[i][j] * a[j][1]
        end
      end
    end]]
    assert.not_matches("nest_2", on_tiles:explain())
    assert.matches("nest_2, line %d: work%-items %(j%)", wide:explain())
  end)

  it("stay where others need what they have stored", function()
    for _, text in ipairs { "c[i][j] = c[i][j] + a[i][k] * b[k][j]; b[i][j] = b[i][j] + c[i][j]",
      "c[k][j] = c[k][j] + a[i][k]; b[i][j] = b[i][j] + c[k][j]",
      "c[k][j] = c[k][j] + a[i][k]; b[i][j] = b[i][j] + c[i][j]" } do
      compare(("function(a, b, c, n) for i = 1, n do for j = 1, n do for k = 1, n do %s end end end end"):format(text))
    end
  end)

  local TARGETS = { "c[k][j]", "c[k][j]", "c[i][k]", "c[i][j]", "b[i][j]", "b[k][i]", "c[j][k]", "b[j][j]" }
  local READS = { "a[i][k]", "a[i][k]", "a[j][i]", "b[i][j]", "b[k][j]", "c[i][j]", "c[k][j]", "s" }
  local BOUNDS = { "1, i - 1", "1, n", "i + 1, n", "1, i", "2, j - 1", "1, j", "1, i - 2" }

  it("have the results of Lua, whatever they read and store", function()
    for program = 1, helper.long(300) or 9 do
      local lines = {}
      if program % 3 == 0 then lines[1] = "c[k][j] = 0.5 * c[k][j] + 0.25 * (a[i][k] - b[i][j])" end
      for s = #lines + 1, math.random(2) do
        local target = TARGETS[math.random(#TARGETS)]
        lines[s] = ("%s = 0.5 * %s + 0.25 * (%s - %s)"):format(target, target, READS[math.random(#READS)],
          READS[math.random(#READS)])
      end
      compare(([[function(a, b, c, n)
        for i = 1, n do for j = 1, n do
          local s = 0.25
          for k = %s do %s; s = 0.5 * s + a[k][j] end
          %s
        end end
      end]]):format(BOUNDS[math.random(#BOUNDS)], table.concat(lines, "; "),
        math.random(2) == 1 and "c[i][j] = 0.5 * c[i][j] + 0.25 * s" or "a[i][j] = 0.5 * s"))
    end
  end)

  it("stay where Lua may raise an error between", function()
    local _, wide = compare [[function(a, b, c, n)
      for i = 1, n do
        for j = 1, n do a[i][j] = math.fmod(i, n + j) end
        for j = 1, n do c[i][j] = 1 end
      end
    end]]
    assert.not_matches("nest_2", wide:source())
  end)

  it("are no wavefronts because those are that they were apart from", function()
    compare [[function(a, b, c, n)
      for i = n, 2, -2 do
        for j = n, 2, -1 do
          for k = 2, n do
            a[1][k] = a[1][k] + a[1][j - 1] + 0.5 * b[n + 1 - j][j - 1]
            c[k // 2 + 1][i] = b[1][k // 2 + 1] * 1.25
          end
        end
      end
    end]]
  end)

  local ROWS = { "c[i][1] = 0.5", "for j = 1, i do c[i][j] = c[i][j] * 0.5 end",
    "for k = 1, n do for j = 1, i do c[i][j] = c[i][j] + a[j][k] * b[i][k] end end",
    "for k = 2, n do c[i][k] = c[i][k - 1] * 0.5 + a[i][k] end",
    "for j = i + 1, n do local s = 0.0; for k = 1, n do s = s + a[k][i] * a[k][j] end; c[i][j] = s; b[j][i] = s end" }

  it("are nests of two parallel loops where a row has several, in the order of the text", function()
    for _ = 1, helper.long(100) or 5 do
      local lines = {}
      for s = 1, math.random(2, 4) do lines[s] = ROWS[math.random(#ROWS)] end
      compare(("function(a, b, c, n) for i = 1, n do %s end end"):format(table.concat(lines, " ")))
    end
    local _, wide = compare(("function(a, b, c, n) for i = 1, n do %s %s end end"):format(ROWS[2], ROWS[3]))
    assert.matches("nest_2, line 1: work%-items %(j, i%)", wide:explain())
  end)
end)
