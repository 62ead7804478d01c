-- SPDX-License-Identifier: MIT
-- Loops that a program goes through in strips, and loops that only look like it: results are Lua's, and what is put
-- together is a loop of its own.

local helper = require "spec.helper"
local loops = require "clcompute.loops"

local N = 37 -- no multiple of a strip

local function compare(body, n)
  return helper.compare_in_all_ways(("function(a, b, c, n) %s end"):format(body), 3, n or N,
    function() return math.random() - 0.5 end)
end

--- How many loops are said to have been in strips.
local function count(compiled)
  return select(2, compiled:explain():gsub("are one loop", ""))
end

local PRODUCT = [[
  for ii = 1, n, 8 do for jj = 1, n, 8 do for kk = 1, n, 8 do
    for i = ii, math.min(ii + 7, n) do for j = jj, math.min(jj + 7, n) do
      %s
    end end
  end end end]]

local INNER = "for k = kk, math.min(kk + 7, n) do %s end"

describe("strips", function()
  it("of a product come together, where sums stand in its elements and where they stand in locals", function()
    for _, text in ipairs { INNER:format "c[i][j] = c[i][j] + a[i][k] * b[k][j]",
      "local s = c[i][j]; " .. INNER:format "s = s + a[i][k] * b[k][j]" .. " c[i][j] = s" } do
      local on_tiles, wide = compare(PRODUCT:format(text))
      assert.equal(3, count(on_tiles), text)
      assert.equal(3, count(wide), text)
      assert.matches("work%-items %(j, i%) in tiles, sums in registers", on_tiles:explain())
    end
  end)

  local WHOLE = {
    "for ii = 1, n, 5 do for i = ii, math.min(ii + 4, n) do c[i][1] = a[i][2] end end",
    "for ii = 1, n, 5 do for i = ii, math.min(n, ii + 4) do c[i][1] = a[i][2] end end",
    "for ii = 1, n, 5 do for i = ii, math.min(ii + 5, n + 1) - 1 do c[i][1] = a[i][2] end end",
    "for b = 0, (n - 1) // 5 do for i = 5 * b + 1, math.min(5 * b + 5, n) do c[i][1] = a[i][2] end end",
    "for b = 1, n // 5 do for i = 5 * b - 4, 5 * b do c[i][1] = a[i][2] end end",
    "for ii = 1, n - 4, 5 do for i = ii, ii + 4 do c[i][1] = a[i][2] end end",
    "for ii = 3, n - 1, 4 do for i = ii, math.min(ii + 3, n - 1) do c[i][1] = c[i - 1][1] * 0.5 + a[i][2] end end",
    "for ii = 1, n, 5 do for j = 1, n do for i = ii, math.min(ii + 4, n) do c[i][j] = a[j][i] end end end",
    "for ii = 1, n, 2 do for i = ii, math.min(ii + 1, n, 20) do c[i][1] = a[i][2] end end",
    "for ii = n, n, 3 do for i = ii, math.min(ii + 2, n) do c[i][1] = a[i][2] end end",
    "for ii = 1, n, 4 do for i = ii, math.min(ii + 3, n) do for j = 1, i do c[i][j] = c[i][j] + a[j][i] end end end",
  }

  it("are one loop, however they are written", function()
    for _, text in ipairs(WHOLE) do
      for _, n in ipairs { N, 6, 20 } do
        local on_tiles, wide = compare(text, n)
        assert.equal(1, count(on_tiles), text)
        assert.equal(1, count(wide), text)
      end
    end
  end)

  it("are one loop whose passes wait for each other, though those of a strip do not", function()
    for _, text in ipairs {
      "for ii = 1, n, 2 do for i = ii, math.min(ii + 1, n) do for j = 2, n - 1 do for k = i, i do "
        .. "if k > 2 then c[j][k] = c[n + 1 - j][k - 2] * 0.5 + 1 end end end end end",
      "for ii = 1, n // 8 * 2, 2 do for i = ii, ii + 1 do for j = 1, n do for k = 4 * i - 3, 4 * i do "
        .. "if k > 8 then c[j][k] = c[n + 1 - j][k - 8] * 0.5 + 1 end end end end end",
    } do compare(text) end
  end)

  it("of strips are one loop, too", function()
    local on_tiles = compare [[for iii = 1, n, 16 do for ii = iii, math.min(iii + 15, n), 4 do
      for i = ii, math.min(ii + 3, iii + 15, n) do c[i][1] = a[i][2] end end end]]
    assert.is_true(count(on_tiles) >= 1)
  end)

  local APART = {
    "for ii = 1, n, 5 do for i = ii, math.min(ii + 3, n) do c[i][1] = a[i][2] end end", -- gaps
    "for ii = 1, n, 5 do for i = ii, math.min(ii + 6, n) do c[i][1] = c[i][1] + a[i][2] end end", -- twice
    "for ii = 1, n - 5, 5 do for i = ii + 1, math.min(ii + 4, n) do c[i][1] = a[i][2] end end",
    "for ii = 1, n, 5 do for i = ii, math.min(ii + 4, n) do c[i][1] = a[ii][2] end end", -- what strip it is matters
    "for ii = n, 1, -5 do for i = math.max(1, ii - 4), ii do c[i][1] = c[i][1] * 2 + a[i][1] end end",
    "for ii = 1, n, 5 do for i = math.min(ii + 4, n), ii, -1 do if i > 1 then c[i][1] = c[i - 1][1] end end end",
    "for ii = 2, n, 5 do for t = 1, 3 do for i = ii, math.min(ii + 4, n) do c[i][1] = c[i - 1][1] + t end end end",
    "for ii = 1, n, 5 do c[1][1] = c[1][1] + 1; for i = ii, math.min(ii + 4, n) do b[i][1] = a[i][2] end end",
    "for ii = 1, n, 5 do for j = ii, n do for i = ii, math.min(ii + 4, n) do c[i][j] = a[j][i] end end end",
    "for kk = 1, n, 5 do local s = c[1][1]; for k = kk, math.min(kk + 4, n) do s = s + c[1][k] end c[1][1] = s end",
    "for kk = 1, n, 5 do local s = c[kk][1]; for k = kk, math.min(kk + 4, n) do s = s + a[1][k] end c[kk][1] = s end",
    "for kk = 1, n, 5 do local s = c[1][1]; for k = kk, math.min(kk + 4, n) do s = s + a[1][k] end c[1][2] = s end",
  }

  it("stay where their order, or their number, would be another one", function()
    for _, text in ipairs(APART) do
      local on_tiles, wide = compare(text)
      assert.equal(0, count(on_tiles), text)
      assert.equal(0, count(wide), text)
    end
  end)

  it("stay where no strip may be, and nothing is read then", function()
    local device = helper.device()
    local text = [[function(a, c, m, n) for i = 1, m do for kk = 1, n, 5 do
      local s = c[i]; for k = kk, math.min(kk + 4, n) do s = s + a[k] end c[i] = s end end end]]
    local compiled = assert(loops.compile(text, { device = device, force = true }))
    compiled(device:zeros("double", 3), device:zeros("double", 2), 7, 0)
    assert.equal(0, count(compiled))
  end)

  it("stay where elements round what a local does not", function()
    local device = helper.device()
    local text = ("function(a, c, n) %s end"):format [[for i = 1, n do for kk = 1, n, 5 do
      local s = c[i]; for k = kk, math.min(kk + 4, n) do s = s + a[k] end c[i] = s end end]]
    local function rounded(value) return (string.unpack("f", string.pack("f", value))) end
    local numbers = {}
    for i = 1, N do numbers[i] = rounded(math.random()) end
    local sum = 0.0
    for kk = 1, N, 5 do
      local s = sum
      for k = kk, math.min(kk + 4, N) do s = s + numbers[k] end
      sum = rounded(s)
    end
    for mode, joined in pairs { exact = 0, fast = 1 } do
      local compiled = assert(loops.compile(text, { device = device, force = true, mode = mode }))
      local c = device:zeros("float", N)
      compiled(device:buffer(numbers, "float"), c, N)
      assert.equal(joined, count(compiled), mode)
      for i = 1, N do assert.near(sum, c:get(i), mode == "exact" and 0 or 1e-4) end
    end
  end)

  it("do not run where there are none", function()
    for _, text in ipairs(WHOLE) do
      local compiled = assert(loops.compile(("function(a, b, c, n) %s end"):format(text), { device = helper.device(),
        force = true }))
      local c = helper.matrix(4, 4, function() return 1.5 end)
      if text:find("n - ", 1, true) or text:find("1, n", 1, true) then
        compiled(helper.matrix(4, 4, function() return math.random() end), c, c, 0)
        for _, row in ipairs(c) do assert.same({ 1.5, 1.5, 1.5, 1.5 }, row) end
      end
    end
  end)
end)
