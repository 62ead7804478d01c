-- SPDX-License-Identifier: MIT
local json = require "dkjson"
local axes = require "clcompute.report.axes"
local format = require "clcompute.base.format"
local heat = require "clcompute.report.heat"
local markup = require "clcompute.report.markup"
local report = require "clcompute.report"
local text_width = require("clcompute.base").width
local write_file = require("clcompute.base").write_file

local SEED = tonumber(os.getenv "SPEC_SEED") or os.getenv "LONG" and os.time() or 1
io.stderr:write("SPEC_SEED=", SEED, "\n")
math.randomseed(SEED)

local EVIL = '<b>"x" & \'y\', | *z* [l](u) `c`\nnext' -- what each format has a meaning for

local function raises(texts, f, ...)
  local arguments = table.pack(...)
  local ok, message = pcall(function() f(table.unpack(arguments, 1, arguments.n)) end)
  assert.is_false(ok)
  for _, text in ipairs(texts) do assert.truthy(message:find(text, 1, true), message) end
  assert.truthy(message:find("spec/report/report_spec.lua", 1, true), "does not point at the script: " .. message)
end

local function count(text, pattern)
  return select(2, text:gsub(pattern, ""))
end

local function lines_of(text)
  local list = {}
  for line in text:gmatch "([^\n]*)\n" do list[#list + 1] = line end
  return list
end

local ROWS = {
  { name = "saxpy", params = { n = 1024, group = 64 }, device = "GPU α", value = 8.62e-3, q1 = 8.57e-3, q3 = 11.13e-3,
    gflops = 1.5, checked = true, status = "ok" },
  { name = "saxpy", params = { n = 2048 }, device = "CPU", value = 17.2e-3, q1 = 17e-3, q3 = 17.4e-3, gflops = 3.25,
    checked = false, status = "ok" },
  { name = "saxpy", params = { n = 4096 }, device = "CPU", status = "unsupported", reason = "no double" },
}

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

  it("are told from rows whose fields are of any type", function()
    local rows = { { name = 5, value = 2.0, unit = {}, peak_share = "all" }, { name = {}, unit = true, value = 1.0 } }
    for _, write in ipairs { report.text, report.markdown, report.html } do
      assert.is_string(write { sections = { { title = "odd", rows = rows } } })
    end
    raises("a userdata has no JSON", report.json, { { name = io.stdout } })
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

describe("report.text", function()
  it("aligns columns, flattens params, and shows why a row failed", function()
    local lines = lines_of(report.text(ROWS))
    assert.matches("^name +group +n +device +median, ms +quartiles, ms +rate, GFLOP/s +check +status", lines[1])
    assert.matches("^saxpy +64 +1024 +GPU α +8.62 +8.57 – 11.13 +1.50 +ok +ok", lines[3])
    assert.matches("WRONG +ok", lines[4])
    assert.matches("unsupported: no double$", lines[5])
    local at = text_width.of(lines[1]:match "^(.*)status")
    assert.equal(at, text_width.of(lines[5]:match "^(.*)unsupported"))
  end)

  it("draws bars in proportion, none for failed rows", function()
    local lines = lines_of(report.text(ROWS, { ascii = true, width = 140 }))
    assert.equal(24, count(lines[4], "#"))
    assert.equal(math.floor(24 * 8.62 / 17.2 + 0.5), count(lines[3], "#"))
    assert.is_nil(lines[5]:find "#")
    assert.is_nil(report.text(ROWS, { ascii = true, width = 140, bar = false }):find "#")
  end)

  it("draws bars of what the chart draws, headed by its title", function()
    local section = { columns = { { key = "name" }, { key = "value" }, { key = "rate", title = "bytes a second" } },
      rows = { { name = "a", value = 2, rate = 10 }, { name = "b", value = 1, rate = 40 } },
      chart = { kind = "line", x = "value", y = "rate" } }
    local function bars()
      local lines = lines_of(report.text(section, { ascii = true }))
      return count(lines[3], "#"), count(lines[4], "#"), lines[1]
    end
    local first, second, head = bars()
    assert.same({ 6, 24 }, { first, second })
    assert.matches("bytes a second +bytes a second$", head)
    section.chart.y = "value"
    first, second, head = bars()
    assert.same({ 24, 12 }, { first, second })
    assert.matches("bytes a second +value$", head)
    section.chart.y = "elsewhere" -- what is in no column has no bars
    assert.same({ 0, 0 }, { (bars()), (select(2, bars())) })
  end)

  it("wraps the columns that say so, and loses none of their words", function()
    local words = ("word "):rep(40) .. "end"
    local section = { columns = { { key = "name", title = "" }, { key = "fact", wrap = true }, { key = "by" } },
      rows = { { name = "what was measured", fact = words, by = "an experiment" },
        { name = "b", fact = "c", by = "d" } } }
    for width = 60, 120, 15 do
      local text = report.text(section, { width = width })
      assert.same({ 40, 1 }, { count(text, "word"), count(text, "end") })
      assert.matches("\nwhat was measured +word .* an experiment\n +word", text)
      for _, line in ipairs(lines_of(text)) do assert.is_true(text_width.of(line) <= width, line) end
    end
    raises({ "'wrap': boolean expected, got string" }, report.text,
      { rows = {}, columns = { { key = "a", wrap = "x" } } })
  end)

  it("keeps to its width, and to ASCII when told", function()
    for width = 60, 140, 7 do
      local rows = { { name = ("n"):rep(200), value = 1e-6 }, { name = "b", value = 2e-6 } }
      for _, line in ipairs(lines_of(report.text(rows, { width = width }))) do
        assert.is_true(text_width.of(line) <= width, line)
      end
    end
    assert.is_nil(report.text(ROWS, { ascii = true }):find "[\x80-\xff]")
  end)

  it("does with shorter names of devices, then without bars, then without details where room is scarce", function()
    local long, short = "pthread-haswell-Intel(R) Xeon(R) CPU E5-2680 v3 @ 2.50GHz", "Intel Xeon E5-2680 v3"
    local rows = {}
    for i, device in ipairs { long, "NVIDIA H200" } do
      rows[i] = { name = "gemm", device = device, value = i * 1e-3, q1 = i * 0.9e-3, q3 = i * 1.1e-3, gflops = 9.0 * i }
    end
    --- Whether it has the long name, the short name, bars, quartiles, and says what it leaves out.
    local function has(width)
      local text = report.text(rows, { width = width })
      for _, line in ipairs(lines_of(text)) do assert.is_true(text_width.of(line) <= width, line) end
      return { text:find(long, 1, true) ~= nil, text:find(short, 1, true) ~= nil, text:find("█", 1, true) ~= nil,
        text:find "quartiles, ms +" ~= nil, text:find("no room for: quartiles\n", 1, true) ~= nil }
    end
    assert.same({ true, false, true, true, false }, has(140))
    assert.same({ false, true, true, true, false }, has(100))
    assert.same({ false, true, false, true, false }, has(72))
    assert.same({ false, true, false, false, true }, has(62))
    rows[2].device = "Intel(R) Xeon(R) CPU E5-2680 v3" -- two of that short name: both stay as they are
    assert.is_true(has(120)[1])
  end)

  it("leaves out the details that columns say they are, the last first", function()
    local columns = { { key = "a" }, { key = "q1", detail = false }, { key = "b", detail = true },
      { key = "c", detail = true } }
    local row = { a = 1, q1 = 2, b = ("b"):rep(30), c = ("c"):rep(20) }
    assert.matches("no room for: c\n$", report.text({ rows = { row }, columns = columns }, { width = 40 }))
    assert.matches("no room for: b, c\n$", report.text({ rows = { row }, columns = columns }, { width = 25 }))
  end)

  it("tells once what all rows have alike where they are too wide, and leaves out what none has", function()
    local columns = { { key = "name" }, { key = "kernel" }, { key = "none" }, { key = "q1", detail = false } }
    local rows = {}
    for i = 1, 2 do rows[i] = { name = "case " .. i, kernel = ("k"):rep(30), q1 = i } end
    local made = { rows = rows, columns = columns }
    assert.matches("^name +kernel +none +q1", report.text(made, { width = 60 }))
    assert.matches("^kernel: k+\n\nname +q1, s\n", report.text(made, { width = 40 }))
    rows[2].kernel = nil -- then they differ
    assert.matches("^name +kernel +q1, s\n", report.text(made, { width = 40 }))
    assert.matches("^name: case 1\nkernel: k+\nq1, s: 1.00\n\nname: case 2\nq1, s: 2.00\n$",
      report.text(made, { width = 20 }))
  end)

  it("wraps long facts beside their names", function()
    local made = { facts = { { "device", ("word "):rep(20) .. "end" }, { "n", 1 } }, sections = {} }
    local lines = lines_of(report.text(made, { width = 40 }))
    assert.matches("^device  word word", lines[1])
    assert.matches("^        word word", lines[2])
    assert.equal("n       1", lines[#lines])
    for _, line in ipairs(lines) do assert.is_true(text_width.of(line) <= 40, line) end
  end)

  it("has a line for each cell where the terminal is too narrow", function()
    local text = report.text(ROWS, { width = 30 })
    assert.truthy(text:find("n: 1024\ndevice: GPU α\n", 1, true))
  end)

  it("has one unit for all times of a table, or one in each cell where they differ too much", function()
    local columns = { { key = "cold", unit = "s" }, { key = "value" }, { key = "share", unit = "s", format = "%.1f" } }
    local rows = { { cold = 712e-6, value = 98.6e-6, share = 0.5 } }
    local lines = lines_of(report.text { rows = rows, columns = columns })
    assert.same({ "cold, µs  value, µs  share, s", "     712       98.6       0.5" }, { lines[1], lines[3] })
    rows[1].value = 98.6e-9
    lines = lines_of(report.text { rows = rows, columns = columns })
    assert.same({ "  cold    value  share, s", "712 µs  98.6 ns       0.5" }, { lines[1], lines[3] })
  end)

  it("brings times of different units to seconds, and else shows the unit of each", function()
    local rows = { { name = "a", value = 1, q1 = 0.5, q3 = 2, unit = "s", cold = 4 },
      { name = "b", value = 1, unit = "ms", cold = 4e-3 }, { name = "c", value = 3e3, unit = "us", status = "ok" } }
    local columns = { { key = "value" }, { key = "cold" } }
    local lines = lines_of(report.text({ rows = rows, columns = columns }, { bar = false }))
    assert.same({ "  value     cold", "1.00 ms  4.00 ms", "3.00 ms        –" }, { lines[1], lines[4], lines[5] })
    local svg = report.svg { rows = rows, chart = { kind = "bar", x = "name", y = "value" } }
    local drawn = {}
    for value in svg:gmatch 'data%-series="" data%-value="([^"]*)"' do drawn[#drawn + 1] = tonumber(value) end
    for i, seconds in ipairs { 1, 1e-3, 3e-3 } do assert.is_true(math.abs(drawn[i] - seconds) <= 1e-15, svg) end
    local alone = { { value = 2, cold = 4e-3, unit = "ms" } }
    lines = lines_of(report.text { rows = alone, columns = columns })
    assert.same({ "value, ms  cold, ms", "        2      4.00" }, { lines[1], lines[3] })
    rows[3] = { name = "c", value = 7, unit = "frames" }
    lines = lines_of(report.text { rows = rows, columns = columns })
    assert.same({ "   value  cold, ms", "    1 ms      4.00", "7 frames         –" }, { lines[1], lines[4], lines[5] })
    assert.equal("2 of 3 rows are not in the chart: value is not in s (2).",
      select(2, report.svg { rows = rows, chart = { kind = "bar", x = "name", y = "value" } }))
  end)

  it("calls a result wrong only where a check said so", function()
    local row = { name = "x", value = 1 }
    assert.is_nil(report.text({ row }):find "check")
    local lines = lines_of(report.text({ row, { name = "y", value = 1, checked = false } }, { bar = false }))
    assert.matches("^x .* –$", lines[3])
    assert.matches("^y .* WRONG$", lines[4])
  end)

  it("has a dash for what is not there, and the same decimals in a column", function()
    local rows = { { name = "", gbs = 35, ratio = 1 }, { name = "b", gbs = 2.41, ratio = 2.5 } }
    local lines = lines_of(report.text(rows))
    assert.matches("^– +35.00 +1.00$", lines[3])
    assert.matches("^b +2.41 +2.50$", lines[4])
  end)

  it("takes no rows, one row, and values that are no numbers", function()
    assert.equal("(no rows)\n", report.text {})
    for _, value in ipairs { 0, 0 / 0, math.huge, -1e300, 5e-324 } do
      assert.is_string(report.text { { name = "x", value = value }, { name = "y" } })
    end
  end)
end)

describe("a number that must not be taken as it stands", function()
  local rows = { { name = "a", value = 1, ratio = 1, agrees = true, peak_share = 0.5 },
    { name = "b", value = 2, ratio = 1.11, agrees = false, peak_share = 1.18 } }
  local UNCERTAIN, CACHE = "it moved by more than 10 %.", "part of the data may come from a cache."

  it("is marked, and a footnote says why, in each form", function()
    for _, write in ipairs { report.text, report.markdown, report.html } do
      local written = write(rows):gsub("%s+", " ")
      assert.truthy(written:find("1.11 ?", 1, true))
      assert.is_nil(written:find("1.00 ?", 1, true))
      assert.truthy(written:gsub("&gt;", ">"):find("> 100 %", 1, true))
      assert.is_nil(written:find("118 %", 1, true))
      assert.truthy(written:find(UNCERTAIN, 1, true))
      assert.truthy(written:find(CACHE, 1, true))
      assert.equal(1, count(written, "moved by more"))
      written = write({ rows[1] }):gsub("%s+", " ")
      assert.is_nil(written:find(UNCERTAIN, 1, true) or written:find(CACHE, 1, true))
    end
  end)

  it("is marked where its column has a format of its own, too", function()
    local columns = { { key = "ratio", format = function(value) return ("%.1f times"):format(1 / value) end } }
    assert.truthy(report.text({ rows = rows, columns = columns }):find("0.9 times ?", 1, true))
  end)
end)

describe("a caption", function()
  it("is shown with and without a chart, rows and points", function()
    local chart = { kind = "line", x = "n", y = "value" }
    for _, given in ipairs { {}, { { n = 1, value = 2 } }, { { n = 1, status = "failed", reason = "no" } } } do
      for _, drawn in ipairs { chart, false } do
        local section = { caption = "What it means.", rows = given, chart = drawn or nil }
        for _, write in ipairs { report.text, report.markdown, report.html } do
          assert.equal(1, count(write(section), "What it means%."))
        end
      end
    end
  end)
end)

describe("report.markdown", function()
  it("has a table with alignment, and names that mean themselves", function()
    local section = { rows = { { name = EVIL, value = 0.5 } } }
    local lines = lines_of(report.markdown { title = "A # B", sections = { section } })
    assert.same({ "# A \\# B", "", "| name | median, ms |", "| :-- | --: |",
      '| &lt;b&gt;"x" &amp; \'y\', \\| \\*z\\* \\[l\\](u) \\`c\\` next | 500 |' }, lines)
  end)
end)

--- An independent reader of RFC 4180.
local function parse_csv(text)
  local rows, row, at = {}, {}, 1
  while at <= #text do
    local field
    if text:sub(at, at) == '"' then
      local parts = {}
      repeat
        local stop = text:find('"', at + 1, true)
        parts[#parts + 1] = text:sub(at + 1, stop - 1)
        at = stop + 1
      until text:sub(at, at) ~= '"'
      field = table.concat(parts, '"')
    else
      local stop = text:find("[,\r]", at)
      field, at = text:sub(at, stop - 1), stop
    end
    row[#row + 1] = field
    if text:sub(at, at) == "," then
      at = at + 1
    else
      assert.equal("\r\n", text:sub(at, at + 1))
      rows[#rows + 1], row, at = row, {}, at + 2
    end
  end
  return rows
end

describe("report.csv", function()
  it("gives back every field, exactly", function()
    local value = math.random() * 1e-5
    local params = { n = 7, list = { 1, "b" } }
    local rows = parse_csv(report.csv { { name = EVIL, params = params, value = value, checked = true } })
    assert.same({ "name", "params.list.1", "params.list.2", "params.n", "value", "checked" }, rows[1])
    assert.equal(EVIL, rows[2][1])
    assert.equal(value, tonumber(rows[2][5]))
    assert.same({ "1", "b", "7" }, { rows[2][2], rows[2][3], rows[2][4] })
    assert.equal("true", rows[2][6])
  end)

  it("says whose section a row is, and leaves absent fields empty", function()
    local a, b = { title = "a", rows = { { x = 1 } } }, { title = "b", rows = { { y = 2 } } }
    local text = report.csv { sections = { a, b } }
    assert.equal("section,x,y\r\na,1,\r\nb,,2\r\n", text)
    assert.equal("", report.csv {})
  end)
end)

describe("report.json and report.read", function()
  local path
  before_each(function() path = os.tmpname() end)
  after_each(function() os.remove(path) end)

  local function keep(text) write_file(path, text) end

  it("are JSON of what was given, without functions, NaN as null", function()
    assert.same(ROWS, json.decode(report.json(ROWS)))
    assert.equal("[]\n", report.json {})
    local back = json.decode(report.json { sections = { { rows = { { x = 0 / 0, y = 1 } },
      columns = { { key = "y", format = function() return "" end } } } } })
    assert.same({ sections = { { rows = { { y = 1 } }, columns = { { key = "y" } } } } }, back)
  end)

  it("are UTF-8, whatever bytes a device or an error has in its name", function()
    local row = { name = "a\xFFb", ["k\xC3"] = "α\n" }
    for _, text in ipairs { report.json { row }, report.jsonl { row }, report.csv { row } } do
      assert.truthy(utf8.len(text), text)
    end
    local clean = { name = "a\u{FFFD}b", ["k\u{FFFD}"] = "α\n" }
    assert.same({ clean }, json.decode(report.json { row }))
    assert.same(clean, json.decode(report.jsonl { row }))
    assert.equal('name,k\u{FFFD}\r\na\u{FFFD}b,"α\n"\r\n', report.csv { row })
  end)

  it("read rows that were kept, without the last where it was cut off", function()
    keep(report.jsonl(ROWS) .. '{"name": "sax')
    assert.same(ROWS, report.read(path))
    keep(report.jsonl(ROWS):gsub("\n", "\n\n"):sub(1, -3) .. "")
    assert.same(ROWS, report.read(path))
    assert.equal("", report.jsonl {})
    keep ""
    assert.same({}, report.read(path))
  end)

  it("name the line that is no row, and a file that is none", function()
    keep '{"a":1}\n[1\n{}\n'
    raises({ "read: ", path .. ":2: one JSON object a line expected" }, report.read, path)
    keep '{"a":1} {"b":2}\n'
    raises({ path .. ":1:" }, report.read, path)
    for _, text in ipairs { "x", "\0\1\xFF", "[1,2]\n", "7\n", ("["):rep(1e5) .. "\n" } do
      keep(text)
      raises({ path .. ":1: one JSON object a line expected" }, report.read, path)
    end
    raises({ "/nowhere/rows.jsonl" }, report.read, "/nowhere/rows.jsonl")
    raises({ "path expected, got nil" }, report.read)
  end)
end)

--- The tags of a page in pairs: raises where one is not closed.
local function check_nesting(text)
  local open = {}
  for close, name, rest in text:gsub("<style>.-</style>", ""):gmatch "<(/?)(%a%w*)([^<>]*)>" do
    if close == "/" then
      assert.equal(table.remove(open), name)
    elseif name ~= "meta" and rest:sub(-1) ~= "/" then
      open[#open + 1] = name
    end
  end
  assert.same({}, open)
end

--- Asserts that every position is a finite number.
local function has_positions(svg)
  for _, word in ipairs { "nan", "inf" } do assert.is_nil(svg:find("[\" ,LMVH-]" .. word)) end
end

local LINE = { kind = "line", x = "params.n", y = "value", series = "device" }

describe("report.html", function()
  it("is one page without script, network or broken tags, whatever names hold", function()
    local page = report.html { title = EVIL, subtitle = EVIL, facts = { { EVIL, EVIL } }, sections = {
      { title = EVIL, text = EVIL, caption = EVIL, rows = {
        { name = EVIL, device = EVIL, params = { n = 1 }, value = 1 },
        { name = EVIL, device = "</title><script>", params = { n = 2 }, value = 1 } }, chart = LINE } } }
    check_nesting(page)
    assert.is_nil(page:find("<b>", 1, true))
    assert.is_nil(page:find("<script", 1, true))
    assert.is_nil(page:gsub('xmlns="http://www.w3.org/2000/svg"', ""):find("https?:"))
  end)

  it("shows failed rows with their reason in the table, and says that the chart lacks them", function()
    local page = report.html { rows = ROWS, chart = LINE }
    assert.truthy(page:find("1 of 3 rows are not in the chart: unsupported: no double (1).", 1, true))
    assert.truthy(page:find("unsupported: no double</td>", 1, true))
    assert.equal(2, count(page, 'data%-series="CPU"')) -- one of the wide chart, one of the narrow
  end)

  it("says when it was written and by which version, of a checkout by which commit", function()
    local version, commit = require "clcompute.base".version, "clcompute.commit"
    local built = package.loaded[commit]
    finally(function() package.loaded[commit] = built end)
    local function footer(hash)
      package.loaded[commit] = hash
      return report.html({ rows = ROWS }):match "<footer>(.-)</footer>"
    end
    assert.equal(("Written on %s by %s (commit 1a2b3c4)."):format(os.date "%Y-%m-%d", version), footer "1a2b3c4")
    assert.equal(("Written on %s by %s."):format(os.date "%Y-%m-%d", version), footer "")
  end)

  it("cuts no label of a bar that two lines hold, on a screen or a phone", function()
    local rows = {}
    for i, name in ipairs { "0:0 pthread-skylake-avx512-Intel(R) Xeon(R) Processor out", "sequential",
      "Borisov 2015: sequential, Intel Core2 CPU 6300" } do rows[i] = { name = name, value = i } end
    local page = report.html { rows = rows, chart = { kind = "bar", x = "name", y = "value" } }
    assert.is_nil(page:find("…", 1, true))
    for word in ("pthread-skylake-avx512-Intel 6300"):gmatch "%S+" do
      assert.equal(3, count(page, word:gsub("%-", "%%-"))) -- the wide chart, the narrow one, the table
    end
  end)

  it("speaks of charts only where there is one", function()
    assert.truthy(report.html({ rows = ROWS, chart = LINE }):find("a point of a chart", 1, true))
    assert.is_nil(report.html({ rows = ROWS }):find("a point of a chart", 1, true))
    assert.is_nil(report.html({ rows = { ROWS[3] }, chart = LINE }):find("a point of a chart", 1, true))
  end)
end)

--- The values at which a chart has ticks.
local function ticks(svg, axis)
  local list = {}
  for value in svg:gmatch('class="tick" data%-axis="' .. axis .. '" data%-value="([^"]*)"') do
    list[#list + 1] = tonumber(value)
  end
  return list
end

describe("report.svg", function()
  it("has ticks at the data where these are few and have room, else at round numbers", function()
    local function x_ticks(sizes, xlog)
      local rows = {}
      for i, n in ipairs(sizes) do rows[i] = { params = { n = n }, value = 1 } end
      local chart = { kind = "line", x = "params.n", y = "value", xlog = xlog }
      return ticks(report.svg { rows = rows, chart = chart }, "x")
    end
    for _, xlog in ipairs { false, 2, 10 } do
      assert.same({ 100, 200, 400 }, x_ticks({ 400, 100, 200, 100 }, xlog or nil))
    end
    assert.same({ 1, 32, 128, 256, 1024 }, x_ticks { 1, 2, 4, 32, 128, 256, 1024 })
    assert.equal(300, x_ticks({ 0, 1, 2, 3, 4, 5, 1000 })[4], "crammed at one end")
    local many = {}
    for n = 1, 29 do many[n] = n end
    assert.same({ 5, 10, 15, 20, 25 }, x_ticks(many))
  end)

  it("is a picture of its own, or nil and why", function()
    local svg, note = report.svg({ rows = { ROWS[1] }, chart = LINE }, { width = 400 })
    assert.matches('^<svg [^>]*viewBox="0 0 400 %d+"', svg)
    assert.is_nil(note)
    check_nesting(svg)
    svg, note = report.svg { rows = { ROWS[3] }, chart = LINE }
    assert.is_nil(svg)
    assert.equal("1 of 1 rows are not in the chart: unsupported: no double (1).", note)
  end)

  it("has a gap in the line where a row between has no value", function()
    local rows = {}
    for n = 1, 5 do rows[n] = { device = "d", params = { n = n }, value = n ~= 3 and n or nil } end
    assert.equal(2, count(report.svg { rows = rows, chart = LINE }, '<path class="line"'))
  end)

  it("takes hundreds of random values of any size", function()
    for _, log in ipairs { 0, 2, 10 } do
      local rows = {}
      for n = 1, 300 do
        rows[n] = { params = { n = n }, value = (math.random() - 0.1) * 10.0 ^ math.random(-300, 300) }
      end
      local chart = { kind = "line", x = "params.n", y = "value", ylog = log > 0 and log or nil }
      local svg = report.svg { rows = rows, chart = chart }
      check_nesting(svg)
      has_positions(svg)
    end
  end)

  it("draws values at the ends of what numbers hold, or says which it leaves out", function()
    local least, next_to = 5e-324, 1e300 * (1 - 2.0 ^ -53)
    local cases = { { 0.3, 0.1 + 0.2 }, { 1, 1 + 2.0 ^ -52 }, { next_to, 1e300 }, { 1e-300 }, { 1e-300, 1e300 },
      { -1e300, 1e300 }, { math.mininteger, math.maxinteger }, { math.mininteger }, { math.maxinteger }, { 1, least },
      { 1, 1e308, 1.7e308, -1e308 } }
    local function draw(values, kind, log)
      local rows = {}
      for i, value in ipairs(values) do rows[i] = { i = i, x = value, one = 1, value = value } end
      local chart = { kind = kind, x = kind == "line" and "x" or "i", y = kind == "heat" and "one" or "value",
        value = kind == "heat" and "value" or nil }
      for _, key in ipairs(kind == "heat" and { "log" } or kind == "bar" and { "ylog" } or { "xlog", "ylog" }) do
        chart[key] = log > 0 and log or nil
      end
      return report.svg { rows = rows, chart = chart }
    end
    for _, values in ipairs(cases) do
      for _, kind in ipairs { "line", "bar", "heat" } do
        for _, log in ipairs { 0, 2, 10 } do
          local svg, note = draw(values, kind, log)
          assert.truthy(svg or note)
          has_positions(svg or "")
        end
      end
    end
    assert.equal("1 of 2 rows are not in the chart: value is closer to 0 than 1e-300 (1).",
      select(2, draw({ 1, least }, "bar", 0)))
    assert.equal("3 of 4 rows are not in the chart: value is beyond 1e+300 (3).",
      select(2, draw({ 1, 1e308, 1.7e308, -1e308 }, "bar", 0)))
  end)
end)

--- The spans of a timeline as it is drawn: { x, y, width, start, finish, state, hatching }.
local function drawn_spans(svg)
  local spans = {}
  for group in svg:gmatch '<g class="s%d">(.-)</g>' do
    local list = group:match '<rect([^>]*data%-value[^>]*)>'
    if list then
      local function number(name) return tonumber(list:match(" " .. name .. '="([^"]*)"')) end
      spans[#spans + 1] = { x = number "x", y = number "y", width = number "width", start = number "data%-x",
        finish = number "data%-value", state = list:match 'data%-series="([^"]*)"',
        hatching = group:match 'fill="url%(#(.-)%)"' or "none" }
    end
  end
  return spans
end

describe("a timeline", function()
  local CHART = { kind = "timeline", lane = "lane", start = "start", finish = "finish", state = "state",
    xunit = "cycles" }

  local function span(lane, start, finish, state)
    return { lane = lane, start = start, finish = finish, state = state }
  end

  it("has each span where the axis says, lanes below each other in the order of the rows", function()
    local states, rows = { "runs", "waits", "ready" }, {}
    for lane = 1, 3 do
      local at = 0
      for i = 1, 5 do
        local finish = at + math.random(0, 9) + 0.5
        rows[#rows + 1] = span("lane " .. lane, at, finish, states[i % 3 + 1])
        at = finish
      end
    end
    local svg, note = report.svg { rows = rows, chart = CHART }
    assert.is_nil(note)
    check_nesting(svg)
    local spans = drawn_spans(svg)
    assert.equal(#rows, #spans)
    local scale_of = (spans[#spans].x + spans[#spans].width - spans[1].x) / rows[#rows].finish
    for i, one in ipairs(spans) do
      assert.same({ rows[i].start, rows[i].finish, rows[i].state }, { one.start, one.finish, one.state })
      assert.is_true(math.abs(spans[1].x + one.start * scale_of - one.x) < 0.1)
      assert.is_true(math.abs((one.finish - one.start) * scale_of - one.width) < 0.1)
      assert.equal((i - 1) // 5, (one.y - spans[1].y) / (spans[6].y - spans[1].y))
    end
  end)

  it("has a hatching of its own for each of seven states, with its definition", function()
    local rows, seen = {}, {}
    for i = 1, 7 do rows[i] = span("a", i, i + 1, "state " .. i) end
    local svg = report.svg { rows = rows, chart = CHART }
    for _, one in ipairs(drawn_spans(svg)) do
      assert.is_nil(seen[one.hatching])
      seen[one.hatching] = true
      if one.hatching ~= "none" then
        assert.truthy(svg:find(('<pattern height="8" id="%s"'):format(one.hatching), 1, true))
      end
      assert.matches(">" .. one.state .. "</text>", svg, 1, true) -- in the legend
    end
  end)

  it("puts spans of a lane that overlap below each other, and others on one track", function()
    local svg = report.svg { chart = CHART, rows = { span("a", 0, 10, "x"), span("a", 10, 20, "x"),
      span("a", 5, 15, "x"), span("a", 15, 16, "x"), span("b", 0, 1, "x") } }
    local at = {}
    for _, one in ipairs(drawn_spans(svg)) do at[("%g-%g"):format(one.start, one.finish)] = one.y end
    assert.equal(at["0-10"], at["10-20"])
    assert.is_true(at["5-15"] > at["0-10"])
    assert.equal(at["5-15"], at["15-16"])
    assert.is_true(at["0-1"] > at["5-15"])
  end)

  it("says which rows are no spans", function()
    local svg, note = report.svg { chart = CHART, rows = { span("a", 0, 1, "x"), span(nil, 0, 1, "x"),
      span("a", 2, 1, "x"), span("a", 0 / 0, 1, "x"), span("a", 0, nil, "x") } }
    assert.equal(1, #drawn_spans(svg))
    assert.equal("4 of 5 rows are not in the chart: no lane (1); finish is before start (1); start is not finite (1); "
      .. "no finish (1).", note)
  end)

  it("is a table of its spans as text, and a picture that is described", function()
    local section = { rows = { span("T0", 0, 20, "executing"), span("T1", 20, 45, "waiting") }, chart = CHART }
    local lines = lines_of(report.text(section))
    assert.equal("lane  start, cycles  finish, cycles  state", lines[1])
    assert.equal("T0                0              20  executing", lines[3])
    assert.equal("T1               20              45  waiting", lines[4])
    assert.matches("Timeline: what each lane does over time, 2 spans; the table has the numbers.", report.svg(section),
      1, true)
  end)

  it("draws spans that took no time, and all that began and ended at once", function()
    for _, value in ipairs { 0, 5, -5, 1e-300, 1e300 } do
      local svg = report.svg { chart = CHART, rows = { span("a", value, value, "x") } }
      assert.equal(1, #drawn_spans(svg))
      has_positions(svg)
    end
  end)
end)

--- The rows of a trace of nx x ny work-items in groups of gx x gy; those from column `last` on were added.
local function items(nx, ny, gx, gy, last)
  local rows = {}
  for y = 0, ny - 1 do
    for x = 0, nx - 1 do
      rows[#rows + 1] = { global_id = { x, y }, local_id = { x % gx, y % gy }, group_id = { x // gx, y // gy },
        local_size = { gx, gy }, part = 1, active = x < (last or nx) }
    end
  end
  return rows
end

--- The cells of a grid, each { id =, class =, x =, y =, width =, height = }; positions are numbers.
local function cells_of(svg)
  local list = {}
  for attributes in svg:gmatch '<rect([^>]* data%-id=[^>]*)>' do
    local one = { id = attributes:match 'data%-id="([^"]*)"', class = attributes:match 'class="([^"]*)"' }
    for _, name in ipairs { "x", "y", "width", "height" } do
      one[name] = tonumber(attributes:match((' %s="([^"]*)"'):format(name)))
    end
    list[#list + 1] = one
  end
  return list
end

describe("a chart of an index space", function()
  it("has each work-item where its id says, and a border around each group", function()
    local svg = report.svg { rows = items(6, 5, 3, 2), chart = { kind = "grid" } }
    check_nesting(svg)
    local cells = cells_of(svg)
    assert.equal(30, #cells)
    local first, side = cells[1], cells[1].width
    assert.equal("0,0", first.id)
    for _, one in ipairs(cells) do
      local x, y = one.id:match "^(%d+),(%d+)$"
      assert.is_true(math.abs(one.x - first.x - x * side) < 0.05, one.id)
      assert.is_true(math.abs(one.y - first.y - y * side) < 0.05, one.id)
    end
    assert.equal(2 * 3, count(svg, 'class="group s%d"'))
    assert.truthy(svg:find(">Index space</title>", 1, true))
    assert.truthy(svg:find("Index space of 30 work-items in 6 work-groups; the table has the numbers.", 1, true))
    for id in ("0, 0|5, 4"):gmatch "[^|]+" do assert.truthy(svg:find(">" .. id .. "</text>", 1, true), id) end
  end)

  it("draws what lies outside of the range hollow, and says so", function()
    local svg = report.svg { rows = items(4, 2, 4, 2, 3), chart = { kind = "grid" } }
    for _, one in ipairs(cells_of(svg)) do
      assert.equal(one.id:sub(1, 1) == "3" and "item hollow" or "item", one.class)
    end
    assert.truthy(svg:find(">outside the range</text>", 1, true))
    assert.is_nil(report.svg({ rows = items(4, 2, 4, 2), chart = { kind = "grid" } }):find "outside the range")
  end)

  it("is coloured by part, or by what it is told, with a legend of what the colours mean", function()
    local rows = items(4, 2, 2, 2)
    for i, row in ipairs(rows) do row.part = i % 4 > 1 and 2 or 1 end
    local svg = report.svg { rows = rows, chart = { kind = "grid" } }
    assert.equal(2, count(svg, ">part %d</text>"))
    svg = report.svg { rows = rows, chart = { kind = "grid", series = "group_id", value = "local_id" } }
    assert.equal(2, count(svg, ">group id %d, %d</text>"))
    assert.equal(2, count(svg, ">1, 1</text>")) -- one local id in each group
  end)

  it("draws groups in their size, planes of three dimensions, and lines of one", function()
    local groups = {}
    for i, size in ipairs { 4, 4, 2 } do
      groups[i] = { first_id = { 4 * i - 4 }, local_size = { size }, group_id = { i - 1 }, items = size,
        active_items = size, part = 1 }
    end
    groups[3].active_items = 1
    local cells = cells_of(report.svg { rows = groups, chart = { kind = "grid" } })
    assert.same({ "item", "item", "item hollow" }, { cells[1].class, cells[2].class, cells[3].class })
    assert.is_true(math.abs(cells[2].x - cells[1].x - cells[1].width) < 0.05)
    local rows = {}
    for z = 3, 5 do rows[#rows + 1] = { global_id = { 0, 0, z }, group_id = { 0, 0, z }, part = 1, active = true } end
    local svg = report.svg { rows = rows, chart = { kind = "grid" } }
    for z = 3, 5 do assert.truthy(svg:find((">dimension 2 = %d</text>"):format(z), 1, true)) end
  end)

  it("names small ids also in three dimensions", function()
    local rows = {}
    for i = 0, 23 do
      rows[i + 1] = { global_id = { i % 4, i // 4 % 3, i // 12 }, group_id = { 0, 0, 0 }, part = 1, active = true }
    end
    assert.equal(24, count(report.svg { rows = rows, chart = { kind = "grid" } }, ">%d, %d, %d</text>"))
  end)

  it("has its title above it as a picture by itself; on a page the section has it", function()
    local section = { title = "A space", rows = items(2, 1, 1, 1), chart = { kind = "grid" } }
    assert.equal(1, count(report.svg(section), ">A space</text>"))
    assert.equal(0, count(report.html(section), ">A space</text>"))
    section.title = nil
    assert.equal(1, count(report.svg(section), ">Index space</text>"))
  end)

  it("leaves out rows that have no place, and says why", function()
    local rows = { { part = 1 }, { global_id = { 0.5 } }, { global_id = { 1, 2, 3, 4 } }, { global_id = 7 },
      { first_id = { 0, 0 }, local_size = { 4 } }, { global_id = { math.maxinteger } }, items(1, 1, 1, 1)[1] }
    local svg, note = report.svg { rows = rows, chart = { kind = "grid" } }
    assert.equal(1, #cells_of(svg))
    assert.equal("6 of 7 rows are not in the chart: no id (5); no size of the group (1).", note)
    rows[7] = nil
    assert.is_nil((report.svg { rows = rows, chart = { kind = "grid" } }))
  end)

  it("keeps to its width, and has room for ids far apart", function()
    local far = items(2, 1, 1, 1)
    far[2].global_id[1] = 2 ^ 53 | 0
    for _, rows in ipairs { items(500, 1, 7, 1), items(1, 500, 1, 7), items(30, 40, 4, 4), far } do
      for width = 280, 1000, 90 do
        local svg = report.svg({ rows = rows, chart = { kind = "grid" } }, { width = width })
        local height = tonumber(svg:match 'viewBox="0 0 %d+ (%d+)"')
        assert.equal(#rows, #cells_of(svg))
        for _, one in ipairs(cells_of(svg)) do
          assert.is_true(one.x >= 0 and one.x + one.width <= width, one.id)
          assert.is_true(one.y >= 0 and one.y + one.height <= height, one.id)
        end
      end
    end
  end)

  it("stands above a table of the same rows, also of rows that were kept", function()
    local path = os.tmpname()
    write_file(path, report.jsonl(items(4, 2, 4, 2, 3)))
    local section = { rows = report.read(path), chart = { kind = "grid" } }
    os.remove(path)
    assert.equal(8, #cells_of(report.svg(section)))
    local lines = lines_of(report.text(section))
    assert.equal("part  global id  local id  group id  local size  active", lines[1])
    assert.equal("   1       3, 0      3, 0      0, 0        4, 2      no", lines[6])
    assert.truthy(report.markdown(section):find("| 1 | 3, 1 | 3, 1 | 0, 0 | 4, 2 | no |", 1, true))
    assert.equal(2 * 8, count(report.html(section), "data%-id="))
  end)
end)

describe("wrong arguments", function()
  it("are errors that say which, what was expected, what came", function()
    raises({ "text: document or list of rows expected, got nil" }, report.text)
    for name, write in pairs { text = report.text, csv = report.csv, json = report.json, jsonl = report.jsonl } do
      raises({ name .. ": list of rows expected, got one row: { row } is a list" }, write, { name = "a", value = 1 })
      raises({ name .. ": list of rows expected, got one row" }, write, { status = "failed" })
    end
    raises({ "text: unknown option 'with'; there are: ascii, bar, width" }, report.text, {}, { with = 1 })
    raises({ "'width': at least 20 expected, got 3" }, report.text, {}, { width = 3 })
    raises({ "html: document: unknown key 'sektions'" }, report.html, { sektions = {} })
    raises({ "section 1: 'rows': list of tables expected, got a number at '1'" }, report.csv,
      { sections = { { rows = { 1 } } } })
    for _, write in ipairs { report.csv, report.text, report.html, report.jsonl } do
      raises({ "list without holes expected, got 2 of 3" }, write, { { a = 1 }, nil, { a = 2 } })
      raises({ "list without holes expected, got 1 of 2" }, write, { nil, { a = 1 } })
    end
    raises({ "'rows': list of tables expected, got a table at '0'" }, report.csv, { [0] = {}, { a = 1 } })
    local cyclic = { a = {} }
    cyclic.a.b = cyclic
    for _, write in ipairs { report.csv, report.text, report.json, report.jsonl } do
      raises({ "contains itself" }, write, { { a = 1 }, cyclic })
    end
    raises({ "section 1, column 1: 'key' is missing" }, report.markdown, { rows = {}, columns = { {} } })
    raises({ "'align': one of center, left, right expected, got up" }, report.text,
      { rows = {}, columns = { { key = "a", align = "up" } } })
    raises({ "chart: 'kind': one of bar, grid, heat, line, timeline expected, got pie" }, report.html,
      { rows = {}, chart = { kind = "pie" } })
    raises({ "a heat chart needs 'value'" }, report.html, { rows = {}, chart = { kind = "heat", x = "a", y = "b" } })
    raises({ "a timeline chart needs 'finish'" }, report.html,
      { rows = {}, chart = { kind = "timeline", lane = "a", start = "b" } })
    raises({ "'state': names of fields expected, got a boolean" }, report.html,
      { rows = {}, chart = { kind = "timeline", lane = "a", start = "b", finish = "c", state = { true } } })
    raises({ "'series': one name expected, got a list" }, report.html,
      { rows = {}, chart = { kind = "grid", series = { "part" } } })
    raises({ "'xlog': 2 or 10 expected, got 3" }, report.html,
      { rows = {}, chart = { kind = "line", x = "a", y = "b", xlog = 3 } })
    raises({ "'x': the name of a field expected, got {}" }, report.html,
      { rows = {}, chart = { kind = "bar", x = {}, y = "b" } })
    raises({ "'series': names of fields expected, got a number" }, report.html,
      { rows = {}, chart = { kind = "line", x = "a", y = "b", series = { 1 } } })
    raises({ "svg: section with 'rows' and 'chart' expected" }, report.svg, { rows = {} })
    raises({ "two rows for a = 1, b = 2" }, report.html, { rows = { { a = 1, b = 2, c = 3 }, { a = 1, b = 2, c = 4 } },
      chart = { kind = "heat", x = "a", y = "b", value = "c" } })
  end)
end)
