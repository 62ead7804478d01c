-- SPDX-License-Identifier: MIT
--- Commands and calls that fail: the counting layer lets them.

local cl = require "clcompute"
local count = require "clcount"
local helper = require "spec.helper"

local OUT_OF_RESOURCES, OUT_OF_HOST_MEMORY, ALLOCATION_FAILURE = -5, -6, -4
local FAULT = -14 -- CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST
local FAILED = "kernel 'add' failed on the device: CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST (-14)"

helper.describe_each("a failure", function(d)
  local add, x, y, before

  local function handles()
    collectgarbage()
    collectgarbage()
    return #count.live()
  end

  --- A launch that the next question after its state finds failed, `times` times.
  local function launch_failing(times)
    local e = add(4, x)
    count.fail("command", FAULT, 1, times)
    return e
  end

  setup(function()
    add = d:program("kernel void add(global int *x) { x[get_global_id(0)]++; }").add
    x = d:zeros("int", 4)
    add(4, x)
    x:fill(0):read()
    y = d:zeros("float", 4)
    cl.saxpy(2, y, y, { out = y }):read() -- whose program is kept
  end)

  before_each(function()
    count.fail()
    x:fill(0):read()
    d:trim()
    before = handles()
  end)

  after_each(function()
    count.fail()
    d:wait() -- nothing is left to report
    add(4, x:fill(6)) -- and the device works
    assert.same({ 7, 7, 7, 7 }, x:read())
    d:trim()
    assert.equal(before, handles())
    assert.equal(0, count.bad())
  end)

  for what, block in pairs {
    ["reading"] = function() return x:read() end,
    ["getting an element"] = function() return x:get(1) end,
    ["waiting for the device"] = function() d:wait() end,
    ["a string"] = function() return x:string() end,
  } do
    it("of a command raises once, naming the kernel, in " .. what, function()
      if what == "getting an element" and d.platform:find "NVIDIA" then
        return pending "a kernel tells elements there, which none does behind one that failed"
      end
      launch_failing()
      helper.raises(FAILED, block)
      block()
    end)
  end

  it("of a command raises in waiting for its event, which keeps its status", function()
    local e = launch_failing(2)
    helper.raises(FAILED, e.wait, e)
    e = launch_failing(1) -- the device has reported it elsewhere
    helper.raises(FAILED, e.wait, e)
    add(4, x):wait()
  end)

  it("of a launch stays its event's, whichever failures are reported", function()
    local function failing()
      local e = launch_failing()
      assert.matches("(kernel 'add' failed)", tostring(x), 1, true) -- which waits and reports nothing
      return e
    end
    local events = { failing(), failing() }
    helper.raises(FAILED, d.wait, d)
    d:wait() -- which tells of the first alone
    local well = add(4, x):wait()
    events[3] = failing()
    helper.raises(FAILED, d.wait, d)
    for _, e in ipairs(events) do
      assert.matches("^CL_", e.status)
      helper.raises(FAILED, e.wait, e)
    end
    assert.equal("complete", well:wait().status)
  end)

  it("of more launches than are remembered is reported once, as the first's", function()
    local events = {}
    for i = 1, 12 do
      events[i] = launch_failing()
      assert.matches("(kernel 'add' failed)", tostring(x), 1, true)
    end
    helper.raises(FAILED, d.wait, d)
    d:wait()
    for _, e in ipairs(events) do helper.raises(FAILED, e.wait, e) end
  end)

  it("of a command raises in close, which closes all the same", function()
    local q = d:queue()
    local other = q:zeros("int", 4)
    q:wait()
    q:program("kernel void add(global int *x) { x[0]++; }").add(1, other)
    count.fail("command", FAULT)
    helper.raises(FAILED, q.close, q)
    helper.raises("released", q.wait, q)
  end)

  it("of a command is not counted by the profile", function()
    cl.profile(true)
    finally(function() cl.profile(false) end)
    add(4, x)
    d:wait()
    launch_failing()
    pcall(d.wait, d)
    add(4, x)
    d:wait()
    local calls
    for _, row in ipairs(cl.profile()) do
      if row.name == "add" then calls = row.calls end
    end
    assert.equal(2, calls)
  end)

  it("to enqueue raises at once and names call and kernel", function()
    count.fail("clEnqueueNDRangeKernel", OUT_OF_RESOURCES)
    helper.raises({ "clEnqueueNDRangeKernel: CL_OUT_OF_RESOURCES (-5)", "add" }, add, 4, x)
    count.fail("clEnqueueReadBuffer", OUT_OF_RESOURCES)
    helper.raises("clEnqueueReadBuffer: CL_OUT_OF_RESOURCES (-5)", x.read, x)
    count.fail("clEnqueueFillBuffer", OUT_OF_RESOURCES)
    helper.raises("clEnqueueFillBuffer: CL_OUT_OF_RESOURCES (-5)", x.fill, x, 1)
    assert.same({ 0, 0, 0, 0 }, x:read())
  end)

  it("for want of memory collects all garbage and tries once more", function()
    for _, code in ipairs { OUT_OF_RESOURCES, OUT_OF_HOST_MEMORY, ALLOCATION_FAILURE } do
      local garbage = setmetatable({ {} }, { __mode = "v" })
      count.fail("clCreateBuffer", code)
      d:trim():empty("int", 4):release()
      assert.is_nil(garbage[1])
      count.fail("clCreateBuffer", code, 1, 2)
      helper.raises(("(%d)"):format(code), d.empty, d:trim(), "int", 4)
      d:trim():empty("int", 4):release() -- there was no third try
    end
  end)

  --- Runs a block while a slow kernel is queued; returns whether it ended before the block did.
  local function outlasts(block)
    local p <close> = d:program [[
      kernel void slow(global int *v, int n) { for (volatile int i = 0; i < n; i++) v[0]++; }]]
    local n = helper.is_simulator(d) and 1 or d.type == "cpu" and 100000000 or 20000000
    p.slow(1, x, 1):wait()
    local e = p.slow(1, x, n)
    block()
    local status = e.status
    e:wait()
    return status == "complete"
  end

  it("for want of memory waits for what queued commands hold", function()
    assert.is_true(outlasts(function()
      count.fail("clCreateBuffer", OUT_OF_RESOURCES)
      d:trim():empty("int", 4):release()
    end))
  end)

  it("to hold what was dropped is not awaited before it fills the device", function()
    local bytes = math.min(d:info().max_allocation, d.global_memory // 4)
    local function drop(times)
      return function() for _ = 1, times do d:empty("uchar", bytes):release() end end
    end
    drop(d.global_memory // bytes)() -- whatever was dropped before
    local takes_long = helper.is_simulator(d) or os.getenv "SANITIZED" -- which notes each byte of what is made
    if not takes_long then assert.is_false(outlasts(drop(1))) end
    assert.is_true(outlasts(drop(d.global_memory // bytes)))
  end)

  it("to tell of the device raises, where a zero would be believed", function()
    for _, field in ipairs { "global_memory", "type", "local_memory_type", "has_half", "max_group_sizes", "name" } do
      count.fail("clGetDeviceInfo", OUT_OF_HOST_MEMORY)
      helper.raises("clGetDeviceInfo: CL_OUT_OF_HOST_MEMORY (-6)", function() return d[field] end)
    end
    count.fail("clGetDeviceInfo", OUT_OF_HOST_MEMORY)
    helper.raises("clGetDeviceInfo: CL_OUT_OF_HOST_MEMORY (-6)", d.info, d)
  end)

  it("to know an optional property means that the device has it not", function()
    count.fail("clGetDeviceInfo", -30)
    assert.is_false(d.has_half)
  end)

  it("to flush leaves no one waiting for commands that may never begin", function()
    local p <close> = d:program [[
      kernel void slow(global int *v, int n) { for (volatile int i = 0; i < n; i++) v[0]++; }]]
    local n = helper.is_simulator(d) and 1 or 20000000
    for _, wait in ipairs { function() d:wait() end, function(e) e:wait() end } do
      p.slow(1, x, 1):wait()
      local e = p.slow(1, x, n)
      count.fail("clFlush", OUT_OF_RESOURCES, 1, 1000)
      local ok, message = pcall(wait, e)
      count.fail()
      if not helper.is_simulator(d) then assert.is_false(ok) end -- what has ended already needs no flush
      assert.truthy(ok or message:find("CL_OUT_OF_RESOURCES (-5)", 1, true), message)
      pcall(d.wait, d)
    end
  end)

  it("to see the end of another library's commands names the call", function()
    d:raw()
    count.fail("clEnqueueBarrierWithWaitList", OUT_OF_RESOURCES)
    helper.raises("clEnqueueBarrierWithWaitList failed on the device: CL_OUT_OF_RESOURCES (-5)", d.wait, d)
  end)

  describe("of launches without events, as they are where none is timed,", function()
    local was_timed = d:timing()
    setup(function()
      d:timing(false)
      cl.saxpy(2, y, y, { out = y })
    end)
    teardown(function() d:timing(was_timed) end)

    it("is found by waiting, and names the last of them", function()
      local s <close> = d:record(function() cl.saxpy(2, y, y, { out = y }) end)
      s(3)
      count.fail("command", FAULT)
      helper.raises({ "kernel 'saxpy", "failed on the device", "(-14)" }, d.wait, d)
      s()
      count.fail("clEnqueueBarrierWithWaitList", OUT_OF_RESOURCES)
      helper.raises("clEnqueueBarrierWithWaitList failed on the device: CL_OUT_OF_RESOURCES (-5)", d.wait, d)
    end)

    it("names the first and the last that it can be", function()
      local p <close> = d:program [[
        kernel void more(global int *x) { x[get_global_id(0)]++; }
        kernel void less(global int *x) { x[get_global_id(0)]--; }]]
      local s <close> = d:record(function()
        x:fill(0)
        p.more(4, x)
        add(4, x)
        p.less(4, x)
      end)
      local e = s()
      count.fail("command", FAULT)
      local text = "kernel 'more', kernel 'less' or one between them failed on the device: "
      helper.raises(text, d.wait, d)
      helper.raises(text, e.wait, e)
      assert.matches("^CL_", e.status)
      assert.equal("complete", add(4, x:fill(0)):wait().status)
    end)
  end)

  it("of several launches is told by the event of each, though it is raised once", function()
    local known, events = { queued = true, submitted = true, running = true }, {}
    count.fail("command", FAULT, 1, 1000)
    for i = 1, 3 do
      events[i] = add(4, x)
      while known[events[i].status] do end
    end
    helper.raises(FAILED, d.wait, d)
    d:wait()
    count.fail()
    for _, e in ipairs(events) do
      helper.raises(FAILED, e.wait, e)
      assert.matches("^CL_", e.status)
    end
    assert.equal("complete", add(4, x):wait().status)
  end)

  it("of a launch without an event is not that of the copy behind it, where the driver tells no states", function()
    if helper.is_simulator(d) then return pending "what has ended needs no question" end
    local long <close> = d:zeros("float", 1 << 24)
    local other <close> = d:zeros("float", 4)
    for _, what in ipairs { "kernel 'saxpy", "fill" } do
      d:wait()
      for _ = 1, what ~= "fill" and 8 or 0 do cl.saxpy(2, long, long, { out = long }) end -- still on its way then
      other:fill(1)
      count.fail("clGetEventInfo", OUT_OF_RESOURCES, 1, 1000)
      helper.raises({ what, "failed on the device: CL_OUT_OF_RESOURCES (-5)" }, d.wait, d)
      count.fail()
    end
  end)

  it("to make a queue names the call that the device's version has", function()
    local major = tonumber(d.version:match "OpenCL (%d)")
    local call = "clCreateCommandQueue" .. (major >= 2 and "WithProperties" or "")
    count.fail(call, OUT_OF_RESOURCES)
    helper.raises(call .. ": CL_OUT_OF_RESOURCES (-5)", d.queue, d)
  end)

  it("to tell a kernel's arguments names the call", function()
    local p <close> = d:program(helper.unseen "kernel void k(global float *x) { x[0] = %sf; }")
    count.fail("clGetKernelArgInfo", -19)
    helper.raises({ "clGetKernelArgInfo: CL_KERNEL_ARG_INFO_NOT_AVAILABLE (-19)", "takes no arguments" }, p.kernel, p,
      "k")
  end)

  it("to find out the size of a struct raises, unless it is the compiler that refuses", function()
    local p <close> = d:program(helper.unseen [[
      typedef struct __attribute__((packed)) { int a, b; } Pair; // the text does not tell its size
      kernel void k(global float *x, Pair p) { x[0] = %sf + p.a; }]])
    count.fail("clCreateProgramWithSource", OUT_OF_HOST_MEMORY)
    helper.raises("clCreateProgramWithSource: CL_OUT_OF_HOST_MEMORY (-6)", p.kernel, p, "k")
    count.fail("clBuildProgram", -11, 1, 2)
    assert.equal("Pair", p:kernel("k").args[2].type)
  end)

  it("to write the arguments of compiled loops raises", function()
    local loops = require "clcompute.loops"
    local double <close> = assert(loops.compile("return function(v, n) for i = 1, n do v[i] = v[i] * 2 end end",
      { device = d, force = true }))
    count.fail("clEnqueueWriteBuffer", OUT_OF_HOST_MEMORY)
    helper.raises("clEnqueueWriteBuffer: CL_OUT_OF_HOST_MEMORY (-6)", double, { 1.0, 2.0 }, 2)
    count.fail("clGetDeviceInfo", OUT_OF_HOST_MEMORY)
    local message = helper.raises("CL_OUT_OF_HOST_MEMORY (-6)", double, { 1.0, 2.0 }, 2)
    assert.is_nil(message:find "released")
  end)

  it("for another reason is not tried again", function()
    count.fail("clCreateBuffer", -30)
    helper.raises("clCreateBuffer: CL_INVALID_VALUE (-30)", d.empty, d:trim(), "int", 4)
  end)
end)

describe("a driver that does not tell its devices", function()
  local UNTOLD = "clGetDeviceIDs: CL_OUT_OF_HOST_MEMORY (-6)"

  local function mute(times) count.fail("clGetDeviceIDs", OUT_OF_HOST_MEMORY, 1, times) end

  after_each(function() count.fail() end)

  it("is an error where no other has the device", function()
    mute(1000)
    helper.raises(UNTOLD, cl.devices)
    helper.raises(UNTOLD, cl.device)
    mute(1000)
    helper.raises(UNTOLD, cl.device, "0:0")
  end)

  it("is named beside the devices that there are", function()
    if #cl.platforms() < 2 then return pending "needs two platforms" end
    mute(1)
    helper.raises({ "there are", "0: unknown, " .. UNTOLD }, cl.device, "0:0")
    mute(1)
    assert.is_true(#cl.devices() > 0)
  end)

  it("is told of by its platform", function()
    mute(1)
    local platforms = cl.platforms()
    assert.equal(UNTOLD, platforms[1].fault)
    assert.same({}, { table.unpack(platforms[1].devices) })
    assert.truthy(tostring(platforms[1]):find(UNTOLD, 1, true))
    assert.is_nil(cl.platforms()[1].fault)
  end)
end)
