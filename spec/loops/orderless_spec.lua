-- SPDX-License-Identifier: MIT
--- Reductions that have the same result in any order are shared out unasked: integers, and the smallest and largest of
-- floats that are never -0.0.

local copies = require "spec.support.copies"
local helper = require "spec.helper"
local loops = require "clcompute.loops"

local SIZES = { 0, 1, 2, 7, 65, 299 } -- of arrays with one element more
local ODD = { 0.0, -0.0, 0 / 0, math.huge, -math.huge, 1e-310, 2 ^ 53 }

local function float() return math.random() < 0.2 and ODD[math.random(#ODD)] or 4 * math.random() - 2 end
local function integer() return math.random() < 0.5 and math.random(0) or math.random(-3, 3) end

local function list(n, element)
  local values = {}
  for i = 1, n + 1 do values[i] = element() end
  return values
end

local TEXT = [[function(a, b, k, x, c, n)
  local s, t = x, c
  for i = 1, n do %s end
  return s, t
end]]

local function compile(device, update)
  return assert(loops.compile(TEXT:format(update), { device = device, force = true }))
end

--- Compares what a compiled function returns with Lua, zeros by their signs, too.
local function check(compiled, update)
  for _, n in ipairs(SIZES) do
    local values = { list(n, float), list(n, float), list(n, integer), ODD[n % #ODD + 1], integer(), n }
    values[1][n + 1], values[2][n + 1] = 0.5, 0.5 -- no list of integers
    local expected = table.pack(load("return " .. TEXT:format(update))()(table.unpack(copies.of(values))))
    local got = table.pack(compiled(table.unpack(values)))
    local place = ("%s, n = %d"):format(update, n)
    for k = 1, 2 do assert.equal(("%q"):format(expected[k]), ("%q"):format(got[k]), place) end
  end
end

helper.describe_each("a reduction", function(device)
  it("that has one result in any order is shared out, and is Lua's", function()
    for _, update in ipairs {
      "s = math.max(s, math.abs(a[i]))", "if math.abs(a[i] - b[i]) > s then s = math.abs(a[i] - b[i]) end",
      "s = math.min(s, a[i] * a[i], math.abs(b[i]) / 3)", "s = math.max(s, a[i] * a[i] + b[i])",
      "s = math.abs(b[i]) < s and math.abs(b[i]) or s",
      "if a[i] > 0.5 then s = math.max(s, math.sqrt(b[i] * b[i])) end",
      "s = math.max(s, 0.0 - b[i])", "local e = math.abs(a[i]) if e > s then s = e end",
      "s = math.max(s, a[i] ^ 2, math.max(math.abs(b[i]), 0.5) * math.sqrt(a[i] * a[i]))",
      "t = t + k[i]", "t = t - k[i] * 3", "t = t * (k[i] | 1)",
      "if a[i] > b[i] then t = t + 1 end", "t = math.max(t, k[i])", "t = math.min(k[i], t)",
      "s = math.max(s, math.abs(a[i])); t = t + k[i]; b[i] = a[i] * 0.5",
    } do
      local compiled = compile(device, update)
      check(compiled, update)
      assert.matches("reduces, work%-items share %(i%)", compiled:explain(), update)
      assert.not_matches("that are shared out", compiled:explain(), update)
    end
  end)

  it("to which an order matters keeps Lua's", function()
    for _, update in ipairs { "s = s + a[i]", "s = math.max(s, a[i])", "s = math.max(math.abs(a[i]), s)",
      "s = math.min(s, 0.0 * a[i])", "s = math.max(s, math.abs(a[i]), b[i])", "s = s * 2 + k[i]",
      "s = math.max(s, math.abs(a[i])); t = t + (s > 1 and 1 or 0)" } do
      local compiled = compile(device, update)
      check(compiled, update)
      assert.not_matches("reduces", compiled:explain(), update)
      local advice = update:find "^s = s %+" and "" or "not_"
      assert[advice .. "matches"]('; reduce = "tree" shares it out: sum in s %(line 3%)', compiled:explain(), update)
    end
  end)

  it("into elements of few bits is what rounding each makes of it", function()
    for update, word in pairs { ["math.max(m[1], math.abs(a[i]))"] = "matches",
      ["math.max(m[1], 0.0 - a[i])"] = "not_matches", ["math.min(m[1], a[i] * a[i])"] = "matches" } do
      local text = ("function(m, a, n) for i = 1, n do m[1] = %s end end"):format(update)
      local compiled = assert(loops.compile(text, { device = device, force = true }))
      for _, tiny in ipairs { 1e-60, 0.5, 0 / 0 } do
        local a, m = list(299, function() return math.random() < 0.5 and 0.5 or tiny end), { -1.0, 2.0 }
        local buffer = device:buffer(m, "float")
        a[3], a[200] = tiny, 0.0
        compiled(buffer, device:buffer(a, "double"), #a)
        for i = 1, #a do
          local stored = load("return " .. text)()
          stored(m, { a[i] }, 1)
          m[1] = string.unpack("f", string.pack("f", m[1]))
        end
        assert.equal(("%q"):format(m[1]), ("%q"):format(buffer[1]), update)
      end
      assert[word]("reduces", compiled:explain(), update)
    end
  end)

  it("in a loop that ends where data say so leaves the loop to the host, and its nests to work-items", function()
    local text = [[function(a, b, n, steps, least)
      local last = 0
      for step = 1, steps do
        local worst = 0.0
        for i = 2, n - 1 do for j = 2, n - 1 do
          b[i][j] = 0.25 * (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1])
          worst = math.max(worst, math.abs(b[i][j] - a[i][j]))
        end end
        for i = 2, n - 1 do for j = 2, n - 1 do a[i][j] = b[i][j] end end
        last = step
        if worst < least then break end
      end
      return last
    end]]
    local n = 19
    local compiled = assert(loops.compile(text, { device = device, force = true }))
    local values = { helper.matrix(n, n), helper.matrix(n, n), n, 40, 0.05 }
    local got = copies.of(values)
    local last = load("return " .. text)()(table.unpack(values))
    assert.is_true(last > 2 and last < 40, last)
    assert.equal(last, compiled(table.unpack(got)))
    assert(copies.are_equal(values, got))
    assert.equal(2 * last, compiled:stats().launches)
  end)
end)
