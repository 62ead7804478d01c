-- SPDX-License-Identifier: MIT
local bench = require "clcompute.bench"
local cl = require "clcompute"
local helper = require "spec.helper"
local ratio = require "clcompute.bench.ratio"
local rounds = require "clcompute.bench.rounds"
local statistics = require "clcompute.bench.statistics"
local json = require "dkjson"

--- A candidate that claims to take the given seconds, one after the other, over and over.
local function claiming(name, seconds, more)
  local calls = 0
  local candidate = { name = name, device = "a stub", timed = true, fn = function()
    calls = calls + 1
    return seconds[(calls - 1) % #seconds + 1], calls
  end }
  for key, value in pairs(more or {}) do candidate[key] = value end
  return candidate
end

local function near(expected, found)
  assert.is_true(math.abs(found - expected) <= 1e-9 * math.abs(expected), ("%g, not %g"):format(found, expected))
end

describe("the statistics of a bench", function()
  it("are those computed by hand", function()
    local s = statistics.summary { 4, 1, 3, 2 }
    assert.same({ median = 2.5, min = 1, q1 = 1.75, q3 = 3.25 }, s)
    assert.same({ median = 7, min = 7, q1 = 7, q3 = 7 }, statistics.summary { 7 })
  end)

  it("give the interval of the sign test", function()
    local values = {}
    for i = 1, 10 do values[i] = 11 - i end
    -- 1 - 2 (1 + 10) / 1024 from the second to the ninth; one rank further in it is 1 - 2 * 56 / 1024
    assert.same({ 2, 9, 1 - 22 / 1024 }, { statistics.median_interval(values, 0.95) })
    near(1 - 2 / 1024, select(3, statistics.median_interval(values, 0.999)))
  end)

  it("hold for thousands of values", function()
    local values = {}
    for i = 1, 5000 do values[i] = i end
    local low, high, confidence = statistics.median_interval(values, 0.95)
    -- a normal distribution of deviation sqrt(n) / 2: 2500 -+ 1.96 * 35.4
    assert.is_true(math.abs(low - 2431) <= 2 and math.abs(high - 2570) <= 2, low .. " " .. high)
    assert.is_true(confidence >= 0.95 and confidence < 0.952)
  end)

  it("relate times round by round", function()
    local times, base = {}, {}
    for i = 1, 12 do times[i], base[i] = 3 * i, 2 * i end -- the machine slows down: the ratio stays
    local r = ratio.relate(times, base)
    assert.same({ 1.5, 1.5, 1.5, true }, { r.ratio, r.ratio_low, r.ratio_high, r.agrees })
  end)

  it("say when a ratio does not repeat, and widen its interval", function()
    local times, base = {}, {}
    for i = 1, 12 do times[i], base[i] = i <= 8 and 1 or 1.7, 1 end
    local r = ratio.relate(times, base)
    assert.is_false(r.agrees)
    assert.matches("does not agree within 10 %: 1, 1, 1.7", r.reason, 1, true)
    assert.equal(1.7, r.ratio_high)
    assert.is_false(ratio.relate({ 1, 1 }, { 1, 1 }).agrees)
  end)
end)

describe("the order of rounds", function()
  it("is A B, B A, B A, A B for two", function()
    local text = ""
    for round = 1, 4 do text = text .. table.concat(rounds.order(round, 2)) end
    assert.equal("12212112", text)
  end)

  it("puts each of five at every place as often", function()
    local places = {}
    for round = 1, 10 do
      for place, i in ipairs(rounds.order(round, 5)) do
        places[i .. "@" .. place] = (places[i .. "@" .. place] or 0) + 1
      end
    end
    local n = 0
    for _, count in pairs(places) do n = n + 1; assert.equal(2, count) end
    assert.equal(25, n)
  end)
end)

describe("bench.measure", function()
  it("makes a row of medians, rates and what identifies it", function()
    local row = bench.measure(claiming("", { 2, 2 }).fn, { timed = true, name = "x", params = { n = 5 },
      device = "host", flops = 4e9, bytes = 6e9, rounds = 5, unit = "ms", check = function() return 0.25 end })
    assert.same({ "x", 5, "host", "ok", true, 0.25 },
      { row.name, row.params.n, row.device, row.status, row.checked, row.max_error })
    assert.same({ 2000, 2000, 2000, 2000, "ms", 5, 1, 2, 2, 3 },
      { row.value, row.min, row.q1, row.q3, row.unit, row.runs, row.batch, row.cold, row.gflops, row.gbs })
    assert.matches("^%d%d%d%d%-%d%d%-%d%dT%d%d:%d%d:%d%dZ$", row.date)
  end)

  it("repeats a short function within a run, and calls one that must be reset once", function()
    local row = bench.measure(claiming("", { 0.001 }).fn, { timed = true, device = "host", seconds = 0.05, rounds = 5 })
    assert.is_true(row.batch >= 10 and row.batch <= 13, row.batch)
    near(0.001, row.value)
    local resets, calls = 0, 0
    row = bench.measure(function() calls = calls + 1 end,
      { device = "host", seconds = 0.01, rounds = 6, reset = function() resets = resets + 1 end })
    assert.equal(1, row.batch)
    assert.equal(calls, resets)
  end)

  it("tells the first call from the later ones", function()
    local row = bench.measure(claiming("", { 9, 1, 1, 1, 1, 1, 1, 1, 1, 1 }).fn,
      { timed = true, device = "host", rounds = 5 })
    assert.same({ 9, 1 }, { row.cold, row.value })
  end)

  it("makes rows of failures, with their reason", function()
    local function nothing() end
    local function failed(fn, check, reason)
      local row = bench.measure(fn, { device = "host", rounds = 3, seconds = 0.001, check = check })
      assert.same({ "failed", false }, { row.status, row.checked })
      assert.matches(reason, row.reason, 1, true)
      assert.is_nil(row.value)
    end
    failed(function() error "out of luck" end, nil, "out of luck")
    failed(nothing, function() return 1.5 end, "1.5 times its bound")
    failed(nothing, function() return 0 / 0 end, "nan times its bound")
    failed(nothing, function() return false, "element 3 is wrong" end, "element 3 is wrong")
    failed(nothing, function() error "no oracle" end, "no oracle")
    failed(nothing, function() end, "the check returned nil")
  end)

  it("lets an interrupt by the user through", function()
    helper.raises("interrupted!", bench.measure, function() error("interrupted!", 0) end, { device = "host" })
  end)

  it("refuses wrong options by name", function()
    local function nothing() end
    helper.raises({ "unknown option 'second'", "seconds" }, bench.measure, nothing, { second = 1 })
    helper.raises({ "'seconds'", "number expected, got string" }, bench.measure, nothing, { seconds = "1" })
    helper.raises("above 0", bench.measure, nothing, { seconds = 0 })
    helper.raises({ "'unit'", "'h'" }, bench.measure, nothing, { unit = "h" })
    helper.raises("'needs' goes with 'device'", bench.measure, nothing, { needs = "half" })
    helper.raises("function expected", bench.measure, nil)
    helper.raises("'x'", bench.compare, { { fn = nothing, name = "a" } }, { baseline = "x" })
  end)
end)

describe("bench.compare", function()
  it("relates all to the baseline, and goes on without those that cannot", function()
    local rows = bench.compare({ claiming("slow", { 4 }), claiming("fast", { 1 }),
      { name = "broken", device = "host", fn = function() error "broken" end },
      { name = "never", unsupported = "no double" } }, { rounds = 12, baseline = "slow" })
    assert.same({ "ok", "ok", "failed", "unsupported" },
      { rows[1].status, rows[2].status, rows[3].status, rows[4].status })
    assert.same({ 1, 0.25, 0.25, 0.25, true, "slow" }, { rows[1].ratio, rows[2].ratio, rows[2].ratio_low,
      rows[2].ratio_high, rows[2].agrees, rows[2].baseline })
    assert.equal("no double", rows[4].reason)
  end)

  it("keeps pairs when one fails on the way", function()
    local calls = 0
    local rows = bench.compare({ claiming("a", { 1 }), claiming("b", { 2 }), { name = "late", device = "host",
      fn = function() calls = calls + 1; if calls > 6 then error "late" end end } },
      { rounds = 12, seconds = 1e-9 })
    assert.same({ "ok", "ok", "failed" }, { rows[1].status, rows[2].status, rows[3].status })
    assert.same({ 12, 12, 2 }, { rows[1].runs, rows[2].runs, rows[2].ratio })
  end)

  it("says that there is no ratio to a baseline that failed", function()
    local rows = bench.compare({ { name = "a", fn = function() error "x" end }, claiming("b", { 1 }) }, { rounds = 3 })
    assert.is_nil(rows[2].ratio)
    assert.matches("no ratio: the baseline is failed", rows[2].reason, 1, true)
  end)

  it("finds 1 between a candidate and itself, each time", function()
    local d = helper.device()
    local x, y = d:random("float", 20000), d:random("float", 20000)
    local function fn() return cl.saxpy(0.5, x, y) end
    for _ = 1, 5 do
      local row = bench.compare({ { name = "a", fn = fn }, { name = "again", fn = fn } }, { seconds = 0.05 })[2]
      assert.equal(d.name, row.device)
      assert.is_true(row.ratio_low <= 1 and row.ratio_high >= 1, row.ratio_low .. " .. " .. row.ratio_high)
      assert.is_true(row.ratio_confidence >= 0.999)
      assert.is_true(row.agrees or row.reason:find "does not agree" ~= nil)
    end
  end)
end)

helper.describe_each("bench.measure", function(d)
  if helper.is_simulator(d) then return end

  it("waits for what was queued, also where no device is told", function()
    local work = d:program([[kernel void work(global float *x, int n) {
      float v = x[0]; for (int i = 0; i < n; i++) v = 0.5f * v + 1; x[0] = v; }]]).work
    local x = d:zeros("float", 1)
    local needed = work(1, x, 2000000).seconds
    local row = bench.measure(function() work(1, x, 2000000) end, { rounds = 3, seconds = 0.01 })
    assert.is_true(row.min >= 0.3 * needed, row.min .. " of " .. needed)
  end)

  it("names device and driver, and says what a device lacks", function()
    local row = bench.measure(function() end, { device = d, rounds = 1, seconds = 1e-6 })
    assert.same({ d.name, d.driver }, { row.device, row.driver })
    if d.has_half then return end
    row = bench.measure(function() end, { device = d, needs = "half" })
    assert.same({ "unsupported", "no half on " .. d.name }, { row.status, row.reason })
  end)

  it("splits the time where the library profiles", function()
    if not cl.profile then return pending "cl.profile is not there" end
    local p = d:program "kernel void twice(global float *x) { x[get_global_id(0)] *= 2; }"
    local x = d:zeros("float", 4096)
    local row = bench.measure(function() x:write(x:string()); p.twice(4096, x); x:string() end,
      { device = d, rounds = 3, seconds = 0.01 })
    for _, part in ipairs { "upload", "kernel", "download" } do assert.is_true(row[part] > 0, part) end
    cl.profile(true)
    p.twice(4096, x)
    row = bench.measure(function() p.twice(4096, x) end, { device = d, rounds = 3, seconds = 0.01 })
    assert.is_nil(row.kernel)
    assert.is_true(#cl.profile() > 0)
    cl.profile(false)
  end)

  it("sets rates against a peak that no kernel passes by far", function()
    local peak = bench.peak(d, { seconds = 0.05 })
    assert.is_true(peak.flops > 1e9 and peak.flops < 1e15, peak.flops)
    assert.is_true(peak.bytes_per_second > 1e8 and peak.bytes_per_second < 1e14, peak.bytes_per_second)
    local row = bench.measure(function() end, { device = d, rounds = 1, flops = 10, bytes = 30,
      peak = { flops = 10, bytes_per_second = 10 }, timed = false })
    near(3 / row.value, row.peak_share) -- the memory binds
    local x, y = d:random("float", 1 << 20), d:random("float", 1 << 20)
    row = bench.measure(function() cl.saxpy(2, x, y) end, { device = d, seconds = 0.05, flops = 2 << 20 })
    assert.is_true(row.peak_share > 0 and row.peak_share < 1, row.peak_share)
  end)

  it("has a peak of double", function()
    if not d.has_double then return pending "no double precision" end
    local peak = bench.peak(d, { seconds = 0.05, dtype = "double" })
    assert.is_true(peak.flops > 1e8 and peak.dtype == "double")
  end)
end)

describe("bench.sweep", function()
  local path
  before_each(function() path = os.tmpname() end)
  after_each(function() os.remove(path) end)

  local function read()
    local file = assert(io.open(path))
    local text = file:read "a"
    file:close()
    return text
  end

  local function overwrite(text)
    local file = assert(io.open(path, "w"))
    file:write(text)
    file:close()
  end

  --- A sweep over two sizes, two groups and a kernel; `seen` gets the points that are measured.
  local function sweep(seen, more)
    local given = { sizes = { 100, 200 }, groups = { 8, { 4, 2 } }, kernels = { "k" }, file = path, rounds = 1,
      run = function(point)
        seen[#seen + 1] = point
        if point.size == 200 and point.group == 8 then return nil, "too large" end
        return claiming("c", { point.size })
      end }
    for key, value in pairs(more or {}) do given[key] = value end
    return bench.sweep(given)
  end

  it("measures every combination, in order, into rows and the file", function()
    local seen = {}
    local rows = sweep(seen)
    local texts = {}
    for i, row in ipairs(rows) do texts[i] = ("%d %s %s"):format(row.params.size, row.params.group, row.status) end
    assert.same({ "100 8 ok", "100 4x2 ok", "200 8 unsupported", "200 4x2 ok" }, texts)
    assert.equal("too large", rows[3].reason)
    local lines = 0
    for line in read():gmatch "[^\n]+" do
      lines = lines + 1
      assert.same(rows[lines].params, json.decode(line).params)
    end
    assert.equal(4, lines)
  end)

  it("goes on where it was cut off, also within a line", function()
    local whole = sweep {}
    local text = read()
    local second = select(2, text:find("\n[^\n]*\n"))
    for _, cut in ipairs { second, second + 30, second - 1 } do
      overwrite(text:sub(1, cut))
      local seen = {}
      local rows = sweep(seen)
      assert.same({ 200, 200 }, { seen[1].size, seen[2].size })
      assert.equal(2, #seen)
      for i, row in ipairs(rows) do assert.same({ whole[i].value, whole[i].params }, { row.value, row.params }) end
      for line in read():gmatch "[^\n]+" do assert.is_table(json.decode(line)) end
    end
    local seen = {}
    sweep(seen)
    assert.equal(0, #seen)
  end)

  it("refuses a file of something else, and leaves it as it is", function()
    for _, text in ipairs { "hello\nworld\n", "{}\n", "hello" } do
      overwrite(text)
      helper.raises({ path, "line 1" }, sweep, {})
      assert.equal(text, read())
    end
  end)

  it("skips what is left at the limit, and does not call that done", function()
    local seen = {}
    local rows = sweep(seen, { limit = 1e-9 })
    assert.equal(0, #seen)
    assert.matches("limit of 1e-09 s", rows[4].reason, 1, true)
    assert.equal("skipped", rows[4].status)
    assert.equal("", read())
    sweep(seen)
    assert.equal(4, #seen)
  end)

  it("makes a failed row of a run that raises", function()
    local rows = bench.sweep { axes = { { "depth", { 1 } } }, run = function() error "no such depth" end }
    assert.matches("no such depth", rows[1].reason, 1, true)
    assert.same({ "failed", 1 }, { rows[1].status, rows[1].params.depth })
  end)

  it("tells how far it is, and estimates the rest by its work", function()
    local states = {}
    sweep({}, { progress = function(state) states[#states + 1] = state end })
    assert.same({ 0, 1, 2, 3, 4 }, { states[1].done, states[2].done, states[3].done, states[4].done, states[5].done })
    assert.is_nil(states[1].remaining)
    assert.is_true(states[2].remaining >= 0)
    local left = require "clcompute.bench.estimate".new(function(n) return n ^ 3 end)
    for n = 1, 4 do left:add(n, n <= 3 and { status = "ok", elapsed = 0.5 + 2 * n ^ 3 } or nil) end
    near(128.5, left:seconds())
  end)
end)
