-- SPDX-License-Identifier: MIT
local bench = require "clcompute.bench"
local cl = require "clcompute"
local helper = require "spec.helper"
local interleaving = require "clcompute.bench.interleaving"
local merge = require("clcompute.base").options.merge
local peak = require "clcompute.bench.peak"
local statistics = require "clcompute.base.statistics"
local timing = require "clcompute.bench.timing"
local write_file = require("clcompute.base").write_file
local json = require "dkjson"

--- A candidate that claims to take the given seconds, one after the other, over and over.
local function claiming(name, seconds, more)
  local calls = 0
  return merge({ name = name, device = "a stub", timed = true, fn = function()
    calls = calls + 1
    return seconds[(calls - 1) % #seconds + 1], calls
  end }, more)
end

--- Passes so many seconds.
local function idle(seconds)
  local start = cl.clock()
  repeat until cl.clock() - start >= seconds
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
    local r = interleaving.relate(times, base)
    assert.same({ 1.5, 1.5, 1.5, true }, { r.ratio, r.ratio_low, r.ratio_high, r.agrees })
  end)

  it("say when a ratio does not repeat, and widen its interval", function()
    local times, base = {}, {}
    for i = 1, 12 do times[i], base[i] = i <= 8 and 1 or 1.7, 1 end
    local r = interleaving.relate(times, base)
    assert.is_false(r.agrees)
    assert.matches("does not agree within 10 %: 1, 1, 1.7", r.reason, 1, true)
    assert.equal(1.7, r.ratio_high)
    assert.is_false(interleaving.relate({ 1, 1 }, { 1, 1 }).agrees)
    local function drifts(by) return interleaving.relate({ 1, 1, 1, by, by, by }, { 1, 1, 1, 1, 1, 1 }).agrees end
    assert.same({ true, false }, { drifts(1.09), drifts(1.12) })
  end)

  it("know no ratio to a time of 0", function()
    for _, pair in ipairs { { { 1, 1, 1 }, { 1, 0, 1 } }, { { 0, 1, 1 }, { 1, 1, 1 } } } do
      local r = interleaving.relate(pair[1], pair[2])
      assert.is_nil(r.ratio)
      assert.matches("a run took 0 s", r.reason, 1, true)
    end
  end)

  it("hold the true ratio, narrowly, on a machine whose speed changes from round to round", function()
    local held, width, trials = 0, 0, 300
    for _ = 1, trials do
      local times, base = {}, {}
      for i = 1, 31 do
        local mood = 1 + 4 * math.random() -- of the machine; either run deviates by up to 10 % of it
        times[i], base[i] = 1.3 * mood * (1 + 0.1 * math.random()), mood * (1 + 0.1 * math.random())
      end
      local r = interleaving.relate(times, base)
      if r.ratio_low <= 1.3 and 1.3 <= r.ratio_high then held = held + 1 end
      width = width + (r.ratio_high - r.ratio_low) / trials
    end
    -- of 300 at 0.999 more than 5 misses have a probability below 1e-6
    assert.is_true(held >= trials - 5, held)
    assert.is_true(width < 0.13, width)
  end)
end)

describe("the order of rounds", function()
  it("is A B, B A, B A, A B for two", function()
    local text = ""
    for round = 1, 4 do text = text .. table.concat(interleaving.order(round, 2)) end
    assert.equal("12212112", text)
  end)

  it("puts each at every place, and right after every other, as often", function()
    for n = 2, 6 do
      local counts = {}
      local function count(...)
        local key = table.concat({ ... }, " ")
        counts[key] = (counts[key] or 0) + 1
      end
      for round = 1, 2 * n do
        local order = interleaving.order(round, n)
        for place, i in ipairs(order) do
          count(i, "at", place)
          if place > 1 then count(i, "after", order[place - 1]) end
        end
      end
      local found = 0
      for key, times in pairs(counts) do
        found = found + 1
        assert.equal(2, times, n .. ": " .. key)
      end
      assert.equal(n * n + n * (n - 1), found)
    end
  end)
end)

describe("the number of rounds", function()
  local function compare(seconds, claimed)
    return bench.compare({ claiming("a", { claimed }), claiming("b", { claimed }) }, { seconds = seconds })[2]
  end

  it("is eleven where these take little more than the seconds", function()
    local row = compare(1, 0.3)
    assert.equal(11, row.runs)
    near(1 - 2 ^ -10, row.ratio_confidence)
  end)

  it("is five where they take far more, and the confidence tells", function()
    local row = compare(1, 10)
    assert.same({ 5, 1 - 2 ^ -4 }, { row.runs, row.ratio_confidence })
    assert.equal(5, bench.measure(claiming("", { 10 }).fn, { timed = true, device = "host", seconds = 1 }).runs)
  end)
end)

describe("the size of work that is timed", function()
  it("does not count the first launch of a size, nor a pause", function()
    local seen, launches = {}, 0
    local size = peak.size("a stub", 1, 64, 0.021, function(n)
      launches = launches + 1
      if not seen[n] or launches % 4 == 3 then idle(0.005) end -- a run's share is 0.003
      seen[n] = true
    end)
    assert.equal(64, size)
  end)

  it("ends where a launch lasts its share", function()
    assert.equal(8, peak.size("a stub", 1, 64, 0.021, function(n) idle(0.0004 * n) end))
  end)
end)

describe("bench.measure", function()
  it("tells how much of the runs is done", function()
    local shares = {}
    bench.measure(function() end, { device = "a stub", rounds = 4, seconds = 0.001, peak = false,
      progress = function(state) shares[#shares + 1] = state.share end })
    assert.same({ 0, 0.25, 0.5, 0.75 }, shares)
  end)

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

  it("is not misled by a pause as it finds how many calls a run needs", function()
    local seconds = { 0.001, 0.3 } -- the second call, the first to be calibrated by, meets the pause
    for i = 3, 2000 do seconds[i] = 0.001 end
    local row = bench.measure(claiming("", seconds).fn, { timed = true, device = "host", seconds = 0.05, rounds = 5 })
    assert.is_true(row.batch >= 10 and row.batch <= 13, row.batch)
  end)

  it("goes by the clock where a function claims to take no time", function()
    local calls, start = 0, cl.clock()
    local row = bench.measure(function()
      calls = calls + 1
      if calls > 500 then error "it does not end" end
      idle(0.0005)
      return 0
    end, { timed = true, device = "host", seconds = 0.02, flops = 1 })
    assert.is_true(cl.clock() - start < 5)
    assert.same({ "ok", 0 }, { row.status, row.value })
    assert.is_nil(row.gflops)
    assert.matches("no rates: by its own clock a call took 0 s", row.reason, 1, true)
  end)

  it("tells why there is no peak", function()
    local flops = peak.flops
    peak.flops = function() error("peak_fma computes a wrong result", 0) end
    local ok, row = pcall(bench.measure, function() end, { device = helper.device(), rounds = 3, seconds = 1e-3,
      flops = 1 })
    peak.flops = flops
    assert.is_true(ok, row)
    assert.same({ "ok", "no peak: peak_fma computes a wrong result" }, { row.status, row.reason })
  end)

  it("stops profiling when a command fails as its time is read", function()
    local library, on = timing.library, false
    timing.library = { profile = function(set)
      if set ~= nil then on = set; return end
      if on then error("the command failed", 0) end
      return {}
    end }
    local ok, message = pcall(timing.split, function() end)
    timing.library = library
    assert.same({ false, "the command failed", false }, { ok, message, on })
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
      assert.equal("failed", row.status)
      assert.is_true(not row.checked)
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

  it("says of a result that nobody checked neither that it is right nor that it is wrong", function()
    assert.is_nil(bench.measure(function() end, { device = "host", rounds = 1, seconds = 0.001 }).checked)
  end)

  it("takes no seconds of a candidate's own that are none", function()
    for _, claim in ipairs { 0 / 0, 1 / 0, -1, "0.01" } do
      for first = 1, 2 do -- the first call, a later one
        local calls = 0
        local row = bench.measure(function()
          calls = calls + 1
          return calls >= first and claim or 1
        end, { timed = true, device = "host", rounds = 3 })
        assert.equal("failed", row.status)
        assert.matches("fn must return its seconds", row.reason, 1, true)
      end
    end
  end)

  it("has quartiles of four runs and more", function()
    for runs, expected in pairs { [1] = false, [3] = false, [4] = true } do
      local row = bench.measure(function() end, { device = "host", rounds = runs, seconds = 0.001 })
      assert.equal(expected, row.q1 ~= nil and row.q3 ~= nil)
      assert.is_number(row.value)
    end
  end)

  it("takes any error and any verdict of a check", function()
    local without_text = setmetatable({}, { __tostring = function() error "no text" end })
    local row = bench.measure(function() error(without_text) end, { rounds = 1 })
    assert.same({ "failed", "an error that is a table without text" }, { row.status, row.reason })
    row = bench.measure(function() end, { rounds = 1, check = function() return -5 end })
    assert.same({ "failed", false, nil }, { row.status, row.checked, row.max_error })
    assert.matches("the check returned -5, which is no error", row.reason, 1, true)
    row = bench.measure(function() end, { rounds = 1, check = function() return false, {} end })
    assert.equal("the check says no", row.reason)
  end)

  it("refuses a peak that is none before it measures", function()
    local calls = 0
    local function fn() calls = calls + 1 end
    helper.raises({ "measure: option 'peak': option 'flops': number expected, got string" }, bench.measure, fn,
      { peak = { flops = "x" } })
    helper.raises({ "option 'peak': option 'flops': must be above 0 and finite, got 0" }, bench.measure, fn,
      { peak = { flops = 0 } })
    helper.raises({ "option 'peak': unknown option 'flop'" }, bench.measure, fn, { peak = { flop = 1 } })
    assert.equal(0, calls)
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
    local _, message = pcall(bench.measure, nothing, { seconds = 1, fn = nothing })
    assert.matches("unknown option 'fn'", message, 1, true)
    assert.is_nil(message:find(" fn,", 1, true))
    helper.raises("peak: Device expected, got nil", bench.peak)
    helper.raises("peak: Device expected, got string", bench.peak, "0:0")
    helper.raises("'only': bytes_per_second or flops expected", bench.peak, helper.device(), { only = "bytes" })
    helper.raises({ "measure: option 'device'", "element 1" }, bench.measure, nothing, { device = { 1 } })
    helper.raises({ "compare: candidate 1: option 'device'" }, bench.compare, { { fn = nothing, device = {} } })
    helper.raises({ "sweep: option 'limit'", "above 0" }, bench.sweep, { sizes = { 1 }, run = nothing, limit = 0 })
    helper.raises({ "'together'", "'group'" }, bench.sweep, { sizes = { 1 }, run = nothing, together = { "group" } })
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

  it("runs candidates that take about as long alike, and all by single calls where one must", function()
    local function work() for _ = 1, 2000 do math.sin(1) end end
    local rows = bench.compare({ { name = "a", fn = work, device = "host" },
      { name = "b", fn = work, device = "host" } }, { rounds = 3, seconds = 0.03 })
    assert.equal(rows[1].batch, rows[2].batch)
    assert.is_true(rows[1].batch > 1)
    rows = bench.compare({ { name = "a", fn = work, device = "host" },
      { name = "b", fn = work, device = "host", reset = function() end } }, { rounds = 3, seconds = 0.03 })
    assert.same({ 1, 1 }, { rows[1].batch, rows[2].batch })
  end)

  it("refuses lists with holes", function()
    local one = { name = "a", fn = function() end, device = "host" }
    helper.raises("candidate 2: table expected, got nil", bench.compare, { one, nil, one })
    helper.raises("a table with the key '", bench.compare, one)
    helper.raises("list without holes", bench.measure, one.fn, { device = { nil, helper.device() } })
  end)

  it("finds 1 between a candidate and itself, nine times of ten at least", function()
    local d = helper.device()
    local x, y = d:random("float", 20000), d:random("float", 20000)
    local function fn() return cl.saxpy(0.5, x, y) end
    --- Ten comparisons: those that found something else.
    local function others()
      local list = {}
      for _ = 1, 10 do
        local row = bench.compare({ { name = "a", fn = fn }, { name = "again", fn = fn } }, { seconds = 0.05 })[2]
        assert.equal(d.name, row.device)
        if not (row.ratio_low <= 1 and row.ratio_high >= 1 and row.ratio >= 0.4 and row.ratio <= 2.5) then
          list[#list + 1] = ("%g of %g .. %g"):format(row.ratio, row.ratio_low, row.ratio_high)
        end
      end
      return list
    end
    local found
    for _ = 1, 3 do -- other work on the machine may come and go between two runs
      found = others()
      if #found <= 1 then return end
    end
    error(table.concat(found, "; "))
  end)
end)

helper.describe_each("bench.measure", function(d)
  if helper.is_simulator(d) then return end

  local work = d:program([[kernel void work(global float *x, int n) {
    float v = x[0]; for (int i = 0; i < n; i++) v = 0.5f * v + 1; x[0] = v; }]]).work

  it("waits for what was queued, also where no device is told", function()
    local x = d:zeros("float", 1)
    d:timing(true)
    local needed = work(1, x, 2000000).seconds
    d:timing(false)
    local row = bench.measure(function() work(1, x, 2000000) end, { rounds = 3, seconds = 0.01 })
    assert.is_true(row.min >= 0.3 * needed, row.min .. " of " .. needed)
  end)

  it("does not count what a reset queued as part of the first call", function()
    local x, steps = d:zeros("float", 1), 5000000
    work(1, x, steps):wait() -- compiles
    local start = cl.clock()
    work(1, x, steps):wait()
    local needed = cl.clock() - start
    local row = bench.measure(function() end, { device = d, rounds = 1, reset = function() work(1, x, steps) end })
    assert.is_true(row.cold < 0.5 * needed, row.cold .. " of " .. needed)
  end)

  it("names device and driver, and says what a device lacks", function()
    local row = bench.measure(function() end, { device = d, rounds = 1, seconds = 1e-6 })
    assert.same({ d.name, d.driver }, { row.device, row.driver })
    if d.has_half then return end
    row = bench.measure(function() end, { device = d, needs = "half" })
    assert.same({ "unsupported", "no half on " .. d.name }, { row.status, row.reason })
  end)

  it("splits the time where the library profiles", function()
    local p = d:program "kernel void twice(global float *x) { x[get_global_id(0)] *= 2; }"
    local x = d:zeros("float", 4096)
    local row = bench.measure(function() x:write(x:string()); p.twice(4096, x); x:string() end,
      { device = d, rounds = 3, seconds = 0.01 })
    for _, part in ipairs { "upload", "kernel", "download" } do assert.is_true(row[part] > 0, part) end
    local function nothing_split(given, fn)
      given.rounds, given.seconds = 3, 0.01
      local other = bench.measure(fn or function() p.twice(4096, x) end, given)
      assert.same({ "ok" }, { other.status, other.compile, other.upload, other.kernel, other.download })
    end
    nothing_split { device = d, split = false }
    nothing_split { device = "host" }
    d:timing(true)
    nothing_split({ device = d, timed = true }, function() return p.twice(4096, x).seconds end)
    d:timing(false)
    nothing_split({ device = d }, function() end)
    cl.profile(true)
    p.twice(4096, x)
    row = bench.measure(function() p.twice(4096, x) end, { device = d, rounds = 3, seconds = 0.01 })
    assert.is_nil(row.kernel)
    assert.is_true(#cl.profile() > 0)
    cl.profile(false)
    nothing_split { device = d } -- whose rows are left
    assert.is_true(#cl.profile() > 0)
    cl.profile(true) -- clears
    cl.profile(false)
    row = bench.measure(function() p.twice(4096, x) end, { device = d, rounds = 3, seconds = 0.01 })
    assert.is_true(row.kernel > 0)
  end)

  it("does not leave the profile on when a function yields and is not resumed", function()
    cl.profile(true) -- clears
    cl.profile(false)
    local function suspended()
      local thread = coroutine.create(function() bench.measure(coroutine.yield, { device = d, rounds = 1 }) end)
      assert(coroutine.resume(thread))
      assert.is_true(cl.profile().on)
      return thread
    end
    coroutine.close(suspended())
    assert.falsy(cl.profile().on)
    suspended()
    collectgarbage()
    collectgarbage()
    assert.falsy(cl.profile().on)
  end)

  it("sets rates against a peak that no kernel passes by far", function()
    local row = bench.measure(function() end, { device = d, rounds = 1, flops = 10, bytes = 30,
      peak = { flops = 10, bytes_per_second = 10 }, timed = false })
    near(3 / row.value, row.peak_share) -- the memory binds
    local x, y = d:random("float", 1 << 20), d:random("float", 1 << 20)
    row = bench.measure(function() cl.saxpy(2, x, y) end, { device = d, seconds = 0.05, flops = 2 << 20 })
    assert.is_true(row.peak_share > 0 and row.peak_share < 1, row.peak_share)
  end)

  it("takes the peak of memory from buffers that exceed the cache", function()
    local found = bench.peak(d, { seconds = 0.05, only = "bytes_per_second" })
    local rate, bytes = found.bytes_per_second, found.buffer
    assert.same({ "float" }, { found.dtype, found.flops })
    local room = math.min(d.global_memory // 16, d.max_allocation)
    assert.is_true(bytes > d.cache or 2 * bytes > room, bytes .. " of " .. d.cache)
    local x <close> = d:zeros("float", bytes // 4)
    local y <close> = d:zeros("float", bytes // 4)
    local best = math.huge
    for _ = 1, 3 do
      local start = cl.clock()
      cl.saxpy(1, x, y)
      d:wait()
      best = math.min(best, cl.clock() - start)
    end
    local reached = 3 * bytes / best
    assert.is_true(rate > reached / 3 and rate < 10 * reached, rate .. " beside " .. reached)
  end)

  it("has a peak in a time of its own, unless told one", function()
    local flops, spent = peak.flops, {}
    finally(function() peak.flops = flops end)
    function peak.flops(_, _, given)
      spent[#spent + 1] = given
      return 1.0
    end
    bench.peak(d, { only = "flops" })
    bench.peak(d, { only = "flops", seconds = 3 })
    assert.same({ peak.SECONDS, 3 }, spent)
  end)

  it("has peaks in check mode", function()
    d:check(true)
    finally(function() d:check(false) end)
    local found = bench.peak(d, { seconds = 0.05 })
    assert.is_true(found.bytes_per_second > 0 and found.flops > 0)
  end)

  it("has a peak of int, and of half where the device has it", function()
    for _, dtype in ipairs { "int", "half" } do
      if dtype == "int" or d.has_half then
        local found = bench.peak(d, { seconds = 0.05, dtype = dtype, only = "flops" })
        assert.same({ dtype }, { found.dtype, found.bytes_per_second })
        assert.is_true(found.flops > 0)
      else
        helper.raises("this device has no half precision", bench.peak, d, { seconds = 0.05, dtype = dtype })
      end
    end
  end)

  it("has a peak of double", function()
    if not d.has_double then return pending "no double precision" end
    local double = bench.peak(d, { seconds = 0.05, dtype = "double" })
    local single = bench.peak(d, { seconds = 0.05 })
    assert.same({ "double", "float" }, { double.dtype, single.dtype })
    -- a core has at most as many lanes of double, and no device a hundredth of them
    assert.is_true(double.flops < 1.5 * single.flops and double.flops > single.flops / 100,
      double.flops / single.flops)
  end)
end)

describe("bench.sweep", function()
  local path
  before_each(function() path = os.tmpname() end)
  after_each(function() os.remove(path) end)

  local function read()
    local file <close> = assert(io.open(path))
    return file:read "a"
  end

  --- A sweep over two sizes, two groups and a kernel; `seen` has the points that are measured.
  local seen
  local function sweep(more)
    seen = {}
    local given = { sizes = { 100, 200 }, groups = { 8, { 4, 2 } }, kernels = { "k" }, file = path, rounds = 1,
      run = function(point)
        seen[#seen + 1] = point
        if point.size == 200 and point.group == 8 then return nil, "too large" end
        return claiming("c", { point.size })
      end }
    return bench.sweep(merge(given, more))
  end

  it("keeps the parameters of candidates as they are", function()
    local rows = bench.sweep { sizes = { 3 }, rounds = 1, peak = false, seconds = 0.001, run = function()
      return { device = "host", fn = function() end, params = { yes = true, no = false, n = 1.5, text = "a" } }
    end }
    assert.same({ size = 3, yes = true, no = false, n = 1.5, text = "a" }, rows[1].params)
  end)

  it("measures every combination, in order, into rows and the file", function()
    local rows, texts = sweep(), {}
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
    local whole, text = sweep(), read()
    local second = select(2, text:find("\n[^\n]*\n"))
    for _, cut in ipairs { second, second + 30, second - 1 } do
      write_file(path, text:sub(1, cut))
      local rows = sweep()
      assert.same({ 200, 200 }, { seen[1].size, seen[2].size })
      assert.equal(2, #seen)
      for i, row in ipairs(rows) do assert.same({ whole[i].value, whole[i].params }, { row.value, row.params }) end
      for line in read():gmatch "[^\n]+" do assert.is_table(json.decode(line)) end
    end
    sweep()
    assert.equal(0, #seen)
  end)

  it("refuses a file of something else, and leaves it as it is", function()
    local row = '{"params":{"size":1},"status":"ok"}'
    for text, line in pairs { ["hello\nworld\n"] = 1, ["{}\n"] = 1, ["hello"] = 1, ["{}"] = 1, ["null"] = 1,
      [row .. row .. "\n"] = 1, [row .. " x\n"] = 1, ["\n\n" .. row .. "\n\n7\n"] = 5,
      ['{"params":{"size":1}}\n'] = 1, [("["):rep(1e5) .. "\n"] = 1 } do
      write_file(path, text)
      helper.raises({ path, ("line %d is"):format(line) }, sweep)
      assert.same({ text, {} }, { read(), seen })
    end
  end)

  it("takes away what was cut off behind its rows, whatever it is, and lets a link be one", function()
    local whole, text, link = sweep(), read(), path .. ".link"
    os.execute(("ln -s %s %s"):format(path, link))
    for _, tail in ipairs { "null", "\0\0\0\0", "{}", '{"params"', " x", text:sub(1, 20) } do
      write_file(path, text .. tail)
      assert.same({ 4, 0 }, { #sweep { file = link }, #seen })
      assert.equal(text, (read():gsub("\n\n+", "\n")))
      assert.is_true(os.execute("test -L " .. link))
    end
    write_file(path, text:sub(1, -2))
    assert.equal(whole[4].value, sweep()[4].value)
    assert.equal(text, read())
    os.remove(link)
    write_file(path, "\0\0")
    sweep()
    assert.equal(4, #seen)
  end)

  it("finds a file that cannot be written before it measures", function()
    for _, file in ipairs { "/nowhere/rows.jsonl", "/tmp" } do
      helper.raises({ "sweep: option 'file': ", file }, sweep, { file = file })
      assert.same({}, seen)
    end
  end)

  it("refuses the file of a sweep over other axes", function()
    sweep()
    seen = {}
    local given = { sizes = { 100, 200 }, file = path, rounds = 1, run = function(point) seen[1] = point end }
    helper.raises({ path, "is of a sweep over group, kernel, size, not over size" }, bench.sweep, given)
    assert.same({}, seen)
  end)

  it("tells values apart that look alike, in the file too", function()
    local values = { 1, "1", true, "true", 10 ^ 15, 10 ^ 15 + 1, (1 << 60) + 1, (1 << 60) + 2, math.huge, 0.5 }
    local calls = 0
    local function run()
      calls = calls + 1
      return claiming("c", { calls })
    end
    for _ = 1, 2 do
      local rows = bench.sweep { axes = { { "v", values } }, file = path, rounds = 1, run = run }
      for i, row in ipairs(rows) do assert.equal(i, row.value) end
      assert.equal(#values, calls)
    end
  end)

  it("skips what is left at the limit, and does not call that done", function()
    local rows = sweep { limit = 1e-9 }
    assert.equal(0, #seen)
    assert.matches("limit of 1e-09 s", rows[4].reason, 1, true)
    assert.equal("skipped", rows[4].status)
    assert.equal("", read())
    sweep()
    assert.equal(4, #seen)
  end)

  --- The rows of the file, one of them changed.
  local function change(number, pattern, to)
    local n, changed = 0, 0
    write_file(path, (read():gsub("[^\n]+", function(line)
      n = n + 1
      if n ~= number then return line end
      local text, count = line:gsub(pattern, to)
      changed = changed + count
      return text
    end)))
    assert.equal(1, changed)
  end

  it("measures again what was measured otherwise, elsewhere, or failed", function()
    local d = helper.device()
    local function resumed(more)
      local sizes = {}
      local given = { sizes = { 100, 200 }, file = path, rounds = 1, peak = false, run = function(point)
        sizes[#sizes + 1] = point.size
        return { device = d, timed = true, fn = function() return point.size end }
      end }
      local rows = bench.sweep(merge(given, more))
      assert.same({ 100, 200 }, { rows[1].value, rows[2].value })
      return table.concat(sizes, " ")
    end
    assert.equal("100 200", resumed())
    assert.equal("", resumed())
    change(2, '"driver":"[^"]*"', '"driver":"580.1"')
    assert.equal("200", resumed())
    assert.equal("", resumed()) -- the later row of a point counts
    change(1, '"device":"[^"]*"', '"device":"of another machine"')
    assert.equal("100", resumed())
    change(3, '"status":"ok"', '"status":"failed"')
    assert.equal("200", resumed())
    assert.equal("", resumed())
    change(4, '"setup":"[^,]*', '"setup":"clcompute 0')
    assert.equal("100", resumed())
    for _, more in ipairs { { rounds = 2 }, { seconds = 2 }, { peak = true }, { peak = true, seconds = 2 },
      { together = { "size" } } } do
      assert.equal("100 200", resumed(more))
      assert.equal("", resumed(more))
    end
    assert.equal("", resumed()) -- these rows are still there
  end)

  it("keeps what ran without a device only on a machine of the same devices", function()
    sweep()
    change(2, '("setup":"[^"]*)"', '%1 + a device of another machine"')
    sweep()
    assert.equal(1, #seen)
  end)

  it("tells two devices of one name apart", function()
    local names = { "0:0 H200", "0:1 H200" }
    local function run(point) return claiming("c", { point.device == names[1] and 1 or 2 }, { device = "H200" }) end
    for _ = 1, 2 do
      local rows = bench.sweep { devices = names, file = path, rounds = 1, run = run }
      assert.same({ 1, 2, names[2] }, { rows[1].value, rows[2].value, rows[2].params.device })
    end
  end)

  it("measures points in turns that differ in named axes only, and relates them", function()
    local turns = {}
    local function run(point)
      local name = point.depth .. "/" .. point.group
      seen[#seen + 1] = name
      if point.group == 1 then return nil, "too small" end
      return { device = "a stub", timed = true, fn = function()
        turns[#turns + 1] = name
        return point.depth * point.group
      end }
    end
    local function again()
      seen = {}
      return bench.sweep { groups = { 1, 2, 4, 8 }, axes = { { "depth", { 10, 20 } } }, file = path,
        rounds = 3, seconds = 0.01, together = { "group" }, run = run }, table.concat(seen, " ")
    end
    local rows, points = again()
    assert.equal("10/1 10/2 10/4 10/8 20/1 20/2 20/4 20/8", points)
    local first_round = { table.unpack(turns, #turns - 8, #turns - 6) }
    assert.same({ "20/2", "20/4", "20/8" }, first_round)
    local texts = {}
    for i, row in ipairs(rows) do
      texts[i] = ("%d/%d %s %s %s"):format(row.params.depth, row.params.group, row.status, row.ratio, row.baseline)
    end
    assert.same({ "10/1 unsupported nil nil", "20/1 unsupported nil nil", "10/2 ok 1 group 2", "20/2 ok 1 group 2",
      "10/4 ok 2.0 group 2", "20/4 ok 2.0 group 2", "10/8 ok 4.0 group 2", "20/8 ok 4.0 group 2" }, texts)
    assert.equal("", select(2, again()))
    change(2, '"status":"ok"', '"status":"failed"') -- 10/2: what is kept stays out of the comparison
    change(4, '"status":"ok"', '"status":"failed"') -- 10/8
    rows, points = again()
    assert.equal("10/2 10/8", points)
    assert.same({ 1, 2, 4 }, { rows[3].ratio, rows[5].ratio, rows[7].ratio })
  end)

  it("refuses wrong options and wrong answers of the functions it is given", function()
    for given, text in pairs {
      [{ work = function() end }] = "option 'work': must return a finite number, returned nil",
      [{ work = function() return 0 / 0 end }] = "option 'work': must return a finite number, returned",
      [{ limit = 0 / 0 }] = "option 'limit': must be above 0 and finite",
      [{ limit = -1 }] = "option 'limit': must be above 0 and finite, got -1",
      [{ limit = "1" }] = "option 'limit': number expected, got string",
      [{ groups = { 8, { {} } } }] = "sweep: axis 'group': value 2: a list of numbers expected",
      [{ groups = { {} } }] = "sweep: axis 'group': value 1: a list of numbers expected",
      [{ run = function() return nil, {} end }] = "run() returned nil and a table; the reason must be a string",
    } do
      helper.raises({ text }, sweep, given)
      assert.same({}, seen)
    end
    helper.raises("sweep: option 'run': function expected, got nil", bench.sweep, { axes = { { "depth", { 1 } } } })
  end)

  it("makes a failed row of a run that raises", function()
    local rows = bench.sweep { axes = { { "depth", { 1 } } }, run = function() error "no such depth" end }
    assert.matches("no such depth", rows[1].reason, 1, true)
    assert.same({ "failed", 1 }, { rows[1].status, rows[1].params.depth })
  end)

  it("tells how far it is, and estimates the rest by its work", function()
    local states = {}
    sweep { progress = function(state) states[#states + 1] = state end }
    for i = 1, 5 do assert.equal(i - 1, states[i].done) end
    assert.is_nil(states[1].remaining)
    assert.is_true(states[2].remaining >= 0)
    local left = require "clcompute.bench.sweep".estimate(function(n) return n ^ 3 end)
    for n = 1, 4 do left:add(n, n <= 3 and { status = "ok", elapsed = 0.5 + 2 * n ^ 3 } or nil) end
    near(128.5, left:seconds())
  end)
end)
