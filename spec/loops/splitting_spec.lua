-- SPDX-License-Identifier: MIT
-- Sequential loops that are cut at a pass, and parallel ones made several nests for devices of many work-items.

local helper = require "spec.helper"
local loops = require "clcompute.loops"

local N = 23

describe("cutting loops", function()
  local function compare(text)
    return helper.compare_in_all_ways(text, 2, N, function() return math.random() + 0.5 end)
  end

  it("leaves the shortest paths parallel loops over rows and columns", function()
    local on_tiles, wide = compare [[function(p, q, n)
      for k = 1, n do for i = 1, n do for j = 1, n do
        p[i][j] = math.min(p[i][j], p[i][k] + p[k][j])
        q[i][j] = p[i][j] / 2
      end end end
    end]]
    assert.matches("nest_1, line 2: work%-items %(i%) in tiles", on_tiles:explain())
    assert.matches("nest_9, line 2: work%-items %(j, i%)", wide:explain())
    assert.equal(9 * (N - 2) + 8, wide:stats().launches) -- one side is empty at both ends
  end)

  --- What isl is asked of dependences as a function is compiled: the accesses of each question as a text, and how many
  -- there are at most.
  local function questions_of(text)
    local poly = require "clcompute.poly"
    local ask, list, most = poly.dependences, {}, 0
    poly.dependences = function(nest)
      local texts = {}
      for i, access in ipairs(nest.accesses) do texts[i] = access.map .. tostring(access.write) end
      list[#list + 1], most = table.concat(texts, "\n"), math.max(most, #texts)
      return ask(nest)
    end
    local ok, message = pcall(function() return assert(loops.compile(text)):source() end)
    poly.dependences = ask
    assert(ok, message)
    return list, most
  end

  it("asks isl of no pieces where a loop stays as it is, and nothing twice", function()
    local _, most = questions_of [[function(a, b, c, n)
      for i = 1, n do for j = 1, n do
        local s = 0.0
        for k = 1, n do s = s + a[i][k] * b[k][j] end
        c[i][j] = s
      end end
    end]]
    assert.equal(7, most)
    local list = questions_of "function(a, n) for t = 2, n do for i = 2, n do a[t][i] = a[t - 1][i - 1] end end end"
    local seen = {}
    for _, question in ipairs(list) do
      assert.is_nil(seen[question])
      seen[question] = true
    end
  end)

  local READS = { "p[i][k]", "p[k][j]", "p[k][k]", "p[i][j]", "q[i][j]", "q[k][j]", "p[j][k]", "p[k][i]" }
  local TARGETS = { "p[i][j]", "p[i][j]", "q[i][j]", "p[j][i]", "p[i][1]" }

  it("has the results of Lua, whatever the passes read", function()
    local cut = 0
    for _ = 1, helper.long(300) or 12 do
      local lines = {}
      for s = 1, math.random(2) do
        local target = TARGETS[math.random(#TARGETS)]
        lines[s] = ("%s = 0.5 * %s + 0.25 * %s"):format(target, READS[math.random(#READS)], READS[math.random(#READS)])
      end
      local _, wide = compare(([[function(p, q, n)
        for k = 1, n do for i = 1, n do for j = 1, n do %s end end end
      end]]):format(table.concat(lines, "; ")))
      cut = cut + (wide:source():find "nest_3" and 1 or 0)
    end
    assert.is_true(cut > 0)
  end)

  local ROWS = { "for j = 1, n do p[i][j] = q[i][j] * 0.5 end", "for j = 2, n do p[i][j] = p[i][1] + q[i][j] end",
    "p[i][2] = q[i][i]", "for j = 1, i do q[i][j] = p[i][j] + j end", "q[i][i] = p[i][3]",
    "for j = 1, n do p[i][j] = p[i][j] + 1; for k = 1, 2 do q[i][j] = q[i][j] * 0.5 end end" }

  it("gives parallel loops a work-item a pass, in the order of their statements", function()
    for _ = 1, helper.long(200) or 6 do
      local lines = {}
      for s = 1, math.random(2, 4) do lines[s] = ROWS[math.random(#ROWS)] end
      compare(("function(p, q, n) for i = 1, n do %s end end"):format(table.concat(lines, " ")))
    end
    local _, wide = compare(("function(p, q, n) for i = 1, n do %s %s %s end end"):format(ROWS[1], ROWS[3], ROWS[4]))
    assert.matches("nest_3, line 1: work%-items %(j, i%)", wide:explain())
  end)
end)
