-- SPDX-License-Identifier: MIT
-- Elements that a work-item of a GPU has in a register while a loop goes on, where nothing else in the loop is that
-- element.

local helper = require "spec.helper"
local loops = require "clcompute.loops"

local N = 11

local function compare(body)
  return helper.compare_in_all_ways(("function(a, b, c, n) %s end"):format(body), 3, N,
    function() return math.random() + 0.5 end, { helper.WIDE })
end

--- A loop in each pass of a parallel one.
local function in_rows(loop)
  return ("for i = 1, n do %s end"):format(loop)
end

describe("an element that a loop stores", function()
  it("is in a register where other elements of its array are read", function()
    for _, text in ipairs {
      "for j = 1, n do for k = 1, j - 1 do a[j][i] = a[j][i] - b[j][k] * a[k][i] end; a[j][i] = a[j][i] / b[j][j] end",
      "for k = 2, n do c[i][1] = c[i][1] + c[i][k] * b[k][i] end",
      "for k = n, 2, -1 do c[i][1] = c[i][k] * c[i][1] end",
      "for k = 1, n do local w = b[i][k] * c[i][2]; c[i][2] = c[i][2] + w * w end",
    } do
      local source = compare(in_rows(text)):source()
      assert.matches("\n    }\n    [^\n]+%] = k_%d+_sum;", source:gsub("\n  +", "\n    "), text)
    end
  end)

  it("is stored by each pass where another one may read it, or stores it too", function()
    for _, text in ipairs {
      "for k = 1, n do a[i][3] = a[i][3] + a[i][k] end",
      "for k = 2, n do a[i][2] = a[i][2] * b[i][k]; a[i][k] = a[i][k] + 1 end",
      "for k = 2, n do a[i][k] = a[i][k - 1] * b[i][k] end",
      "for k = 1, n do if b[i][k] > 1 then a[i][3] = a[i][3] + b[i][k] end end",
    } do
      assert.not_matches("_sum", compare(in_rows(text)):source(), text)
    end
  end)

  it("is stored by each pass where it rounds what the register has", function()
    local device = helper.device()
    local text = ("function(a, b, n) %s end"):format(in_rows "for k = 2, n do a[i] = a[i] * 0.75 + b[i][k] end")
    local function rounded(value) return (string.unpack("f", string.pack("f", value))) end
    for mode, pattern in pairs { exact = "not_matches", fast = "matches" } do
      local f = assert(loops.compile(text, { device = device, force = true, tiles = helper.WIDE, mode = mode }))
      local b = helper.matrix(N, N, function() return rounded(math.random()) end)
      local a, expected = device:zeros("float", N), {}
      f(a, device:buffer(b, "float"), N)
      assert[pattern]("_sum", f:source())
      for i = 1, N do
        local s = 0.0
        for k = 2, N do s = rounded(s * 0.75 + b[i][k]) end
        expected[i] = s
      end
      for i, value in ipairs(a:read()) do
        if mode == "exact" then assert.equal(expected[i], value) else assert.near(expected[i], value, 1e-5) end
      end
    end
  end)

  local ELEMENTS = { "a[i][j]", "a[j][i]", "a[i][k]", "a[k][i]", "a[j][k]", "c[i][1]", "c[1][i]", "c[i][k]", "c[j][i]",
    "b[i][k]", "b[k][j]" }
  local RANGES = { "1, j - 1", "j + 1, n", "1, n", "n, j + 1, -1", "2, n" }

  it("has the value of Lua, whatever it is", function()
    for program = 1, helper.long(400) or 16 do
      math.randomseed(program)
      local function pick(list) return list[math.random(#list)] end
      local target = ELEMENTS[math.random(9)]
      local text = ("for j = 1, n do for k = %s do %s = %s * 0.5 - %s * %s end; c[i][2] = %s + 0.25 end"):format(
        pick(RANGES), target, pick { target, pick(ELEMENTS) }, pick(ELEMENTS), pick(ELEMENTS),
        pick { "b[i][j]", "a[i][j]" })
      compare(in_rows(text))
    end
  end)
end)
