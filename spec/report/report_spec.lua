-- SPDX-License-Identifier: MIT
--- Rows as text, Markdown, CSV and JSON.

local json = require "dkjson"
local report = require "clcompute.report"
local reported = require "spec.support.reported"
local text_width = require("clcompute.base").width
local write_file = require("clcompute.base").write_file

local EVIL, ROWS, count, lines_of = reported.EVIL, reported.ROWS, reported.count, reported.lines_of

local function raises(texts, f, ...)
  local arguments = table.pack(...)
  local ok, message = pcall(function() f(table.unpack(arguments, 1, arguments.n)) end)
  assert.is_false(ok)
  for _, text in ipairs(texts) do assert.truthy(message:find(text, 1, true), message) end
  assert.truthy(message:find("spec/report/report_spec.lua", 1, true), "does not point at the script: " .. message)
end

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

  it("takes rows whose fields are of any type", function()
    local rows = { { name = 5, value = 2.0, unit = {}, peak_share = "all" }, { name = {}, unit = true, value = 1.0 } }
    for _, write in ipairs { report.text, report.markdown, report.html } do
      assert.is_string(write { sections = { { title = "odd", rows = rows } } })
    end
    raises({ "a userdata has no JSON" }, report.json, { { name = io.stdout } })
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
