-- SPDX-License-Identifier: MIT
--- Numbers, scales, labels and texts: what tables and charts are made of.

local axes = require "clcompute.report.axes"
local format = require "clcompute.base.format"
local heat = require "clcompute.report.heat"
local markup = require "clcompute.report.markup"
require "spec.support.reported"

describe("numbers", function()
  it("have significant digits and no exponent where people need none", function()
    local cases = { { 1500000000, "1500000000" }, { 8.6249, "8.62" }, { 0.012349, "0.0123" }, { 1e-12, "1.00e-12" },
      { 9.999, "10.0" }, { -0.5, "-0.500" }, { 123456.0, "123456" }, { 1.5e9, "1.50e9" }, { 0.0, "0" } }
    for _, case in ipairs(cases) do assert.equal(case[2], format.significant(case[1])) end
    assert.equal("NaN", format.significant(0 / 0))
    assert.equal("-inf", format.significant(-math.huge))
  end)

  it("have engineering prefixes, of which seconds take only small ones", function()
    assert.equal("8.62 ms", format.engineering(8.62e-3, "s"))
    assert.equal("1.00 µs", format.engineering(0.9999e-6, "s"))
    assert.equal("5400 s", format.engineering(5400.0, "s"))
    assert.equal("3.20 TB/s", format.engineering(3.2e12, "B/s"))
    assert.equal("1.50 GFLOP/s", format.engineering(1.5, "GFLOP/s"))
    assert.equal("0.00100 ys", format.engineering(1e-27, "s"))
  end)

  it("share a unit within a column, unless they differ too much", function()
    local write, unit = format.shared({ 8.62e-3, 0.5169 }, "s")
    assert.equal("ms", unit)
    assert.equal("8.62", write(8.62e-3))
    assert.equal("516.90", write(0.5169))
    write, unit = format.shared({ 1e-6, 10.0 }, "s")
    assert.is_nil(unit)
    assert.equal("1.00 µs", write(1e-6))
    assert.equal("0.50000", format.shared { 1.23e-3, 0.5 }(0.5)) -- up to five decimals
    assert.equal("0.0500", format.shared { 1.23e-4, 0.05 }(0.05))
  end)

  it("in a column are never off by more than their last digit shows", function()
    for _ = 1, 200 do
      local values, power = {}, math.random(-20, 20)
      for i = 1, 5 do values[i] = (0.001 + math.random()) * 10.0 ^ power end
      local write = format.shared(values, nil)
      for _, value in ipairs(values) do
        assert.is_true(math.abs(tonumber(write(value)) - value) <= 0.0051 * value, write(value))
      end
    end
  end)
end)

describe("a scale", function()
  it("maps values to positions and back, linear and logarithmic", function()
    for _, base in ipairs { 0, 2, 10 } do
      for _ = 1, 100 do
        local low = 10.0 ^ math.random(-12, 12) * (0.1 + math.random())
        local high = low * (1 + 1000 * math.random())
        local s = axes.scale(low, high, base > 0 and base or nil, 6):place(300, 20)
        assert.is_true(s.low <= low * (1 + 1e-9) and s.high >= high * (1 - 1e-9))
        assert.is_true(#s.ticks >= 2 and #s.ticks <= 24)
        for _, value in ipairs { low, high, (low + high) / 2 } do
          assert.is_true(math.abs(s:value(s:at(value)) - value) <= 1e-9 * value)
        end
      end
    end
  end)

  it("has ticks at round numbers, in order, and a span even where all values are equal", function()
    assert.same({ 0, 20, 40, 60, 80, 100 }, axes.scale(0, 97, nil, 5).ticks)
    assert.same({ 32, 64, 128, 256 }, axes.scale(32, 256, 2, 8).ticks)
    assert.same({ 1, 2, 5, 10, 20 }, axes.scale(1, 19, 10, 8).ticks)
    assert.same({ 2, 5, 10, 20, 50, 100, 200 }, axes.scale(2.4, 132, 10, 8).ticks)
    assert.same({ 1, 10, 100, 1000 }, axes.scale(0.6, 1900, 10, 8).ticks)
    for _, value in ipairs { 0, 5, -5, 1e-300, 1e300 } do
      local s = axes.scale(value, value, nil, 5)
      assert.is_true(s.low < s.high and s.low <= value and value <= s.high)
    end
    assert.equal(0, axes.scale(0, 0, nil, 5).low) -- a bar of nothing has nothing below it
  end)

  it("which is tight ends at the values, with ticks there where these are round", function()
    local s = axes.scale(10, 47, nil, 4, true)
    assert.same({ { 10, 47 }, { 10, 20, 30, 40 } }, { { s.low, s.high }, s.ticks })
    assert.same({ -40, -30, -20, -10 }, axes.scale(-47, -10, nil, 4, true).ticks)
  end)
end)

describe("a logarithmic scale", function()
  it("ends at the round numbers next to the values", function()
    local ends = {}
    for _, range in ipairs { { 0.6, 1900, 10 }, { 2.4, 132, 10 }, { 33, 900, 2 }, { 10, 1000, 10 } } do
      local s = axes.scale(range[1], range[2], range[3], 8)
      ends[#ends + 1] = { s.low, s.high }
    end
    assert.same({ { 0.5, 2000 }, { 2, 200 }, { 32, 1024 }, { 10, 1000 } }, ends)
  end)
end)

describe("labels of ticks", function()
  it("have as many decimals as they need", function()
    assert.same({ "0", "20", "140" }, (format.linear_ticks { 0.0, 20.0, 140.0 }))
    local labels, unit = format.linear_ticks({ 0, 0.02, 0.04, 7 * 0.02 }, "s")
    assert.same({ { "0", "20", "40", "140" }, "ms" }, { labels, unit })
    assert.same({ "0.0", "2.5", "5.0" }, (format.linear_ticks { 0, 2.5, 5 }))
    assert.same({ "16.25", "17.00" }, (format.linear_ticks { 16.25, 17 }))
  end)

  it("are fractions below one on an axis of powers of two", function()
    local labels = {}
    for i, value in ipairs { 1 / 64, 1 / 6, 0.5, 0.3, 1 } do labels[i] = format.log_tick(value, nil, 2, 64) end
    assert.same({ "1/64", "1/6", "1/2", "0.3", "1" }, labels)
    assert.equal("20 M/s", format.log_tick(2e7, "/s", 10, 1e8))
  end)
end)

describe("texts", function()
  it("are cleaned, and cut to the pixels there are", function()
    assert.equal(0, markup.pixels("\u{301}", 10))
    assert.is_true(markup.pixels("矩", 10) > markup.pixels("β", 10))
    for limit = 10, 60 do
      for _, cut in ipairs { markup.cut_pixels("矩阵 product", limit, 10), markup.cut_middle("矩阵 product", limit, 10) } do
        assert.is_true(markup.pixels(cut, 10) <= limit, cut)
      end
    end
    assert.equal("矩阵", markup.cut_pixels("矩阵", markup.pixels("矩阵", 10), 10))
    local cut = markup.cut_middle("abcdefgh", markup.pixels("abc…gh", 10), 10)
    assert.equal("abc…gh", cut) -- as many as fit
    local long, start = ("x"):rep(1e6), os.clock()
    markup.cut_middle(long, 100, 10)
    assert.is_true(os.clock() - start < 10) -- it would be hours by one character at a time
    assert.equal("a\u{FFFD}b c", format.clean "a\xFFb\nc\0")
  end)

  it("on a colour of the ramp are legible", function()
    for i = 0, 200 do
      local colour, ink = heat.colour(i / 200)
      assert.is_true(heat.contrast(colour, ink) >= 4.5, colour)
    end
  end)
end)
