-- SPDX-License-Identifier: MIT
--- The page of clcompute.report as a browser shows it: at three widths, light and dark, nothing overflows or
-- overlaps, everything is legible, and points lie where the numbers of the table say.

local base = require "clcompute.base"
local json = require "dkjson"
local report = require "clcompute.report"

local chromium = base.process.find "chromium" or base.process.find "chromium-browser"

-- --- the document -----------------------------------------------------------------------

local SEED = tonumber(os.getenv "SPEC_SEED") or os.getenv "LONG" and os.time() or 1
io.stderr:write("SPEC_SEED=", SEED, "\n")
math.randomseed(SEED)

--- A row around a value, with quartiles some percent away.
local function row(value, fields)
  return base.options.merge({ value = value, q1 = value * (1 - 0.1 * math.random()),
    q3 = value * (1 + 0.15 * math.random()), status = "ok", checked = true }, fields)
end

local DEVICES = { "NVIDIA H200", "pthread-skylake-avx512-Intel(R) Xeon(R) Processor <a&b>", "sequential, one core" }
local MATRIX = { text = "Median of repeated runs. Bands: quartiles." }

local function scaling_rows()
  local rows = {}
  for d, device in ipairs(DEVICES) do
    for power = 5, 14 do
      local n = 1 << power
      rows[#rows + 1] = row(1e-6 * 2 ^ (power * (0.6 + 0.3 * d) - 3) * (1 + math.random()),
        { name = "gemm", params = { n = n }, device = device, prime = power == 7 or nil })
    end
  end
  rows[5].status, rows[5].reason, rows[5].value = "failed", "CL_OUT_OF_RESOURCES (-5) <launch>", nil
  rows[12].value = 0 / 0
  for n = 64, 512, 64 do
    rows[#rows + 1] = { name = "gemm", params = { n = n }, device = "the paper's GPU", paper = true, value = 1e-4 * n }
  end
  return rows
end

local function group_rows()
  local rows = {}
  for group = 32, 1024, 64 do
    for n = 1000, 6000, 1000 do
      rows[#rows + 1] = row(n * n * 1e-9 * (1 + math.abs(group - 192) / 300),
        { params = { group = group, n = n }, best = group == 224 or nil })
    end
  end
  rows[3].status, rows[3].reason, rows[3].value = "unsupported", "group 32 is too small", nil
  return rows
end

local function bar_rows()
  local rows = {}
  for d, device in ipairs(DEVICES) do
    for k, kernel in ipairs { "naive", "tiled" } do
      rows[#rows + 1] = row(10.0 ^ (4 - d) * k * (1 + math.random()), { device = device, params = { kernel = kernel } })
    end
  end
  rows[6].paper = true
  return rows
end

local function many_series()
  local rows = {}
  for s = 1, 17 do
    for x = 0, 90, 10 do
      rows[#rows + 1] = row(s + math.sin(x / 20), { name = ("a long name of series number %d"):format(s), x = x })
    end
  end
  return rows
end

local function many_points()
  local rows = {}
  for x = 1, 300 do rows[x] = row(1000 + x % 7, { name = x % 2 == 0 and "even" or "odd", x = x }) end
  return rows
end

local function equal_points()
  local rows = {}
  for x = 1, 5 do rows[x] = { name = "twins", x = x, value = 2.5e-9, unit = "s" } end
  for x = 1, 5 do rows[5 + x] = { name = "siblings", x = x, value = 2.5e-9, unit = "s" } end
  return rows
end

--- What many lanes do, under names too long for a phone.
local function spans()
  local rows = {}
  for lane = 1, 12 do
    local at = lane % 4 * 1e-3
    for _, state in ipairs { "executing", "waiting for memory", "ready", "at the barrier" } do
      local finish = at + 1e-3 * (1 + math.random())
      rows[#rows + 1] = { name = ("work-item number %d of a group"):format(lane), from = at, value = finish,
        state = state, late = state == "ready" and lane == 7 or nil }
      at = finish
    end
  end
  rows[4].from = rows[3].from -- an overlap
  rows[9].value = 0 / 0
  return rows
end

--- A comparison with all that bench says of it: as wide as tables get.
local function comparison()
  local rows = {}
  for i, method in ipairs { "naive", "tiled", "fast" } do
    rows[i] = row(0.0144 / i, { device = DEVICES[2], params = { platform = "Portable Computing Language",
      method = method }, cold = 0.0163, gflops = 2.33 * i, peak_share = 0.6 * i, ratio = 1 / i, agrees = i ~= 2,
      max_error = 0.057 })
  end
  return rows
end

--- Work-items of an index space, as clcompute.trace_range tells of them; the last column was added.
local function places(nx, ny, nz)
  local rows = {}
  for z = 0, nz - 1 do
    for y = 0, ny - 1 do
      for x = 0, nx - 1 do
        rows[#rows + 1] = { global_id = { x, y, z }, group_id = { x // 4, y // 2, z // 2 }, part = y // 4 + 1,
          active = x < nx - 1 }
      end
    end
  end
  return rows
end

local function groups_of_a_picture()
  local rows = {}
  for y = 0, 599, 16 do
    for x = 0, 799, 16 do
      rows[#rows + 1] = { first_id = { x, y }, local_size = { 16, math.min(16, 600 - y) }, items = 256,
        active_items = 256, group_id = { x // 16, y // 16 }, part = y < 592 and 1 or 2 }
    end
  end
  return rows
end

local SIZE = { key = "params.n", title = "size n" }
local TIME = { key = "value", title = "time" }

local DOCUMENT = {
  title = "Matrix products and Gauss elimination, on every device of this machine",
  subtitle = "What the browser spec looks at: each kind of chart, with everything that may go wrong in one.",
  facts = { { "device", DEVICES[2] }, { "driver", "3.1" }, { "date", "2026-11-20" }, { "memory", "3907 MiB" } },
  sections = {
    { title = "Time over size", text = MATRIX.text, rows = scaling_rows(), caption = "Dotted: numbers of the paper.",
      columns = { { key = "device", title = "device" }, SIZE, TIME, { key = { "q1", "q3" }, title = "quartiles" } },
      chart = { kind = "line", x = "params.n", y = "value", series = "device", low = "q1", high = "q3", xlog = 2,
        ylog = 10, hollow = "paper", marks = { { key = "prime", title = "special size" } } } },
    { title = "Time over size, linear", rows = scaling_rows(), columns = { { key = "device" }, SIZE, TIME },
      chart = { kind = "line", x = "params.n", y = "value", series = "device", low = "q1", high = "q3" } },
    { title = "Group and size", rows = group_rows(),
      columns = { { key = "params.group", title = "group" }, SIZE, TIME },
      chart = { kind = "heat", x = "params.group", y = "params.n", value = "value", log = 10,
        marks = { { key = "best", title = "best group" } } } },
    { title = "Devices", rows = bar_rows(), columns = { { key = "device" }, { key = "params.kernel" }, TIME },
      chart = { kind = "bar", x = { "device", "params.kernel" }, y = "value", low = "q1", high = "q3", ylog = 10,
        hollow = "paper" } },
    { title = "Kernels of devices", rows = bar_rows(),
      columns = { { key = "device" }, { key = "params.kernel" }, TIME },
      chart = { kind = "bar", x = "device", y = "value", series = "params.kernel", low = "q1", high = "q3",
        hollow = "paper" } },
    { title = "Many series", rows = many_series(),
      chart = { kind = "line", x = "x", y = "value", series = "name", ytitle = "time" } },
    { title = "Many points", rows = many_points(),
      chart = { kind = "line", x = "x", y = "value", series = "name", low = "q1", high = "q3", yunit = "B/s" } },
    { title = "Equal values", rows = equal_points(),
      chart = { kind = "line", x = "x", y = "value", series = "name" } },
    { title = "One row", rows = { row(0.25, { name = "alone", x = 3 }) },
      chart = { kind = "line", x = "x", y = "value", low = "q1", high = "q3", xlog = 2, ylog = 10 } },
    { title = "One bar" .. (", and a title of many lines"):rep(9), rows = { row(0.25, { name = "alone" }) },
      chart = { kind = "bar", x = "name", y = "value" } },
    { title = "One cell", rows = { row(7e-19, { a = "left", b = "up" }) },
      chart = { kind = "heat", x = "a", y = "b", value = "value" } },
    { title = "Spans", rows = spans(), columns = { { key = "name" }, { key = "from", unit = "s" }, TIME,
        { key = "state" } },
      chart = { kind = "timeline", lane = "name", start = "from", finish = "value", state = "state",
        marks = { { key = "late", title = "late" } } } },
    { title = "One span", rows = { { lane = "a", from = 1, value = 3 } },
      columns = { { key = "lane" }, { key = "from" }, TIME },
      chart = { kind = "timeline", lane = "lane", start = "from", finish = "value" } },
    { title = "Nothing worked", rows = { { name = "x", status = "unsupported", reason = "no double" } },
      chart = { kind = "bar", x = "name", y = "value" } },
    { title = "No rows", rows = {}, chart = { kind = "bar", x = "name", y = "value" } },
    { title = "Work-items", rows = places(9, 6, 3), chart = { kind = "grid" } },
    { title = "Work-groups", rows = groups_of_a_picture(), columns = { { key = "part" }, { key = "first_id" } },
      chart = { kind = "grid" } },
    { title = "Every column", rows = comparison(), columns = {
      { key = "params.platform", title = "platform" }, { key = "device" }, { key = "params.method", title = "method" },
      { key = "cold", unit = "s" }, TIME, { key = { "q1", "q3" }, title = "quartiles" },
      { key = "gflops", title = "GFLOP/s" }, { key = "peak_share", title = "of peak", format = "percent" },
      { key = "ratio", title = "ratio" }, { key = "max_error", title = "error/bound", format = "%.3f" } } },
  },
}

-- --- the browser ------------------------------------------------------------------------

local function read(path)
  local file <close> = assert(io.open(path, "rb"))
  return (file:read "a")
end

local ENTITIES = { ["&lt;"] = "<", ["&gt;"] = ">", ["&amp;"] = "&", ["&quot;"] = '"', ["&nbsp;"] = "\u{A0}" }

--- What the harness found, for each width and scheme.
local function browse(page)
  os.execute "mkdir -p build"
  base.write_file("build/report.html", page)
  local harness = read "spec/support/report_harness.html"
  local parts = { harness:match "^(.-)@PAGE@(.*)$" }
  base.write_file("build/report_harness.html", parts[1] .. page .. parts[2])
  local profile = os.tmpname()
  os.remove(profile)
  local pipe = assert(io.popen(("timeout 120 %s --headless --no-sandbox --disable-gpu --user-data-dir=%s "
    .. "--virtual-time-budget=20000 --dump-dom build/report_harness.html 2>/dev/null"):format(chromium, profile)))
  local dom = pipe:read "a"
  pipe:close()
  os.execute("rm -rf " .. profile)
  local text = assert(dom:match '<pre id="found">(.-)</pre>', "chromium showed nothing"):gsub("&%a+;", ENTITIES)
  local found = assert(json.decode(text))
  assert.is_nil(found.error)
  return found
end

-- --- the checks -------------------------------------------------------------------------

local WIDEST, LONGEST_LINE = 1280, 820 -- pixels
local TOLERANCE = 0.004 -- of an axis: a pixel or so, positions are rounded to hundredths

--- How far value and position are apart, as a share of the values of the chart.
local function distance(a, b, is_log, low, high)
  if is_log then return math.abs(math.log(a / b)) / math.max(math.log(high / low), 1) end
  return math.abs(a - b) / math.max(math.abs(low), math.abs(high))
end

local function range(points, field)
  local low, high = math.huge, -math.huge
  for _, point in ipairs(points) do low, high = math.min(low, point[field]), math.max(high, point[field]) end
  return low, high
end

local function check_positions(chart, spec)
  local low, high = range(chart.points, "value")
  for _, point in ipairs(chart.points) do
    local slack = point.round and TOLERANCE or 3 * TOLERANCE -- the box of a triangle is not centred on its point
    if point.at then assert.is_true(distance(point.at, point.value, spec.ylog, low, high) < slack,
      ("%s: %.17g lies at %.17g"):format(chart.section, point.value, point.at)) end
    if point.x_at then
      local first, last = range(chart.points, "x")
      assert.is_true(distance(point.x_at, point.x, spec.xlog, first, last) < slack)
    end
  end
end

local function values_of_table(view, section)
  for _, one in ipairs(view.tables) do
    if one.section == section then
      local list = {}
      for _, cell in ipairs(one.cells) do
        if cell.key == "value" and not cell.bad and type(cell.value) == "number" then list[#list + 1] = cell.value end
      end
      table.sort(list)
      return list
    end
  end
end

describe("the page of a report in a browser", function()
  if not chromium then return it("is checked", function() pending "chromium is not installed" end) end
  local views
  setup(function() views = browse(report.html(DOCUMENT)) end)

  local function each_chart(visit)
    local count = 0
    for _, view in ipairs(views) do
      for _, chart in ipairs(view.charts) do
        count = count + 1
        visit(chart, ("%s at %d, %s"):format(chart.section, view.width, view.scheme), view)
      end
    end
    assert.equal(6 * 15, count)
  end

  it("was shown at three widths, light and dark, without a script of its own", function()
    assert.equal(6, #views)
    for _, view in ipairs(views) do
      assert.equal(view.scheme == "dark", view.dark)
      assert.equal(0, view.scripts)
    end
  end)

  it("is as wide as the screen, not wider", function()
    for _, view in ipairs(views) do
      assert.equal(0, view.overflow, ("at %d"):format(view.width))
      assert.same({}, view.spilled, ("at %d"):format(view.width))
    end
  end)

  it("has entries of the contents in one piece", function()
    for _, view in ipairs(views) do assert.same({}, view.broken, ("at %d"):format(view.width)) end
  end)

  it("shows whole tables on a wide screen, and lines of text that are no longer for it", function()
    for _, view in ipairs(views) do
      if view.width == WIDEST then assert.same({}, view.cut) end
      for _, width in ipairs(view.lines) do assert.is_true(width <= LONGEST_LINE) end
    end
  end)

  it("has no two labels of a chart on top of each other, and nothing of it outside", function()
    each_chart(function(chart, where) assert.same({ {}, {} }, { chart.collisions, chart.outside }, where) end)
  end)

  it("has texts of at least 10 pixels in charts", function()
    each_chart(function(chart, where) assert.is_true(chart.scale * 13 >= 10, where) end)
  end)

  it("has a contrast of 4.5 or more everywhere", function()
    for _, view in ipairs(views) do assert.same({}, view.faint, ("at %d, %s"):format(view.width, view.scheme)) end
  end)

  it("tells the title and description of each chart to who cannot see it", function()
    each_chart(function(chart, where) assert.is_true(chart.labelled, where) end)
  end)

  it("shows in each chart just the values of its table that are numbers", function()
    each_chart(function(chart, where, view)
      local values = {}
      for i, point in ipairs(chart.points) do values[i] = point.value end
      table.sort(values)
      assert.same(values_of_table(view, chart.section), values, where)
    end)
  end)

  it("has each point where the axes say", function()
    each_chart(function(chart)
      check_positions(chart, DOCUMENT.sections[tonumber(chart.section:match "%d+")].chart)
    end)
  end)
end)
