-- SPDX-License-Identifier: MIT
-- Arrays that passes fill anew before they read them: each pass has its own, and the last one's is left.

local helper = require "spec.helper"
local loops = require "clcompute.loops"

local N = 13

local function compare(body, n)
  return helper.compare_in_all_ways(("function(a, b, c, n) %s end"):format(body), 3, n or N,
    function() return math.random() - 0.5 end, { helper.WIDE })
end

local ROWS = [[for i = 1, n do
  for j = 1, n do c[1][j] = a[i][j] * 2 end
  for j = 1, n do b[i][j] = c[1][j] + c[1][n - j + 1] end
end]]

describe("arrays of each pass", function()
  it("leave parallel nests, and what the last pass stored", function()
    local wide = compare(ROWS)
    assert.matches("writes c of each pass", wide:explain())
    assert.matches("reads c of each pass, writes b", wide:explain())
    assert.matches("reads c of each pass, writes c", wide:explain())
  end)

  it("may have passes of several loops, sums in them, loops that begin anywhere, and several writes", function()
    for _, text in ipairs {
      "for i = 2, n do for k = 3, n - 1 do for j = 1, n do c[1][j] = 0.0; for l = 1, n do "
        .. "c[1][j] = c[1][j] + a[i][l] end end; for j = 1, n do b[i][k] = b[i][k] + c[1][j] end end end",
      "for i = 1, n do c[2][1] = a[i][1]; for j = 2, n do c[2][j] = c[2][j - 1] + a[i][j] end; "
        .. "for j = 1, n do b[i][j] = c[2][j] end end",
      "for i = 1, n do for j = 1, n do c[j][j] = a[i][j] end; for j = 1, n do b[i][j] = c[n - j + 1][n - j + 1] end "
        .. "end",
      "for i = 1, n do for j = 1, n do c[1][j] = 0.0; for k = i, n - 1 do c[1][j] = c[1][j] + a[k][j] end end; "
        .. "for j = 1, n do b[i][j] = c[1][j] end end",
      "for i = 1, math.min(n, 7) do for j = 1, n do c[1][j] = a[i][j] end; for j = 1, n do b[i][j] = -c[1][j] end end",
    } do
      assert.matches("of each pass", compare(text):explain(), text)
    end
  end)

  it("are right where there is one pass, or none", function()
    for _, text in ipairs { "i = 1, n", "i = n, n", "i = n + 1, n", "i = 5, 4" } do
      for n = 1, 3 do
        if n == 3 or text ~= "i = 5, 4" then compare(ROWS:gsub("i = 1, n", text), n) end
      end
    end
  end)

  it("are none where passes need what is stored elsewhere, or data decide what they store", function()
    for _, text in ipairs {
      "for j = 2, n do c[1][j] = a[i][j] end; for j = 1, n do b[i][j] = c[1][j] end", -- the first one is as it was
      "for j = 1, n do b[i][j] = c[1][j] end; for j = 1, n do c[1][j] = a[i][j] end", -- of the pass before
      "for j = 1, n do c[1][j] = c[1][j] + a[i][j] end; for j = 1, n do b[i][j] = c[1][j] end",
      "for j = 1, n do if a[i][j] > 0 then c[1][j] = a[i][j] end end; for j = 1, n do b[i][j] = c[1][j] end",
      "for j = 1, i do c[1][j] = a[i][j] end; for j = 1, i do b[i][j] = c[1][j] end", -- the last pass does not say all
      "if i > 2 then c[1][1] = a[i][1] end; for j = 1, n do c[1][j] = a[i][j]; b[i][j] = c[1][j] end",
      -- a loop around what is stored may have no pass
      "for k = 14, n do for j = 1, n do c[1][j] = a[i][j] * k end end; for k = 14, n do for j = 1, n do "
        .. "b[i][j] = b[i][j] + c[1][j] end end",
      "for j = 1, n do for k = 14, n do c[j][j] = a[i][k] end end; for k = 14, n do b[i][k] = c[k][k] end",
      "for k = i, n - 1 do for j = 1, n do c[1][j] = a[k][j] end end; for k = i, n - 1 do b[i][k] = c[1][k] end",
      "for j = 1, n do c[1][j] = 0.0 end; for k = i, n - 1 do c[1][k + 1] = a[i][k] end; "
        .. "for j = 1, n do b[i][j] = c[1][j] end",
    } do
      local wide = compare(("for i = 1, n do %s end"):format(text))
      assert.not_matches("of each pass", wide:explain(), text)
    end
  end)

  it("are none of more dimensions than a buffer may have, though passes would be parallel", function()
    local wide = compare [[for r = 1, 2 do for q = 1, 2 do for t = 1, 2 do
      for i = 1, n do for j = 1, n do c[i][j] = a[i][j] * (r + q + t) end end
      for j = 1, n do b[4 * r + 2 * q + t - 6][j] = c[j][1] + c[1][j] end
    end end end]]
    assert.not_matches("of each pass", wide:explain())
  end)

  it("are none where they would take too much memory", function()
    local device = helper.device()
    local text = [[function(x, t, y, n) for i = 1, n do
      for j = 1, 2 do t[j] = x[i] * j end
      for j = 1, 2 do y[i] = y[i] + t[j] end
    end end]]
    local f = assert(loops.compile(text, { device = device, force = true, tiles = helper.WIDE }))
    for _, length in ipairs { 2, 1000000 } do
      local n = length == 2 and 5 or device.global_memory // 4 // (8 * length) + 1
      local x, y = device:random("double", n), device:zeros("double", n)
      f(x, device:zeros("double", length), y, n)
      local values, sums = x:read(), y:read()
      for i = 1, n do assert.equal(values[i] + values[i] * 2, sums[i]) end
      assert[length == 2 and "matches" or "not_matches"]("of each pass", f:explain())
    end
  end)

  it("are none of a loop without another one in it", function()
    local wide = compare "for i = 1, n do c[1][1] = a[i][1]; b[i][1] = c[1][1] * c[1][1] end"
    assert.not_matches("of each pass", wide:explain())
  end)

  it("are none of those that data alone say are written", function()
    local wide = compare "for i = 1, n do if a[i][1] > 0 then for j = 1, n do b[j][1] = a[i][j] end end end"
    assert.not_matches("of each pass", wide:explain())
  end)

  local FILLS = { "c[1][j] = a[i][j]", "c[1][j] = a[i][j] * b[i][1]",
    "c[1][j] = 0.5; for k = 1, n do c[1][j] = c[1][j] + a[i][k] end",
    "c[1][j] = i * 0.25; c[2][j] = a[i][j]", "c[2][n - j + 1] = a[i][j]; c[1][j] = c[2][n - j + 1]" }
  local READS = { "b[i][j] = c[1][j]", "b[i][j] = b[i][j] + c[1][n - j + 1]", "b[j][i] = c[1][j] - c[2][j]",
    "b[i][j] = c[1][1] * c[1][n]", "a[i][j] = c[1][j]" }
  local HEADS = { "i = 1, n", "i = 2, n - 1", "i = 3, math.min(n, 8)" }

  it("have the results of Lua, whatever they read and store", function()
    for program = 1, helper.long(300) or 10 do
      math.randomseed(program)
      local function pick(list) return list[math.random(#list)] end
      local lines = { ("for %s do for j = 1, n do %s end"):format(pick(HEADS), pick(FILLS)) }
      for k = 1, math.random(2) do
        lines[k + 1] = ("for j = %d, n do %s end"):format(math.random(2), pick(READS))
      end
      compare(table.concat(lines, "; ") .. " end")
    end
  end)
end)
