-- SPDX-License-Identifier: MIT
-- Tiles in registers whose columns lie apart in memory, so that they are packed into panels.

local helper = require "spec.helper"
local loops = require "clcompute.loops"

describe("panels of a tile in registers", function()
  local device = helper.device()

  local function has_panels(compiled) return compiled:source():find("_panel1[", 1, true) ~= nil end

  local COLUMNS = { "for j = 1, n do", "for j = 1, i do", "for j = i, n do", "for j = 2, n - 1 do" }
  local LOOPS = { "for k = 1, m do", "for k = 3, m - 2 do", "for k = 2, m do" }
  local SUMS = { "S = S + a[i][k] * b[j][k]", "S = S + b[j][k] * x * a[i][k] + a[j][k] * b[i][k]",
    "S = S - a[i][k] * b[j][m - k + 1] * b[j][k]", "S = S * 0.5 + b[j][k]",
    "local p = b[j][k] * x; S = S + p * a[i][k]" }

  --- A nest of sums whose columns lie apart; `is_alone`: without statements beside the loop.
  local function random_nest(is_alone)
    local element = math.random(2) == 1 and "c[i][j]" or "c[j][i]"
    local place = is_alone and element or "s"
    local body = ("%s %s end"):format(LOOPS[math.random(#LOOPS)], (SUMS[math.random(#SUMS)]:gsub("S", place)))
    if not is_alone then body = ("local s = % * 0.25; # % = s * x"):gsub("#", body):gsub("%%", element) end
    return ("function(a, b, c, x, n, m) for i = 1, n do %s %s end end end"):format(COLUMNS[math.random(#COLUMNS)], body)
  end

  helper.on_cpu("give the results of Lua", function()
    local count, sizes = 0, { { 1, 9 }, { 7, 5 }, { 8, 1 }, { 13, 17 }, { 24, 30 }, { 41, 8 }, { 12, 300 }, { 16, 512 },
      { 9, 1030 } }
    for k = 1, helper.long(200) or 16 do
      local text = random_nest(k % 2 == 0)
      local compiled = assert(loops.compile(text, { device = device, force = true }))
      local f = assert(load("return " .. text))()
      for _, size in ipairs(sizes) do
        local n, m = table.unpack(size)
        local a, b, c = helper.matrix(n, m), helper.matrix(n, m), helper.matrix(n, n)
        local result = device:buffer(c, "double")
        f(a, b, c, 0.75, n, m)
        compiled(device:buffer(a, "double"), device:buffer(b, "double"), result, 0.75, n, m)
        assert.same(c, result:read(), text)
      end
      count = count + (has_panels(compiled) and 1 or 0)
    end
    assert.is_true(count > 8, count)
  end)

  helper.on_cpu("are not there on GPUs, whose work-items have a column each", function()
    local text = [[function(a, b, c, n) for i = 1, n do for j = 1, n do for k = 1, n do
      c[i][j] = c[i][j] + a[i][k] * b[k][n - j + 1]
    end end end end]]
    local compiled = assert(loops.compile(text, { device = device, force = true, target = "gpu" }))
    local a, b, c = helper.matrix(12, 12), helper.matrix(12, 12), helper.matrix(12, 12)
    local result = device:buffer(c, "double")
    load("return " .. text)()(a, b, c, 12)
    compiled(device:buffer(a, "double"), device:buffer(b, "double"), result, 12)
    assert.same(c, result:read())
  end)

  helper.on_cpu("are there only where what jumps is the same for all rows, and nobody writes it", function()
    for sum, expected in pairs {
      ["c[i][j] = c[i][j] + a[i][k] * b[j][k]"] = true,
      ["c[i][j] = c[i][j] + a[i][k] * b[k][j]"] = false, -- neighbours as they are
      ["c[i][j] = c[i][j] + a[i][k] * b[j + i][k]"] = false,
      ["c[i][j] = c[i][j] + a[i][k] * b[j][k] * b[2 * j][k] * a[j][k] * a[j + 1][k] * a[j + 2][k]"] = false,
      ["c[j][i] = c[j][i] + a[i][k] * b[j][k]"] = true, -- i are the columns
    } do
      local text = "function(a, b, c, n) for i = 1, n do for j = 1, n do for k = 1, n do # end end end end"
      text = text:gsub("#", sum)
      local compiled = assert(loops.compile(text, { device = device, force = true }))
      compiled(device:random("double", 30, 30), device:random("double", 30, 30), device:zeros("double", 12, 12), 12)
      assert.equal(expected, has_panels(compiled), text)
    end
  end)
end)
