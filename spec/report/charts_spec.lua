-- SPDX-License-Identifier: MIT
--- Pages and their charts, as the SVG that is drawn.

local markup = require "clcompute.report.markup"
local report = require "clcompute.report"
local reported = require "spec.support.reported"
local write_file = require("clcompute.base").write_file

local EVIL, ROWS, count, lines_of = reported.EVIL, reported.ROWS, reported.count, reported.lines_of

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
    for n = 1, 29 do many[n] = n / 128 end
    assert.is_true(#x_ticks(many) >= 4, "of a span below 1 as of any other")
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

  it("has its axes in the units that columns say, and lines across where bars are read against them", function()
    local section = { rows = { { name = "a", n = 1, low = 2, rate = 3 } }, columns = { { key = "n", unit = "rows" },
      { key = { "low", "high" }, unit = "m" }, { key = "rate", unit = "GB/s" } } }
    local function drawn(kind, x, y)
      section.chart = { kind = kind, x = x, y = y }
      local svg = report.svg(section)
      return svg:match 'data%-axis="x"[^>]*><line class="(%a+)"', svg
    end
    local mark, svg = drawn("bar", "name", "rate")
    assert.equal("grid", mark)
    assert.truthy(svg:find(">rate, GB/s</text>", 1, true))
    mark, svg = drawn("line", "n", "low")
    assert.equal("axis", mark)
    for _, title in ipairs { "n, rows", "low, m" } do assert.truthy(svg:find((">%s</text>"):format(title), 1, true)) end
  end)

  it("has room for the names beside bars", function()
    local rows = { { name = "a bar", value = 2 }, { name = "another one", value = 1 } }
    local svg = report.svg({ rows = rows, chart = { kind = "bar", x = "name", y = "value" } }, { width = 800 })
    local bars = tonumber(svg:match '<rect [^>]*class="bar"[^>]* x="([^"]*)"')
    for _, row in ipairs(rows) do
      local x = tonumber(svg:match('<text class="label end" x="([^"]*)"[^>]*>' .. row.name))
      assert.is_true(x - markup.pixels(row.name, 13) > -0.05 and x < bars, row.name)
    end
  end)

  it("has room for the values at the ends of bars", function()
    local rows = { { name = "a", value = 2e7 }, { name = "b", value = 1 } }
    for width = 280, 1000, 90 do
      local svg = report.svg({ rows = rows, chart = { kind = "bar", x = "name", y = "value" } }, { width = width })
      local labels = 0
      for x, text in svg:gmatch '<text class="label strong" x="([^"]*)"[^>]*>(.-)</text>' do
        labels = labels + 1
        assert.is_true(x + markup.pixels(text, 13) <= width, text)
      end
      assert.equal(2, labels)
    end
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

  it("has the ids at which groups begin above their columns and beside their rows, wherever ids begin", function()
    local rows = items(6, 4, 3, 2)
    for _, row in ipairs(rows) do row.global_id = { row.global_id[1] + 20, row.global_id[2] + 50 } end
    local svg, cells = report.svg { rows = rows, chart = { kind = "grid" } }, {}
    for _, one in ipairs(cells_of(svg)) do cells[one.id] = one end
    local ids, tops = {}, {}
    for x, id in svg:gmatch '<text class="label" x="([^"]*)" y="[^"]*">(%d+)</text>' do
      ids[#ids + 1] = id
      assert.is_true(math.abs(tonumber(x) - cells[id .. ",50"].x) < 0.05, id)
    end
    for y, id in svg:gmatch '<text class="label end" x="[^"]*" y="([^"]*)">(%d+)</text>' do
      ids[#ids + 1], tops[#tops + 1] = id, tonumber(y) - cells["20," .. id].y
    end
    assert.same({ "20", "23", "50", "52" }, ids)
    assert.is_true(math.abs(tops[1] - tops[2]) < 0.05 and tops[1] > 0)
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
