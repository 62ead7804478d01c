-- SPDX-License-Identifier: MIT
--- Commands and calls that fail: the counting layer lets them.

local cl = require "clcompute"
local count = require "clcount"
local helper = require "spec.helper"

local OUT_OF_RESOURCES, OUT_OF_HOST_MEMORY, ALLOCATION_FAILURE = -5, -6, -4
local FAULT = -14 -- CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST
local FAILED = "kernel 'add' failed on the device: CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST (-14)"

helper.describe_each("a failure", function(d)
  local add, x, before

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
  end)

  before_each(function()
    count.fail()
    x:fill(0):read()
    before = handles()
  end)

  after_each(function()
    count.fail()
    d:wait() -- nothing is left to report
    add(4, x:fill(6)) -- and the device works
    assert.same({ 7, 7, 7, 7 }, x:read())
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
      d:empty("int", 4):release()
      assert.is_nil(garbage[1])
      count.fail("clCreateBuffer", code, 1, 2)
      helper.raises(("(%d)"):format(code), d.empty, d, "int", 4)
      d:empty("int", 4):release() -- there was no third try
    end
  end)

  it("for another reason is not tried again", function()
    count.fail("clCreateBuffer", -30)
    helper.raises("clCreateBuffer: CL_INVALID_VALUE (-30)", d.empty, d, "int", 4)
  end)
end)
