-- SPDX-License-Identifier: MIT
--- What the experiments of a device profile read off their curves, on made-up ones.

local atomics = require "clcompute.device_profile.atomics"
local barrier = require "clcompute.device_profile.barrier"
local chain = require "clcompute.device_profile.chain"
local constant_memory = require "clcompute.device_profile.constant_memory"
local curve = require "clcompute.device_profile.curve"
local divergence = require "clcompute.device_profile.divergence"
local functions = require "clcompute.device_profile.functions"
local group_size = require "clcompute.device_profile.group_size"
local host_costs = require "clcompute.device_profile.host_costs"
local latency_hiding = require "clcompute.device_profile.latency_hiding"
local long_loop = require "clcompute.device_profile.long_loop"
local occupancy = require "clcompute.device_profile.occupancy"
local packing = require "clcompute.device_profile.packing"
local peaks = require "clcompute.device_profile.peaks"
local readings = require "spec.support.readings"
local roofline = require "clcompute.device_profile.roofline"
local summary = require "clcompute.device_profile.summary"
local whole_wavefronts = require "clcompute.device_profile.whole_wavefronts"
local compile, launch = host_costs.compile, host_costs.launch
local says, text_of = readings.says, readings.text

local POWERS = { 1, 2, 4, 8, 16, 32, 64, 128, 256 }
local TOO_FEW = "Too few points"

--- Rows over x of a parameter, whose time f(x) tells; where it tells none the row failed.
local function rows_over(name, values, f, fields)
  local rows = {}
  for i, x in ipairs(values) do
    local time = f(x)
    local row = { params = { [name] = x }, value = time, status = time and "ok" or "failed" }
    for key, of in pairs(fields or {}) do row[key] = time and of(time, x) end
    rows[i] = row
  end
  return rows
end

--- f, off by a share of its value that is different for each x, and the same each time.
local function noisy(f, share)
  return function(x) return f(x) * (1 + share * math.sin(7 * x + 1)) end
end

describe("a chain", function()
  it("is what its steps give, one by one", function()
    for _ = 1, 20 do
      local a, b, x = math.random(0, 2 ^ 32 - 1), math.random(0, 2 ^ 32 - 1), math.random(0, 2 ^ 32 - 1)
      local right, steps = x, math.random(0, 40)
      for _ = 1, steps do right = a * right + b & 0xffffffff end
      local factor, summand = chain.power(a, b, steps)
      assert.equal(right, factor * x + summand & 0xffffffff)
      assert.equal(right, chain.after(a, b, steps)(x))
    end
  end)

  it("tells which element is wrong", function()
    local buffer = { read = function(_, first, last) return table.move({ 5, 6, 8 }, first, last, 1, {}) end }
    local function expected(i) return 5 + i end
    assert.is_true(chain.check(buffer, 2, expected))
    assert.same({ false, "element 3 is 8, not 7" }, { chain.check(buffer, 3, expected) })
  end)
end)

describe("a curve", function()
  it("has the points that were measured, in order, by their median", function()
    local rows = { { params = { n = 4 }, value = 3, q1 = 2, status = "ok" },
      { params = { n = 1 }, value = 7, status = "ok" },
      { params = { n = 2 }, status = "failed" }, { params = { n = 3 }, value = 0, status = "ok" },
      { params = { n = 5 }, value = 0 / 0, status = "ok" }, { params = { n = 6 }, value = math.huge, status = "ok" } }
    local points = curve.of(rows, "params.n")
    assert.same({ 2, 1, 7, 4, 3 }, { #points, points[1].x, points[1].y, points[2].x, points[2].y })
    assert.same({ 7, nil }, { curve.at(points, 1), curve.at(points, 2) })
  end)

  it("tells where it has arrived", function()
    local points = {}
    for i, y in ipairs { 1, 5, 9, 10, 9.5 } do points[i] = { x = i, y = y } end
    assert.same({ 4, 3, 1 }, { curve.highest(points).x, curve.arrival(points, 0.9), curve.arrival(points, 0.1) })
    assert.same({}, { curve.highest {}, curve.arrival({}, 0.9) })
  end)
end)

describe("one of several curves", function()
  it("has the rows that it is told by, in their order", function()
    local rows = { { series = "a", n = 2 }, { series = "b" }, { series = "a", n = 1 }, {} }
    assert.same({ rows[1], rows[3] }, curve.only(rows, "series", "a"))
    assert.same({}, curve.only(rows, "series", "c"))
    assert.same({ rows[3] }, curve.only(rows, "n", 1))
  end)
end)

describe("the wavefront", function()
  local function step(width)
    return function(block) return block < width and 2e-3 or 1e-3 end
  end

  it("is found where two branches begin to cost as much as one", function()
    for _, width in ipairs { 4, 8, 16, 32, 64, 128 } do
      assert.equal(width, divergence.width(rows_over("block", POWERS, step(width))))
      assert.equal(width, divergence.width(rows_over("block", POWERS, noisy(step(width), 0.08))))
    end
  end)

  it("is not found where there is no step, one point is slow, or one is missing", function()
    local flat = function() return 1e-3 end
    for _, f in ipairs { flat, noisy(flat, 0.1), noisy(flat, 0.6), function(block) return 1e-3 / block end,
      function(block) return block == 1 and 2e-3 or 1e-3 end, function(block) return block == 16 and 2e-3 or 1e-3 end,
      function(block) return block < 32 and 1.4e-3 or 1e-3 end,
      function(block) return block ~= 16 and step(32)(block) or nil end, function() return nil end } do
      assert.is_nil(divergence.width(rows_over("block", POWERS, f)))
    end
    assert.is_nil(divergence.width {})
  end)

  it("is told in words, with what the driver prefers", function()
    local rows = rows_over("block", POWERS, step(32))
    says(divergence.read_blocks(rows, 32), "2.00 times", "wavefront has 32 work-items, the multiple that the driver")
    says(divergence.read_blocks(rows, 64), "though the driver prefers groups of a multiple of 64")
    says(divergence.read_blocks(rows, 1), "wavefront has 32 work-items.")
    says(divergence.read_blocks(rows_over("block", POWERS, function() return 1 end), 8), "No step is visible")
    says(divergence.read_blocks(rows_over("block", POWERS, function(block) return 1 / block end), 8), "256.00 times",
      "no width can be read off")
    says(divergence.read_blocks(rows_over("block", POWERS, function() return nil end), 8), TOO_FEW)
  end)

  it("shows in the time of many paths", function()
    local paths = { 1, 2, 4, 8, 16, 32, 64 }
    says(divergence.read_paths(rows_over("paths", paths, function(n) return math.min(n, 32) end), 32),
      "64 paths 32.0 times", "at most 32 here")
    says(divergence.read_paths(rows_over("paths", paths, function() return 1 end)), "divergence costs nothing")
    says(divergence.read_paths(rows_over("paths", paths, function(n) return 1 + n / 20 end)), "less than the sum")
    says(divergence.read_paths(rows_over("paths", paths, function(n) return n > 1 and 1 or nil end)), TOO_FEW)
    says(divergence.read_paths({}), TOO_FEW)
  end)
end)

describe("a long loop", function()
  local loops = { loops = function(time) return time end }
  local function rows(f) return rows_over("period", POWERS, f, loops) end
  local function alone(period) return (99 + period) / period end
  local function wavefront(period) return period <= 32 and 100 or 100 * 32 / period end

  it("holds up the whole wavefront", function()
    assert.equal(32, long_loop.reach(rows(wavefront)))
    assert.equal(32, long_loop.reach(rows(noisy(wavefront, 0.1))))
    says(long_loop.read(rows(wavefront), 32), "One item in 32", "100 t", "4.1 t", "whole wavefronts of 32")
    says(long_loop.read(rows(wavefront), 16), "though the branches found a wavefront of 16")
    says(long_loop.read(rows(wavefront)), "about 32 items")
  end)

  it("holds up nobody where each pays for itself", function()
    for _, f in ipairs { alone, noisy(alone, 0.2), function() return nil end } do
      assert.is_nil(long_loop.reach(rows(f)))
    end
    says(long_loop.read(rows(alone)), "7.2 t", "Each pays for its own loop")
    says(long_loop.read(rows(noisy(alone, 0.2))), "Each pays for its own loop")
    assert.is_nil(text_of(long_loop.read(rows(alone))):find("below", 1, true))
    says(long_loop.read(rows(function(period) return 0.7 * alone(period) end)), "Each pays for its own loop",
      "Some times are below that sum")
    says(long_loop.read(rows(function(period) return period < 4 and 100 or 50 end)), "nothing can be read off")
    says(long_loop.read(rows(function() return nil end)), TOO_FEW)
  end)
end)

describe("groups", function()
  local sizes = { 16, 31, 32, 33, 48, 63, 64, 65, 96, 128 }
  local function in_steps(size) return (size + 31) // 32 * 1e-3 end
  local function in_proportion(size) return size * 1e-5 end

  it("are rounded up to whole wavefronts, or not", function()
    for f, rounded in pairs { [in_steps] = true, [in_proportion] = false } do
      assert.equal(rounded, whole_wavefronts.is_rounded_up(rows_over("group", sizes, f), 32))
      assert.equal(rounded, whole_wavefronts.is_rounded_up(rows_over("group", sizes, noisy(f, 0.05)), 32))
    end
    assert.is_false(whole_wavefronts.is_rounded_up(rows_over("group", sizes, function() return 1 end), 32))
    assert.is_nil(whole_wavefronts.is_rounded_up(rows_over("group", { 32, 64 }, in_steps), 32))
    says(whole_wavefronts.read(rows_over("group", sizes, in_steps), 32), "So 33 work-items cost as much as 64")
    says(whole_wavefronts.read(rows_over("group", sizes, in_proportion), 32), "not in steps of 32")
    says(whole_wavefronts.read(rows_over("group", sizes, function() return 1 end), 32), "nothing can be read off")
    says(whole_wavefronts.read({}, 32), TOO_FEW)
  end)

  it("are not compared where two wavefronts make no group, or none was found", function()
    local function reading(width, multiple, most)
      local lab = { found = { wavefront = width }, device = { group_multiple = multiple, max_group_size = most } }
      return whole_wavefronts.measure(lab)[1].reading
    end
    says(reading(nil, 1, 256), "No wavefront was found")
    says(reading(nil, 64, 64), "The largest group, of 64, has less than twice 64")
    says(reading(32, 1, 32), "The largest group, of 32, has less than twice 32")
  end)

  it("have a size from which on they are as good as the best", function()
    local rows = rows_over("group", { 1, 32, 64, 128, 1024 }, function(n) return n == 1024 and 2 or 1 + 30 / n ^ 2 end)
    assert.equal(32, group_size.best(rows))
    says(group_size.read(rows, 32), "from 32 on", "lanes of their wavefronts are idle", "The largest, of 1024")
    says(group_size.read(rows), "handed out")
    local flat = rows_over("group", { 1, 32, 64 }, function() return 1 end)
    says(group_size.read(flat), "Already groups of 1")
    rows[2].q3 = 3 -- a best that itself took as long at times
    rows[2].value = 0.9
    says(group_size.read(rows), "from 32 on")
    assert.is_nil(text_of(group_size.read(rows)):find("The largest", 1, true))
    assert.is_nil(group_size.best {})
    says(group_size.read {}, TOO_FEW)
  end)
end)

describe("latency", function()
  local speed = { per_second = function(time, groups) return groups / time end }
  local function over_groups(f) return rows_over("groups", POWERS, f, speed) end

  it("is hidden by groups that share a unit, or it is not", function()
    says(latency_hiding.read_groups(over_groups(function(n) return math.max(1, n / 64) end), 8), "about 8 each")
    says(latency_hiding.read_groups(over_groups(function(n) return math.max(1, n / 2) end), 2), "gain little")
    says(latency_hiding.read_groups(over_groups(function(n) return n end), 2), "gain little")
    says(latency_hiding.read_groups({}, 2), TOO_FEW)
  end)

  it("is hidden behind arithmetic up to the knee", function()
    local flops = { 2, 4, 8, 16, 32, 64, 128, 256 }
    local rows = rows_over("flops", flops, function(n) return math.max(1, n / 40) end)
    assert.is_true(math.abs(latency_hiding.knee(rows) - 40) < 1e-9)
    says(latency_hiding.read_intensity(rows), "Up to 32 operations", "about 40 operations")
    local bound = rows_over("flops", flops, function() return 1 end)
    assert.is_nil(latency_hiding.knee(bound))
    says(latency_hiding.read_intensity(bound), "memory binds all the way")
    assert.is_nil(latency_hiding.knee {})
    says(latency_hiding.read_intensity {}, TOO_FEW)
  end)

  it("shows what occupancy costs", function()
    local what = "%d bytes for each group"
    local function read(f)
      return occupancy.read(rows_over("bytes", POWERS, f, speed), "params.bytes", what, "no room")
    end
    local function falls(n) return n * math.max(1, n / 32) end -- throughput 1, from 32 on less
    says(read(falls), "With 256 bytes for each group the throughput is 0.12 of the highest: no room.",
      "Up to 64 it stays above half")
    says(read(function(n) return n end), "No fall is visible", "1.00 of the highest")
    says(read(function() return nil end), TOO_FEW)
  end)
end)

describe("costs", function()
  local each = { each = function(time) return time end }

  it("of launches are told, waited for and queued", function()
    local rows = rows_over("launches", { 1, 16, 256 }, function(n) return 1e-6 * (5 + 45 / n) end, each)
    says(launch.read(rows), "waited for takes 50.0 µs", "of 256", "saves 90 %")
    says(launch.read(rows_over("launches", { 1, 256 }, function() return 1e-6 end, each)), "Waiting costs little")
    says(launch.read {}, TOO_FEW)
  end)

  local function barriers(f)
    local rows = {}
    for with = 0, 1 do
      for _, group in ipairs { 32, 256 } do
        local time = f(group, with)
        rows[#rows + 1] = { params = { barrier = with, group = group }, each = time, value = time,
          status = time and "ok" or "failed" }
      end
    end
    return rows
  end

  it("of barriers are what steps take longer with them", function()
    local rows = barriers(function(group, with) return 1e-8 + with * group * 1e-9 end)
    local costs = barrier.costs(rows)
    assert.same({ 32, 256 }, { costs[1].x, costs[2].x })
    assert.is_true(math.abs(costs[2].y - 256e-9) < 1e-15)
    says(barrier.read(rows), "32.0 ns in groups of 32", "256 ns in groups of 256", "the longer it takes")
    says(barrier.read(barriers(function(group, with) return group == 32 and 1e-8 or (1 + with) * 1e-8 end)),
      "adds nothing that shows in groups of 32, 10.0 ns in groups of 256")
    local faster = barriers(function(_, with) return with == 1 and 1e-9 or 1e-8 end)
    assert.same({ 0, 0 }, { barrier.costs(faster)[1].y, barrier.costs(faster)[2].y })
    says(barrier.read(faster), "faster than those without, 10.0 times in groups of 32, 10.0 times in groups of 256")
    says(barrier.read(barriers(function() return 1e-8 end)), "no longer than those without")
    says(barrier.read(barriers(function(group, with) return group == 256 and with == 1 and 2e-8 or 1e-8 end)),
      "adds nothing that shows in groups of 32, 10.0 ns in groups of 256")
    says(barrier.read(barriers(function(group) return group == 32 and 1 or nil end)), TOO_FEW)
  end)

  it("of atomic additions are told for each memory", function()
    local rows = {}
    for series, at_most in pairs { global = 64, ["local"] = 1 } do
      for _, addresses in ipairs { 1, 8, 64 } do
        rows[#rows + 1] = { params = { addresses = addresses }, series = series, value = 1, status = "ok",
          per_second = 1e9 * math.min(addresses, at_most) }
      end
    end
    says(atomics.read(rows), "In global memory the device makes an addition to one address every 1.00 ns",
      "spread over 64 addresses one every 15.6 ps", "In local memory", "spread over 64 it is no faster")
    says(atomics.read {}, "In global memory too few", "In local memory too few")
  end)

  it("of compiles are told, cold and from the caches", function()
    local rows = {}
    for series, time in pairs { ["never seen"] = 0.1, ["from the caches"] = 0.001 } do
      for _, statements in ipairs { 1, 100 } do
        rows[#rows + 1] = { params = { statements = statements }, series = series, value = time * statements,
          status = "ok" }
      end
    end
    says(compile.read(rows), "one of 100 statements 10.0 s", "built before takes 100 ms", "is kept")
    for _, row in ipairs(rows) do row.value = 0.1 end
    says(compile.read(rows), "little of it is kept")
    says(compile.read {}, TOO_FEW)
  end)
end)

describe("independent operations", function()
  --- Rows whose gains the functions tell of a number of chains.
  local function rows(few, many)
    local list = {}
    for _, chains in ipairs { 1, 2, 3, 4, 5, 6, 8, 12, 16 } do
      for series, gain in pairs { ["a group a unit"] = few, ["a full device"] = many } do
        local row = { series = series, params = { chains = chains }, value = 1, gain = gain(chains), status = "ok" }
        list[#list + 1] = row
      end
    end
    return list
  end
  local function five(chains) return math.min(chains, 5) end
  local function none() return 1 end

  it("are packed, or hidden behind other work-items, or nothing", function()
    says(packing.read(rows(five, five)), "With a group a unit, independent operations are put side by side: 5 of them "
      .. "do 5.0 times", "With a full device, independent operations are put side by side: 5 of them",
      "Other work-items do not make up for a chain here")
    says(packing.read(rows(five, none)), "With a group a unit, independent operations are put side by side",
      "With a full device, independent operations gain little: at most 1.00 times",
      "hidden either by independent operations or by other work-items")
    says(packing.read(rows(none, none)), "With a group a unit, independent operations gain little")
    assert.equal(2, #packing.read(rows(none, none)))
    says(packing.read {}, TOO_FEW)
  end)
end)

describe("sine and logarithm", function()
  --- Rows of a multiply-add in 1 ns, and of functions that take so long; of the shorter of both a share shows.
  local function rows(cost, share)
    local list = {}
    for _, adds in ipairs { 0, 1, 2, 4, 8, 16 } do
      for _, series in ipairs { "none", "sine", "logarithm" } do
        local each = series == "none" and adds or math.max(cost, adds) + share * math.min(cost, adds)
        if each > 0 then
          list[#list + 1] = { series = series, params = { adds = adds }, each = each * 1e-9, value = 1, status = "ok" }
        end
      end
    end
    return list
  end

  it("have a unit of their own, or not", function()
    says(functions.read(rows(8, 0)), "A sine takes as long as 8.0 multiply-adds. With ",
      "beside it, 100 % of the shorter time is hidden: it has a unit of its own", "A logarithm takes as long as 8.0")
    says(functions.read(rows(8, 0.7)), "30 % of the shorter time is hidden: part of it has a unit of its own")
    says(functions.read(rows(8, 1)), "beside it, 0 % of the shorter time is hidden: both take the same units")
  end)

  it("say nothing of it where they take too long", function()
    says(functions.read(rows(300, 0)), "A sine takes as long as 300.0 multiply-adds. A logarithm takes")
    says(functions.read {}, TOO_FEW)
    local without = curve.only(rows(8, 0), "series", "none")
    says(functions.read(without), "The sine could not be measured", "The logarithm could not be measured")
  end)
end)

describe("constant memory", function()
  local function rows(of)
    local list = {}
    for place, cost in pairs(of) do
      for _, stride in ipairs { 0, 1, 2, 4, 8, 16, 32, 33, 64 } do
        local each = cost(stride)
        local row = { series = place, params = { stride = stride }, each = each, value = each, status = "ok" }
        list[#list + 1] = row
      end
    end
    return list
  end
  local function banks(stride) return stride > 0 and stride % 32 == 0 and 32 or stride == 16 and 16 or 1 end

  it("is set against the slowest stride of local memory", function()
    says(constant_memory.read(rows { ["local memory"] = banks, ["constant memory"] = function(stride)
      return stride == 0 and 1 or 32
    end, ["global memory, cached"] = function() return 4 end }),
      "In constant memory reads of neighbouring addresses take 32.0 times as long as those of one address. At stride "
      .. "32, the slowest of local memory, it is as fast.",
      "In global memory, cached reads of neighbouring addresses take 1.0 times as long", "it is 8.0 times as fast.")
    says(constant_memory.read(rows { ["local memory"] = function() return 1 end,
      ["constant memory"] = function() return 3 end }), "it is 3.0 times slower.")
    for own, told in pairs { [5] = "it is 1.2 times as fast.", [4.9] = "it is as fast." } do -- from a quarter more on
      says(constant_memory.read(rows { ["local memory"] = function() return own end,
        ["constant memory"] = function() return 4 end }), told)
    end
    says(constant_memory.read(rows { ["local memory"] = banks }), "No other place could be measured.")
    says(constant_memory.read {}, TOO_FEW)
  end)
end)

describe("peaks", function()
  it("are the rates of what was measured", function()
    local rows = { { name = "float", value = 3, status = "ok" }, { name = "half", status = "unsupported" },
      { name = "int", value = 0, status = "ok" } }
    assert.same({ float = 3 }, peaks.rates(rows))
    says(peaks.read({ float = 4e12, double = 2e12 }, 1e12), "0.5 times", "4 operations of float")
    says(peaks.read({}, nil), "Too little")
  end)

  it("are the roof that measurements stand under", function()
    assert.same({ 10, 100 }, { roofline.limit(1, 100, 10), roofline.limit(50, 100, 10) })
    local peak = { flops = 100, bytes_per_second = 10, dtype = "float" }
    local rows = roofline.roofs { peak = peak }
    assert.same({ "roof: memory", 10, 100 }, { rows[2].series, rows[2].intensity, rows[2].rate })
    assert.same({ "roof: memory, left end", "roof: memory, ridge", "roof: memory, right end" },
      { rows[1].name, rows[2].name, rows[3].name })
    rows = roofline.roofs { peak = peak, bandwidth = { { level = "up to 1 MiB", bytes_per_second = 50 },
      { level = "from 2 MiB", bytes_per_second = 11 } } } -- the last is what the copy is, all but for noise
    assert.same({ "roof: up to 1 MiB", "roof: memory", 6 }, { rows[1].series, rows[4].series, #rows })
    says(roofline.read({ { name = "saxpy", status = "ok", intensity = 1, rate = 5 },
      { name = "gemm", status = "ok", intensity = 50, rate = 25 }, { name = "gauss", status = "failed" } }, peak),
      "saxpy reaches 5.00 FLOP/s, 50 % of what the memory", "gemm reaches 25.0 FLOP/s, 25 % of what the arithmetic",
      "Far below a roof")
    local near = roofline.read({ { name = "saxpy", status = "ok", intensity = 1, rate = 6 } }, peak)
    assert.is_nil(text_of(near):find("Far below", 1, true))
    says(roofline.read({}, peak), "None could be measured")
  end)
end)

describe("the summary", function()
  local function facts(found, ...)
    local experiments, told = {}, {}
    for i, name in ipairs { ... } do experiments[i] = { name = name } end
    for _, row in ipairs(summary { found = found, experiments = experiments }.rows) do told[row.name] = row.fact end
    return told
  end

  it("tells what was found", function()
    local told = facts({ wavefront = 32, group = 64, banks = 32, local_is_memory = false,
      local_bytes_per_second = 3e13, load_latency = 5e-7, knee = 20.4,
      launch_waited = 1e-5, launch_queued = 1e-6, flops = { float = 6e13, int = 2e13 },
      peak = { flops = 6e13, bytes_per_second = 4e12 }, peak_buffer = 1 << 28,
      bandwidth = { { level = "L2", bytes_per_second = 1e13, low = 8e12, high = 1.2e13 } },
      latency = { { level = "L2", seconds = 2e-7 } }, transaction = 64, transfers = { up = 2e10, down = 1e10 } },
      "coalescing", "transfers",
      "divergence", "group_size", "bank_conflicts", "local_memory", "latency_hiding", "launch", "peaks", "working_set")
    assert.same({ wavefront = "32 work-items", ["banks of local memory"] = "32",
      ["local memory"] = "a memory of its own, read at 30.0 TB/s",
      ["good groups (saxpy)"] = "multiples of 32, from 64 on", ["a load that is waited for"] = "500 ns",
      ["arithmetic binds from"] = "20 operations for each load",
      ["a launch"] = "10.0 µs waited for, 1.00 µs in a queue",
      ["operations a second"] = "float 60.0 TFLOP/s, int 20.0 TOP/s",
      ["memory, copied or updated"] = "4.00 TB/s, buffers of 256 MiB, best of several runs",
      ["memory, read, by level"] = "L2 10.0 TB/s (8.00 TB/s to 12.0 TB/s)",
      ["a read waited for, by level"] = "L2 200 ns",
      ["memory moves at once"] = "64 bytes", ["transfers, at best"] = "down 10.0 GB/s; up 20.0 GB/s" }, told)
  end)

  it("tells what was looked for in vain, and nothing of what was not looked for", function()
    assert.same({ wavefront = "not visible on this device", ["a launch"] = "not visible on this device" },
      facts({}, "divergence", "launch"))
    assert.same({}, facts({}))
  end)
end)
