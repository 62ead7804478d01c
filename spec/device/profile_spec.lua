-- SPDX-License-Identifier: MIT
--- What cl.profile counts, held against the events of the same launches.

local helper = require "spec.helper"
local text_width = require("clcompute.base").width

--- A device that is no simulator, if there is one.
local FAST
for _, d in ipairs(helper.devices()) do
  if not FAST or d.platform ~= "Oclgrind" then FAST = d.place end
end
local cl = require "clcompute"

local SOURCE = [[
  kernel void spin(global int *x, int n) {
    int v = get_global_id(0);
    for (int i = 0; i < n; i++) v = v * 3 + 1;
    x[get_global_id(0)] = v;
  }
  kernel void other(global int *x, global const int *y) { x[get_global_id(0)] = y[get_global_id(0)]; }
]]

--- The rows by name, of one kind.
local function by_name(kind)
  local found = {}
  for _, row in ipairs(cl.profile()) do
    if row.kind == kind then
      assert.is_nil(found[row.name])
      found[row.name] = row
    end
  end
  return found
end

helper.describe_each("a profile", function(d)
  local p = d:program(SOURCE, { name = "spin.cl" })
  local loops = helper.is_simulator(d) and 10 or 10000

  after_each(function()
    cl.profile(true)
    cl.profile(false)
  end)

  it("sums the times of a kernel's events", function()
    local x, total, min, max = d:empty("int", 64), 0, math.huge, 0
    cl.profile(true)
    local events = {}
    for i = 1, 7 do events[i] = p.spin(64, x, loops * i) end
    local row = by_name("kernel").spin
    for _, e in ipairs(events) do
      total, min, max = total + e.seconds, math.min(min, e.seconds), math.max(max, e.seconds)
    end
    assert.equal(7, row.calls)
    assert.near(total, row.total, 1e-12)
    assert.near(total / 7, row.mean, 1e-12)
    assert.near(min, row.min, 1e-12)
    assert.near(max, row.max, 1e-12)
    assert.equal(7 * x.bytes, row.bytes)
    assert.same({ d.name, d.place }, { row.device, row.place })
    assert.equal(1, math.type(row.calls) == "integer" and math.type(row.bytes) == "integer" and 1)
  end)

  it("counts one copy where a part of a buffer goes to the part beside it, and no memory between", function()
    local x = d:buffer({ 1, 2, 3, 4 }, "int")
    for _, move in ipairs { { from = x:view(1, 2), to = 3 }, { from = x:view(3, 4), to = 1 } } do
      cl.profile(true)
      x:write(move.from, move.to)
      local calls, bytes = 0, 0
      for _, row in pairs(by_name "copy") do calls, bytes = calls + row.calls, bytes + row.bytes end
      assert.same({ 1, 8 }, { calls, bytes })
    end
    assert.same({ 1, 2, 1, 2 }, x:read())
  end)

  it("counts what is queued between start and stop", function()
    local x = d:empty("int", 64)
    p.spin(64, x, loops)
    cl.profile(true)
    p.spin(64, x, loops)
    p.spin(64, x, loops)
    cl.profile(false)
    p.spin(64, x, loops)
    assert.equal(2, by_name("kernel").spin.calls)
    p.spin(64, x, loops)
    assert.equal(2, by_name("kernel").spin.calls)
    p.spin(64, x, loops)
    cl.profile(true) -- the one in flight is of no profile
    assert.equal(0, #cl.profile())
    assert.equal("nothing was profiled", tostring(cl.profile()))
    p.spin(64, x, loops)
    assert.equal(1, by_name("kernel").spin.calls)
    p.spin(64, x, loops)
    cl.profile(true) -- begins anew, without the one in flight
    assert.equal(0, #cl.profile())
  end)

  it("counts more commands than the queue holds", function()
    local x = d:empty("int", 1)
    cl.profile(true)
    for _ = 1, 700 do p.spin(1, x, 1) end
    for _ = 1, 300 do x:fill(1) end
    assert.equal(700, by_name("kernel").spin.calls)
    assert.equal(300, by_name("fill").fill.calls)
  end)

  it("counts a split launch once, with the time of its parts and its buffers", function()
    local x, y = d:zeros("int", 100), d:zeros("int", 128)
    cl.profile(true)
    local e = p.other({ global = 100, group = 16, remainder = "split" }, x, y)
    local row = by_name("kernel").other
    assert.equal(1, row.calls)
    assert.equal(912, row.bytes)
    assert.is_true(row.total <= e.seconds + 1e-12)
    assert.equal(row.total, row.min)
    assert.equal(row.total, row.max)
    p.other(100, x, y:view(1, 100))
    assert.same({ 2, 912 + 800 }, { by_name("kernel").other.calls, by_name("kernel").other.bytes })
  end)

  it("counts the bytes of transfers", function()
    local x = d:zeros("double", 3, 5)
    cl.profile(true)
    x:write { { 1, 2, 3, 4, 5 } } -- at once
    x:read(2, 3)
    x:fill(7)
    x:write(("x"):rep(80)) -- behind the fill
    x:copy()
    assert.equal(0, select("#", cl.profile(false)))
    local calls, bytes = {}, {}
    for _, row in ipairs(cl.profile()) do
      assert.equal(row.kind, row.name)
      calls[row.kind], bytes[row.kind] = row.calls, row.bytes
    end
    assert.same({ write = 2, read = 1, fill = 1, copy = 1 }, calls)
    assert.same({ write = 40 + 80, read = 80, fill = 120, copy = 120 }, bytes)
  end)

  it("counts single elements", function()
    local x = d:buffer { 1, 2, 3 }
    cl.profile(true)
    assert.equal(2, x[2])
    x[3] = 7
    assert.same({ 1, 4 }, { by_name("read").read.calls, by_name("read").read.bytes })
    assert.same({ 1, 4 }, { by_name("fill").fill.calls, by_name("fill").fill.bytes })
  end)

  it("shows the kernels that an operation is made of", function()
    local n = 20
    local a, b = d:random("float", n, n, { seed = helper.seed }), d:random("float", n)
    cl.profile(true)
    cl.gauss(a, b)
    cl.saxpy(2, b, b)
    local rows = by_name "kernel"
    assert.truthy(rows.lu_batch or rows.lu_batch_rows or rows.lu_pivot or rows.lu_tournament)
    assert.truthy(rows.residual or rows.residual_vectors or rows.residual_lanes)
    assert.equal(3 * b.bytes, rows.saxpy.bytes) -- x, y and the result
  end)

  it("counts builds by the program's name, and not those that fail", function()
    cl.profile(true)
    local start = cl.clock()
    d:program(SOURCE, { name = "named.cl" })
    d:program(SOURCE, { name = "named.cl" })
    local passed = cl.clock() - start
    assert.is_false((pcall(d.program, d, "kernel void k(global int *x) { nowhere; }", { name = "broken.cl" })))
    local rows = by_name "build"
    assert.is_nil(rows["broken.cl"])
    assert.equal(2, rows["named.cl"].calls)
    assert.is_true(rows["named.cl"].total > 0 and rows["named.cl"].total <= passed)
    assert.is_nil(rows["named.cl"].bytes)
    assert.is_nil(rows["named.cl"].share)
  end)

  it("waits for further queues", function()
    local q, r = d:queue(), d:queue()
    local x, y = q:zeros("int", 64), r:zeros("int", 64)
    local on_q, on_r = q:program(SOURCE).spin, r:program(SOURCE).spin
    cl.profile(true)
    for _ = 1, 5 do
      on_q(64, x, loops)
      on_r(64, y, loops)
    end
    assert.equal(10, by_name("kernel").spin.calls)
  end)

  it("keeps what a closed device has done", function()
    local q = d:queue()
    local spin, x = q:program(SOURCE).spin, q:zeros("int", 64)
    q:wait()
    cl.profile(true)
    for _ = 1, 5 do spin(64, x, loops) end
    q:close()
    assert.equal(5, by_name("kernel").spin.calls)
  end)

  it("is sorted by time, and its shares sum to 1", function()
    local x = d:zeros("int", 64)
    cl.profile(true)
    p.spin(64, x, 10 * loops)
    p.other(64, x, x)
    x:read()
    local rows, sum = cl.profile(), 0
    for i, row in ipairs(rows) do
      sum = sum + row.share
      assert.is_true(i == 1 or rows[i - 1].total >= row.total)
    end
    assert.equal(3, #rows)
    assert.near(1, sum, 1e-12)
  end)

  it("reads as a table whose columns are aligned", function()
    local x = d:zeros("int", 64)
    cl.profile(true)
    p.spin(64, x, loops)
    x:read()
    d:program(SOURCE, { name = "spin.cl" })
    local lines = {}
    for line in tostring(cl.profile()):gmatch "[^\n]+" do lines[#lines + 1] = line end
    assert.equal(4, #lines)
    assert.matches("^name +kind +device +calls +total +share +mean +min +max +MiB$", lines[1])
    for _, line in ipairs(lines) do assert.equal(text_width.of(lines[1]), text_width.of(line)) end
  end)

  --- The table of one kernel with that name and time.
  local function shown(name, seconds)
    local internal = require "clcompute.core.internal"
    local read_profile = internal.read_profile
    internal.read_profile = function()
      return { { name = name, kind = "kernel", device = "D", place = "0:0", calls = 1, total = seconds,
        min = seconds, max = seconds } }
    end
    local text = tostring(cl.profile())
    internal.read_profile = read_profile
    return text
  end

  it("shows times with at most three digits before the point", function()
    for seconds, text in pairs { [0] = "0 s", [5e-10] = "0.50 ns", [9.99994e-7] = "999.99 ns",
      [9.99996e-7] = "1.00 us", [9.99994e-4] = "999.99 us", [9.99996e-4] = "1.00 ms",
      [0.9999949] = "999.99 ms", [0.9999951] = "1.00 s",
      [1] = "1.00 s", [12345] = "12345.00 s" } do
      local _, count = shown("k", seconds):gsub("%f[%d]" .. text:gsub("%.", "%%.") .. "%f[^%w]", "")
      assert.equal(4, count, shown("k", seconds))
    end
  end)

  it("cuts long names between characters", function()
    local text = shown(("行列"):rep(30), 1)
    assert.truthy(utf8.len(text))
    local header, line = text:match "^(.-)\n(.*)$"
    assert.equal(42, text_width.of(header:match "^(.*)kind")) -- a cell of 40, and the gap
    assert.equal(42, text_width.of(line:match "^(.*)kernel"))
  end)
end)

describe("cl.profile", function()
  --- What a script prints in a process of its own.
  local function run(script, environment)
    environment = environment or {}
    environment.FAST = FAST
    local ok, output, code = helper.run(script, environment)
    assert.is_true(ok, ("exit code %s: %s"):format(code, output))
    return output
  end

  it("refuses what is no boolean", function()
    helper.raises({ "true, false or nothing expected, got number" }, cl.profile, 1)
  end)

  it("is of a Lua state, keeps a closed device's queues, and survives the end of the state", function()
    assert.equal("nothing was profiled\n12\n", run [[
      local cl = require "clcompute"
      print(cl.profile())
      local d = cl.device(os.getenv "FAST")
      local source = "kernel void k(global int *x) { x[0] = 1; }"
      local q = d:queue()
      local on_d, on_q, x, y = d:program(source).k, q:program(source).k, d:zeros("int", 1), q:zeros("int", 1)
      cl.profile(true)
      for _ = 1, 6 do on_d(1, x) on_q(1, y) end
      d:close()
      assert(#cl.profile() == 1)
      print(cl.profile()[1].calls)
      d = cl.device(os.getenv "FAST")
      x = d:zeros("int", 1)
      on_d = d:program(source).k
      for _ = 1, 6 do on_d(1, x) end]])
  end)

  it("counts while finalizers start and read profiles", function()
    assert.equal("ended\n", run [[
      local cl = require "clcompute"
      local d = cl.device(os.getenv "FAST")
      local p = d:program("kernel void k(global int *x) { x[0] = 1; }")
      local x = d:zeros("int", 1)
      local function again()
        setmetatable({}, {__gc = function()
          p.k(1, x)
          cl.profile(true)
          if math.random(4) == 1 then tostring(cl.profile()) end
          again()
        end})
      end
      collectgarbage("generational")
      again()
      for i = 1, 3000 do
        p.k(1, x)
        if i % 50 == 0 then cl.profile(i % 100 == 0) x:fill(1) x:copy() end
      end
      assert(#cl.profile() <= 5)
      print "ended"]])
  end)

  it("waits so that Ctrl-C ends it", function()
    local script = os.tmpname()
    helper.write(script, [[
      local cl = require "clcompute"
      local d = cl.device(os.getenv "FAST")
      local k = d:program("kernel void k(global int *x) { for (int i = 0; i < 2000000000; i++) x[0] += x[0] * i; }").k
      local x = d:zeros("int", 1)
      d:wait()
      cl.profile(true)
      k(1, x)
      print(pcall(cl.profile))
      io.stdout:flush()
      os.exit(true, false)]])
    local output = helper.shell(("FAST=%s timeout -s INT 1.5 %s %s"):format(FAST, helper.lua, script))
    os.remove(script)
    assert.matches("interrupted!", output)
  end)
end)
