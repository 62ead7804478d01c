-- SPDX-License-Identifier: MIT
-- Triangles whose rows are sequential: column by column.

local helper = require "spec.helper"
local loops = require "clcompute.loops"

describe("a triangle of sequential rows", function()
  local device = helper.device()

  local function matrix(n)
    return helper.matrix(n, n, function(i, j) return math.random() + (i == j and n or 0) end)
  end

  --- Runs a function compiled and in Lua.
  local function compare(text)
    local f = assert(load("return " .. text))()
    local compiled = assert(loops.compile(text, { device = device, force = true }))
    for _, n in ipairs { 1, 2, 3, 5, 9, 33 } do
      local values, others = matrix(n), matrix(n)
      local a, b = device:buffer(values, "double"), device:buffer(others, "double")
      f(values, others, n)
      compiled(a, b, n)
      assert.same(values, a:read(), text)
      assert.same(others, b:read(), text)
    end
    return compiled:explain():find("parallel, within a column", 1, true) ~= nil
  end

  local HEADS = { { "for i = 1, n do", "for j = 1, i - 1 do", "j - 1", "1" },
    { "for i = 2, n - 1 do", "for j = 2, i - 1 do", "j - 1", "2" },
    { "for i = n, 1, -1 do", "for j = n, i + 1, -1 do", "n", "j + 1" } }
  local ROWS = {
    "for k = $from, $to do a[i][j] = a[i][j] - a[i][k] * a[j][k] end a[i][j] = a[i][j] / a[j][j]",
    "local w = a[i][j]; for k = $from, $to do w = w - a[i][k] * a[k][j] end a[i][j] = w / a[j][j]",
    "for k = $from, $to do b[i][j] = b[i][j] + a[i][k] * 0.5 end a[i][j] = b[i][j] + a[i][j]",
    "for k = 1, n do a[i][j] = a[i][j] + 0.125 * a[j][j] end",
    "for k = $from, $to do a[i][j] = a[i][j] + b[k][i] end b[j][i] = a[i][j]",
    "for k = $from, $to do a[i][j] = a[i][j] + 0.25 * a[i - 1][k] end", -- rows need the row before
  }
  local DIAGONALS = {
    "a[i][i] = math.sqrt(math.abs(a[i][i]))", "local d = a[i][i]; for k = 1, n do d = d + b[i][k] end; a[i][i] = d",
    "for k = i, n do a[i][k] = a[i][k] * 0.5 + b[i][i] end", "a[i][i] = a[i][i] + a[i][1] + a[i][n]",
    "local last = i; b[last][last] = a[last][last] * 0.5",
    "for k = 1, n do b[k][i] = b[k][i] * 0.5 + a[i][k] end",
  }

  helper.on_cpu("has the results of Lua, whichever way it goes", function()
    local count = 0
    for _ = 1, helper.long(300) or 40 do
      local outer, inner, from, to = table.unpack(HEADS[math.random(#HEADS)])
      if outer:find "n, 1" then from, to = to, from end
      if inner:find "j = [12]" then from, to = to, from end
      local row = ROWS[math.random(#ROWS)]:gsub("$from", from):gsub("$to", to)
      local text = ("function(a, b, n) %s %s %s end %s end end"):format(outer, inner, row,
        DIAGONALS[math.random(#DIAGONALS)])
      -- The loop that goes down comes to the first row, which has none before it.
      if not text:find("i - 1]", 1, true) or not text:find("for i = n", 1, true) then
        count = count + (compare(text) and 1 or 0)
      end
    end
    assert.is_true(count > 5)
  end)

  helper.on_cpu("goes by columns only if rows do not need a later column of those before them", function()
    local form = [[function(a, b, n)
      for i = 2, n do
        for j = 2, i - 1 do for k = 1, j - 1 do a[i][j] = a[i][j] + 0.5 * a[i][k] * %s end end
        a[i][i] = 0.5 * a[i][i]; %s
      end
    end]]
    for row, expected in pairs { ["a[j][k]"] = true, ["a[i - 1][j]"] = false, ["a[i - 1][j + 1]"] = false } do
      assert.equal(expected, compare(form:format(row, "")), row)
    end
    for _, other in ipairs { "a[1 + k % j][k]", "a[b[1][k] * 0 // 1 | 0 + 1][k]" } do
      local compiled = assert(loops.compile(form:format(other, ""), { device = device }))
      assert.is_nil(compiled:explain():find("within a column", 1, true), "the first error is raised")
    end
    assert.is_true(compare(form:format("a[j][k]", "a[i][1] = a[i][2] + 0.5")))
    assert.is_false(compare(form:format("a[j][k]", "a[n][1] = a[i][2] + 0.5")))
  end)
end)
