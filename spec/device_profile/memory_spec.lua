-- SPDX-License-Identifier: MIT
--- The experiments with memory: what they read off curves, what their kernels compute, and that wrong results show.

local Lab = require "clcompute.device_profile.lab"
local bank_conflicts = require "clcompute.device_profile.bank_conflicts"
local coalescing = require "clcompute.device_profile.coalescing"
local curve = require "clcompute.device_profile.curve"
local format = require "clcompute.base.format"
local helper = require "spec.helper"
local local_memory = require "clcompute.device_profile.local_memory"
local internal = require "clcompute.core.internal"
local says = require("spec.support.readings").says
local timing = require "clcompute.bench.timing"
local transfers = require("clcompute.device_profile.host_costs").transfers
local working_set = require "clcompute.device_profile.working_set"

local function gcd(a, b)
  while b ~= 0 do a, b = b, a % b end
  return a
end

--- Rows as a lab makes them: cost(x) seconds over params[key], off by a share of it at most.
local function rows_of(key, xs, cost, noise)
  local rows = {}
  for i, x in ipairs(xs) do
    local time = cost(x) * (1 + (noise or 0) * (2 * math.random() - 1))
    rows[i] = { params = { [key] = x }, status = "ok", value = time * 1.1, q1 = time, q3 = time * 1.2, each = time,
      rate = 1 / time }
  end
  return rows
end

local function powers(first, last)
  local list = {}
  for i = first, last do list[#list + 1] = 1 << i end
  return list
end

local function failed(params)
  return { params = params, status = "failed", reason = "no such thing" }
end

describe("a fitted line", function()
  local function itself(x) return x end

  it("is the line that points lie on", function()
    local line = curve.law({ { x = 1, y = 5 }, { x = 2, y = 7 }, { x = 5, y = 13 } }, { 1 }, itself)
    for key, value in pairs { a = 3, b = 2, unexplained = 0 } do assert.near(value, line[key], 1e-12) end
  end)

  it("explains nothing where nothing varies", function()
    local upright = { { x = 1, y = 1 }, { x = 1, y = 2 }, { x = 1, y = 3 } }
    local flat = { { x = 1, y = 4 }, { x = 2, y = 4 }, { x = 3, y = 4 } }
    for _, points in ipairs { upright, flat } do assert.equal(1, curve.law(points, { 1 }, itself).unexplained) end
  end)

  it("is of the law that leaves least unexplained, beside what the next best leaves", function()
    local points = {}
    for i = 1, 9 do points[i] = { x = i, y = 1 + i ^ 3 } end
    local best, next_best = curve.law(points, { 1, 2, 3, 4 }, function(x, power) return x ^ power end)
    assert.equal(3, best.candidate)
    assert.is_true(next_best > 0.001 and next_best < 0.1)
    assert.is_nil((curve.law({ points[1], points[2] }, { 1 }, math.max)))
    assert.equal(1, select(2, curve.law(points, { 1 }, itself)))
  end)
end)

describe("plateaus", function()
  local function points_of(...)
    local points = {}
    for i, y in ipairs { ... } do points[i] = { x = 1 << i, y = y } end
    return points
  end

  it("are the levels of a curve, by medians, without points on the way between them", function()
    assert.same({ { from = 2, to = 8, value = 400, low = 390, high = 410 },
      { from = 32, to = 64, value = 98, low = 98, high = 102 } },
      curve.plateaus(points_of(390, 410, 400, 200, 102, 98)))
  end)

  it("are one where all is equal or just noisy, and none of a single point or nothing", function()
    assert.same({ { from = 2, to = 16, value = 7, low = 7, high = 7 } }, curve.plateaus(points_of(7, 7, 7, 7)))
    assert.equal(1, #curve.plateaus(points_of(100, 120, 90, 110, 95, 125, 85)))
    assert.same({}, curve.plateaus(points_of(5)))
    assert.same({}, curve.plateaus {})
  end)

  it("are one where neighbours differ by less than half, so that noise makes no levels", function()
    local list = curve.plateaus(points_of(100, 100, 100, 100, 100, 70, 70, 70, 70, 70))
    assert.same({ { from = 2, to = 1024, value = 70, low = 70, high = 100 } }, list)
    assert.equal(2, #curve.plateaus(points_of(100, 100, 100, 100, 100, 60, 60, 60, 60, 60)))
  end)

  it("are told with their extremes where they are not level", function()
    assert.equal("100 GB/s", curve.level_text(1e11, 9e10, 1.1e11, "B/s"))
    assert.equal("100 GB/s (50.0 GB/s to 120 GB/s)", curve.level_text(1e11, 5e10, 1.2e11, "B/s"))
    assert.equal("1.00 s", curve.level_text(1, nil, nil, "s"))
  end)
end)

describe("the number of banks", function()
  local banks, strides = bank_conflicts.banks, {}
  for stride = 0, 65 do strides[stride + 1] = stride end

  --- Time of a stride: serial reads of a bank, but never below what the instructions take.
  local function cost_of(count, least)
    return function(stride) return math.max(least or 1, stride == 0 and 1 or gcd(stride, count)) * 1e-9 end
  end

  it("is read off the cost over the stride, also where it is noisy or conflicts of two hide", function()
    for _, count in ipairs { 8, 16, 32, 64 } do
      assert.equal(count, banks(rows_of("stride", strides, cost_of(count))))
      assert.equal(count, banks(rows_of("stride", strides, cost_of(count), 0.1)))
      assert.equal(count, banks(rows_of("stride", strides, cost_of(count, 2), 0.05)))
    end
  end)

  it("stands missing points and failed rows, but not too few", function()
    local rows = rows_of("stride", strides, cost_of(32), 0.02)
    table.remove(rows, 11)
    rows[20] = failed { stride = 20 }
    rows[21] = failed {}
    assert.equal(32, banks(rows))
    assert.is_nil(banks(rows_of("stride", { 1, 2, 4, 8, 16, 32, 64 }, cost_of(32))))
    assert.is_nil(banks {})
  end)

  it("is not read off a curve that is flat, noisy, rises, or has one slow point", function()
    assert.is_nil(banks(rows_of("stride", strides, function() return 1 end)))
    for _ = 1, 20 do assert.is_nil(banks(rows_of("stride", strides, function() return 1 end, 0.5))) end
    assert.is_nil(banks(rows_of("stride", strides, function(stride) return 1 + stride / 30 end)))
    assert.is_nil(banks(rows_of("stride", strides, function(stride) return stride == 64 and 3 or 1 end)))
    assert.is_nil(banks(rows_of("stride", strides, function(stride) return stride == 32 and 9 or 1 end)))
  end)

  it("is told in words, with the broadcast, or said to be invisible", function()
    local read, rows = bank_conflicts.read_strides, rows_of("stride", strides, cost_of(32))
    says(read(rows, false), "32 banks of 4 bytes", "takes 32.0 times", "handed to all")
    rows[33] = failed { stride = 32 }
    says(read(rows, false), "takes 32.0 times")
    says(read(rows_of("stride", strides, function() return 1 end), true), "No banks are visible", "ordinary memory")
    says(read(rows_of("stride", strides, cost_of(64))), "or more")
    says(read({ failed {} }, true), "Too few")
  end)

  it("leaves the costs of types to be compared", function()
    local rows = {}
    for type, time in pairs { float = 1, float2 = 2, float4 = 4, uchar = 1.05, short = 1 } do
      rows[#rows + 1] = { params = { type = type, stride = 1 }, status = "ok", value = time, each = time }
    end
    says(bank_conflicts.read_types(rows, 32), "of float2 2.00, of float4 4.00, of uchar 1.05, of short 1.00",
      "A byte costs as much as four")
    says(bank_conflicts.read_types(rows), "no banks are visible")
    says(bank_conflicts.read_types { failed { stride = 1 } }, "could not be measured")
  end)
end)

describe("what memory moves at once", function()
  local strides = { 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64 }

  local function cost_of(piece)
    return function(stride) return 0.5 + math.min(4 * stride, piece) / 16 end
  end

  it("is read off the cost of a word over the stride", function()
    for _, piece in ipairs { 16, 32, 64, 128 } do
      assert.equal(piece, coalescing.piece(rows_of("stride", strides, cost_of(piece))))
      assert.equal(piece, coalescing.piece(rows_of("stride", strides, cost_of(piece), 0.03)))
    end
  end)

  it("is read off a cost that goes on rising slowly, as pages and rows of memory make it", function()
    local function cost(stride) return math.min(4 * stride, 64) + 0.24 * math.max(0, 4 * stride - 64) end
    assert.equal(64, coalescing.piece(rows_of("stride", strides, cost)))
    assert.equal(64, coalescing.piece(rows_of("stride", strides, cost, 0.03)))
  end)

  it("is nil where the cost rises as far as strides reach", function()
    assert.is_nil(coalescing.piece(rows_of("stride", strides, function(stride) return stride end)))
    assert.is_nil(coalescing.piece(rows_of("stride", strides, function(stride) return 1 + stride end, 0.03)))
  end)

  it("is nil where the cost rises ever more slowly, which several pieces explain alike", function()
    for _, cost in ipairs { math.sqrt, function(stride) return 1 + math.log(stride) end } do
      assert.is_nil(coalescing.piece(rows_of("stride", strides, cost)))
    end
  end)

  it("is nil of flat, falling and short curves", function()
    assert.is_nil(coalescing.piece(rows_of("stride", strides, function() return 1 end)))
    assert.is_nil(coalescing.piece(rows_of("stride", strides, function(stride) return 1 / stride end)))
    assert.is_nil(coalescing.piece(rows_of("stride", { 1, 16, 32 }, cost_of(32))))
    assert.is_nil(coalescing.piece { failed { stride = 1 } })
  end)

  it("is told in words, with what the line of the cache has", function()
    local rows = rows_of("stride", strides, cost_of(64))
    says(coalescing.read_strides(rows, 64), "moves 64 bytes at once, a line of the cache")
    says(coalescing.read_strides(rows, 128), "a line of the cache has 128")
    says(coalescing.read_strides(rows_of("stride", strides, function() return 1 end), 64), "No size")
    says(coalescing.read_strides({}, 64), "Too few")
  end)

  it("has a price for starts off its multiples, if one shows", function()
    local function read(penalty)
      local function cost(offset) return offset % 16 == 0 and 1 or penalty end
      return coalescing.read_offsets(rows_of("offset", { 0, 1, 7, 8, 16, 31, 32 }, cost), 64)
    end
    says(read(1.5), "take 1.50 times as long")
    says(read(1.02), "1.02 times", "nothing that shows")
    local rows = rows_of("offset", { 0, 1, 16, 31, 32 }, function(offset) return offset == 32 and 2 or 1 end)
    rows[2].each, rows[4].each = 1.5, 1.5
    says(coalescing.read_offsets(rows, 64), "1.50 times", "no more than these differ")
    says(coalescing.read_offsets(rows_of("offset", { 1, 2 }, function() return 1 end), 64), "Too few")
  end)
end)

describe("the levels of memory", function()
  --- Seconds for a byte: two caches and memory.
  local function cost_of(bytes)
    return bytes <= 32768 and 1 / 400 or bytes <= 1 << 20 and 1 / 100 or 1 / 10
  end

  it("are named by the sizes they hold", function()
    local list = working_set.bandwidths(rows_of("bytes", powers(12, 26), cost_of))
    local names = {}
    for i, level in ipairs(list) do names[i] = level.level end
    assert.same({ "up to 32 KiB", "64 KiB to 1 MiB", "from 2 MiB" }, names)
    assert.near(400, list[1].bytes_per_second, 1e-9)
    assert.near(10, list[3].bytes_per_second, 1e-9)
    local rows = rows_of("bytes", powers(12, 26), cost_of)
    rows[#rows].each = 1 -- on the way to a level that was not reached
    assert.equal("2 MiB to 32 MiB", working_set.latencies(rows)[3].level)
    assert.near(1 / 100, working_set.latencies(rows_of("bytes", powers(12, 26), cost_of))[2].seconds, 1e-9)
  end)

  it("are none where nothing was measured, one where no cache shows", function()
    assert.same({}, working_set.bandwidths { failed { bytes = 4096 } })
    local flat = rows_of("bytes", powers(12, 16), function() return 1 end)
    assert.equal("4 KiB to 64 KiB", working_set.bandwidths(flat)[1].level)
    says(working_set.read_bandwidth(flat), "no cache shows")
    says(working_set.read_bandwidth {}, "Too few")
    says(working_set.read_latency {}, "Too few")
    local sweeps = { { name = "read", rate = 10 }, { name = "write", rate = 5 } }
    for _, row in ipairs(sweeps) do row.params, row.status, row.value = { bytes = 4096 }, "ok", 1 end
    says(working_set.read_sweeps(sweeps), "read 10.0 B/s, write 5.00 B/s", "slower")
    sweeps[2].rate = 9
    assert.is_nil(working_set.read_sweeps(sweeps)[2])
    sweeps[3] = { name = "copy", rate = 10, params = { bytes = 4096 }, status = "ok", value = 1 }
    says(working_set.read_sweeps(sweeps, 20, 1 << 20),
      "peak of memory is another measurement, 20.0 B/s: the best of several runs over buffers of 1 MiB")
    assert.is_nil(working_set.read_sweeps(sweeps, 11, 1 << 20)[2])
    says(working_set.read_sweeps { failed { bytes = 1 } }, "None could")
  end)

  it("are told in words", function()
    says(working_set.read_bandwidth(rows_of("bytes", powers(12, 26), cost_of)), "3 levels", "40.0 times as fast")
    local rising = rows_of("bytes", powers(12, 26), function(bytes) return 1 / cost_of(bytes) end)
    says(working_set.read_bandwidth(rising), "no cache shows")
  end)

  it("stand a small piece that was disturbed: it fits wherever a larger one does", function()
    local rows = rows_of("bytes", powers(12, 26), cost_of)
    for i = 1, 3 do rows[i].rate, rows[i].each = rows[i].rate / 20, rows[i].each * 20 end
    assert.same(working_set.bandwidths(rows_of("bytes", powers(12, 26), cost_of)), working_set.bandwidths(rows))
    assert.same(working_set.latencies(rows_of("bytes", powers(12, 26), cost_of)), working_set.latencies(rows))
  end)

  it("are left by a buffer of four times the cache, if memory has room", function()
    local cpu = { type = "cpu", cache = 32 << 20, max_allocation = 2 << 30, global_memory = 8 << 30 }
    local function bytes_for(device) return Lab.new(device, {}):beyond_caches() end
    assert.equal(128 << 20, bytes_for(cpu))
    cpu.global_memory = 1 << 30
    assert.equal(64 << 20, bytes_for(cpu))
    cpu.max_allocation = 16 << 20
    assert.equal(8 << 20, bytes_for(cpu))
    assert.equal(2 << 30, bytes_for { type = "gpu", cache = 0, max_allocation = 1 << 35, global_memory = 1 << 37 })
  end)

  it("are measured by launches that last a seventh of the seconds of a point, by doubling their size", function()
    local now, time = timing.now, 0
    finally(function() timing.now = now end)
    function timing.now() return time end
    assert.equal(8, Lab.new("a stub", { seconds = 0.021 }):size(1, 64, function(n) time = time + 0.0004 * n end))
  end)

  it("have sizes in words", function()
    assert.same({ "512 B", "4 KiB", "1 MiB", "3 GiB", "2048 GiB", "1025 B" }, { format.size(512), format.size(4096),
      format.size(1 << 20), format.size(3 << 30), format.size(2 << 40), format.size(1025) })
  end)
end)

describe("the reading of local memory", function()
  local function rows(registers, own, one, cached)
    local list = {}
    for name, rate in pairs { registers = registers, ["local memory"] = own, ["local memory, one address"] = one,
      ["global memory, cached"] = cached } do
      list[#list + 1] = { name = name, status = "ok", value = 1 / rate, bytes = 1 }
    end
    return list
  end

  it("compares it with registers and the caches", function()
    says(local_memory.read(rows(40, 10, 10, 2), "local"), "a memory of its own",
      "5.0 times as fast as those of the same array", "registers are 4.0 times as fast",
      "one address by all work-items are as fast as")
  end)

  it("says where it is ordinary memory, and where nothing was measured", function()
    says(local_memory.read(rows(10, 10, 10, 10), "global"), "a piece of ordinary memory", "gains nothing here",
      "the additions bind, not the reads")
    says(local_memory.read({ failed {} }, "global"), "could not be measured")
  end)
end)

describe("the summary of transfers", function()
  it("has the best rate, the size that reaches half of it, and what the smallest takes", function()
    local rows = rows_of("bytes", powers(12, 24), function() return 1 end)
    for _, row in ipairs(rows) do
      row.value = 1e-5 + row.params.bytes * 1e-9
      row.rate = row.params.bytes / row.value
    end
    local found = transfers.summary(rows)
    assert.near(1e9, found.bytes_per_second, 1e7)
    assert.equal(1 << 14, found.half)
    assert.near(1.41e-5, found.seconds, 1e-7)
    assert.is_nil(transfers.summary { failed { bytes = 4096 } })
    says(transfers.read({}, false), "could not be measured")
  end)
end)

helper.describe_each("a mapped transfer", function(d)
  it("moves all bytes of a buffer or view both ways", function()
    local b = d:random("uint", 300, { seed = helper.seed })
    local before = b:string()
    assert.equal(before, internal.read_mapped(b))
    local view = b:view(33, 64)
    local bytes = string.pack("I4", 77):rep(32)
    assert.equal(view, internal.write_mapped(view, bytes))
    assert.equal(bytes, internal.read_mapped(view))
    assert.equal(before:sub(1, 128) .. bytes .. before:sub(257), b:string())
    assert.equal("", internal.read_mapped(d:empty("float", 0)))
    internal.write_mapped(d:empty("float", 0), "")
  end)

  it("waits for what was queued before", function()
    local b = d:zeros("uint", 1000):fill(7)
    assert.equal(string.pack("I4", 7):rep(1000), internal.read_mapped(b))
  end)

  it("takes as many bytes as the buffer has, and no released buffer", function()
    local b = d:zeros("uint", 4)
    helper.raises({ "16 bytes expected, got 15" }, internal.write_mapped, b, ("x"):rep(15))
    b:release()
    helper.raises("released", internal.read_mapped, b)
    helper.raises("released", internal.write_mapped, b, ("x"):rep(16))
  end)
end)

helper.describe_each("a probe of memory", function(d)
  local GROUP = 8

  local function random_table(n, most)
    local values = {}
    for i = 1, n do values[i] = math.random(0, most) end
    return values
  end

  local function reads(type, sum, parts, dtype, space, stride)
    local entries, unroll, n, step, items = 32, 4, 5, 3, 2 * GROUP
    local values = random_table((entries + unroll) * parts, 3)
    local kernel = d:kernel("probe_reads", { defines = { TYPE = type, SUM = sum, SPACE = space, ENTRIES = entries,
      UNROLL = unroll, GROUP = GROUP } })
    local out = d:empty(sum == "int" and "int" or "float", items * parts)
    kernel({ global = { items }, group = { GROUP } }, n, stride, step, d:buffer(values, dtype), out)
    local expected = {}
    for item = 0, items - 1 do
      for part = 1, parts do
        local sum_of = 0
        for k = 0, n - 1 do
          local first = (item % GROUP * stride + (space == 2 and 0 or k * step)) % entries
          for u = 0, unroll - 1 do sum_of = sum_of + values[(first + u) * parts + part] end
        end
        expected[item * parts + part] = sum_of
      end
    end
    assert.same(expected, out:read())
  end

  it("reads each type from each place with any stride", function()
    for space = 0, 2 do reads("float", "float", 1, "float", space, 5) end
    for space = 0, 1 do
      reads("float2", "float2", 2, "float", space, 33)
      reads("float4", "float4", 4, "float", space, 1)
      reads("uchar", "int", 1, "uchar", space, 0)
      reads("short", "int", 1, "short", space, 7)
    end
  end)

  it("reads with a distance and from an offset", function()
    local values, items = random_table(3 * 8 * 2 * GROUP + 5, 0xffffffff), 2 * GROUP
    local out = d:empty("uint", items)
    local kernel = d:kernel("probe_stride", { defines = { GROUP = GROUP, READS = 8 } })
    kernel({ global = { items }, group = { GROUP } }, 3, 5, d:buffer(values, "uint"), out)
    local expected = {}
    for item = 0, items - 1 do
      local sum = 0
      for u = 0, 7 do sum = sum + values[5 + ((item // GROUP * 8 + u) * GROUP + item % GROUP) * 3 + 1] end
      expected[item + 1] = sum & 0xffffffff
    end
    assert.same(expected, out:read())
  end)

  --- The groups sweep one after the other; the vectors of each go to its work-items by turns, or in stretches.
  local function stream(operation, neighbours)
    local width, unroll, n, items = 2, 2, 3, 2 * GROUP
    local vectors, share = 32, n * unroll
    local values = random_table(vectors * width, 0xffffffff)
    local out = d:zeros("uint", vectors * width)
    d:kernel("probe_stream", { defines = { OPERATION = operation, NEIGHBOURS = neighbours, WIDTH = width,
      UNROLL = unroll, GROUP = GROUP } })({ global = { items }, group = { GROUP } }, n, vectors - 1,
      d:buffer(values, "uint"), out)
    local sums, swept = {}, {}
    for i = 1, items * width do sums[i] = 0 end
    for i = 0, items * share - 1 do
      local within = i % (GROUP * share)
      local item = i // (GROUP * share) * GROUP + (neighbours == 1 and within % GROUP or within // share)
      for part = 1, width do
        local at = i % vectors * width + part
        sums[item * width + part] = sums[item * width + part] + values[at] & 0xffffffff
        swept[at] = operation == 1 and i % vectors * 2654435761 & 0xffffffff or values[at]
      end
    end
    assert.same(operation == 0 and sums or swept, out:read(1, operation == 0 and items * width or vectors * width))
  end

  it("sweeps: reads, writes and copies, in either order", function()
    for operation = 0, 2 do
      for neighbours = 0, 1 do stream(operation, neighbours) end
    end
  end)

  it("lays a chain through all places, and follows it", function()
    local places, line = 16, 16
    local chain, at = d:zeros("uint", places * line), d:zeros("uint", 1)
    d:kernel "probe_table"(places, places - 1, line, chain)
    local links, seen, p = chain:read(), {}, 0
    for _ = 1, places do
      assert.is_nil(seen[p])
      seen[p] = true
      assert.equal((1664525 * (p // line) + 1013904223) % places * line, links[p + 1])
      p = links[p + 1]
    end
    assert.equal(0, p)
    local follow = d:kernel "probe_links"
    for steps = 1, 5 do
      follow(1, steps, chain, at)
      for _ = 1, steps do p = links[p + 1] end
      assert.same({ p }, at:read())
    end
  end)
end)

helper.describe_each("an experiment with memory", function(d)
  it("notices transfers that move nothing", function()
    local read, write = internal.read_mapped, internal.write_mapped
    finally(function() internal.read_mapped, internal.write_mapped = read, write end)
    internal.read_mapped = function(buffer) return ("x"):rep(buffer.bytes) end
    internal.write_mapped = function() end
    local wrong = 0
    for _, row in ipairs(transfers.measure(Lab.new(d, { quick = true }))[1].rows) do
      local is_mapped = row.params.way:find "mapped" ~= nil
      assert.equal(is_mapped and "failed" or "ok", row.status, row.name)
      wrong = wrong + (is_mapped and 1 or 0)
    end
    assert.equal(2, wrong)
  end)

  --- A lab whose kernels compute nothing.
  local function idle_lab()
    local idle = d:program("kernel void idle(global int *x) { x[0] = 1; }").idle
    local x = d:zeros("int", 1)
    local lab = Lab.new(d, { quick = true })
    lab.kernel = function() return function() return idle(1, x) end end
    return lab
  end

  it("reads as often as a launch needs to be timed", function()
    local function reads(size)
      local lab = idle_lab()
      lab.size = function() return size end
      return bank_conflicts.measure(lab)[1].rows[1].operations
    end
    assert.equal(2 * reads(4), reads(8))
  end)

  it("tells each size its level, also the first and the last of one, or that it is between two", function()
    local lab, least, found = idle_lab(), nil, {}
    lab.choose = function(_, full) return full end
    lab.beyond_caches = function() return 1 << 18 end
    lab.time = function(_, given) -- seconds of a byte or of a read: two levels, and two sizes on the way
      local bytes = given.params.bytes
      least = least or bytes
      local each = bytes <= 4 * least and 1 or bytes >= 32 * least and 10000 or bytes / least * 20
      return { name = given.name, params = given.params, status = "ok", each = each,
        value = each * (given.operations or given.bytes), bytes = given.bytes }
    end
    for _, row in ipairs(working_set.measure(lab)[1].rows) do found[#found + 1] = row.level end
    local first, last = "up to " .. format.size(4 * least), "from " .. format.size(32 * least)
    assert.same({ first, first, first, "between", "between", last }, table.move(found, 1, 6, 1, {}))
    for i = 6, #found do assert.equal(last, found[i]) end
    assert.is_true(#found > 6)
  end)

  it("notices kernels that compute nothing", function()
    local lab = idle_lab()
    for _, experiment in ipairs { local_memory, bank_conflicts, coalescing, working_set } do
      for _, section in ipairs((experiment.measure(lab))) do
        for _, row in ipairs(section.rows) do
          assert.equal("failed", row.status, experiment.name .. ": " .. row.name)
        end
      end
    end
  end)
end)
