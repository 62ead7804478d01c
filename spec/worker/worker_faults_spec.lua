-- SPDX-License-Identifier: MIT
--- What the driver refuses in the worker of an isolated device: the counting layer lets calls fail there.

local cl = require "clcompute"
local helper = require "spec.helper"

local PLACE
for _, device in ipairs(cl.devices "cpu") do
  if not helper.is_simulator(device) then PLACE = PLACE or device.place end
end

--- An interpreter whose OpenCL fails as CLCOUNT_FAIL says, "call code nth times": that of every worker, or of the one
-- that is started as the nth. Returns its path and what takes it away again.
local function failing(plan, start)
  local path = os.tmpname()
  helper.write(path, ("#!/bin/sh\necho >>%s.starts\nif [ $(wc -l <%s.starts) %s ]; then export CLCOUNT_FAIL='%s'; fi\n"
    .. "exec %s \"$@\"\n"):format(path, path, start and "= " .. start or "-gt 0", plan, helper.lua), true)
  return path, function()
    os.remove(path)
    os.remove(path .. ".starts")
  end
end

--- The lines of a script whose worker's calls fail; at the end it says whether other data are sound.
local function run(plan, script, start)
  local lua, remove = failing(plan, start)
  local _, output = helper.run(([[
    local cl = require "clcompute"
    local d = cl.device("%s", { isolated = true })
    local x, keep = d:zeros("int", 64, 64), d:buffer { 1, 2, 3 }
    local p
    local function build(more)
      p = d:program("kernel void fill(global int *x, int n) { x[get_global_id(0)] = n; }" .. (more or ""))
    end
    local function try(f, ...)
      local ok, message = pcall(f, ...)
      print(ok and "ok" or message:gsub("^%%S+:%%d+: ", ""))
    end
    %s
    assert(table.concat(keep:read(), " ") == "1.0 2.0 3.0")
    print "sound" ]]):format(PLACE, script), { CLCOMPUTE_LUA = lua, CLCOMPUTE_CACHE = "off" }, 60)
  remove()
  local lines = {}
  for line in output:gmatch "[^\n]+" do
    if not line:find("Oclgrind itself", 1, true) then lines[#lines + 1] = line end
  end
  return lines
end

local START = "try(build)"
local LAUNCH = [[
  build()
  try(p.fill, 4096, x, 5)
  assert(x:get(64, 64) == 0)
  try(p.fill, 4096, x, 5)
  assert(x:get(64, 64) == 5)]]
local VIEW = LAUNCH:gsub("4096, x", "64, x:view(64, 64)")
local NEW_WORKER = [[
  build "kernel void far(global int *x) { x[1L << 40] = 1; }"
  p.fill(64, x, 3)
  pcall(p.far, 1, x)
  try(p.fill, 4096, x, 5)
  assert(x:get(64, 64) == 0)
  try(p.fill, 4096, x, 5)
  assert(x:get(64, 64) == 5)]]

-- What fails once, what is done, and the message it gets; `start`: in which worker.
local STARTS = {
  { "clGetPlatformIDs -6 1 1", "clGetPlatformIDs: CL_OUT_OF_HOST_MEMORY (-6): in the worker" },
  { "clGetPlatformIDs -6 2 1", "clGetPlatformIDs: CL_OUT_OF_HOST_MEMORY (-6): in the worker" },
  { "clGetDeviceIDs -33 1 1", "clGetDeviceIDs: CL_INVALID_DEVICE (-33): in the worker" },
  { "clGetDeviceIDs -5 2 1", "clGetDeviceIDs: CL_OUT_OF_RESOURCES (-5): in the worker" },
  { "clCreateContext -2 1 1", "clCreateContext: CL_DEVICE_NOT_AVAILABLE (-2): in the worker" },
  { "clCreateCommandQueue -6 1 1", "clCreateCommandQueue: CL_OUT_OF_HOST_MEMORY (-6): in the worker" },
  { "clCreateProgramWithSource -6 1 1",
    "clCreateProgramWithSource: CL_OUT_OF_HOST_MEMORY (-6): source, in the worker alone" },
  { "clBuildProgram -5 1 2", "clBuildProgram: CL_OUT_OF_RESOURCES (-5): source, in the worker alone" },
  { "clCreateKernelsInProgram -6 2 1",
    "clCreateKernelsInProgram: CL_OUT_OF_HOST_MEMORY (-6): source, in the worker alone" },
}
local LAUNCHES = {
  { "clSetKernelArg -5 1 1", "clSetKernelArg: CL_OUT_OF_RESOURCES (-5): kernel 'fill'", LAUNCH },
  { "clCreateBuffer -4 1 1", "clCreateBuffer: CL_MEM_OBJECT_ALLOCATION_FAILURE (-4): kernel 'fill'", LAUNCH },
  { "clCreateSubBuffer -13 1 1", "clCreateSubBuffer: CL_MISALIGNED_SUB_BUFFER_OFFSET (-13): kernel 'fill'", VIEW },
  { "clEnqueueNDRangeKernel -5 1 1", "clEnqueueNDRangeKernel: CL_OUT_OF_RESOURCES (-5): kernel 'fill'", LAUNCH },
  { "clCreateKernel -6 1 1", "clCreateKernel: CL_OUT_OF_HOST_MEMORY (-6): kernel 'fill'", LAUNCH },
  { "clBuildProgram -5 1 1", "clBuildProgram: CL_OUT_OF_RESOURCES (-5): kernel 'fill', in a new worker", NEW_WORKER,
    start = 2 },
  { "clCreateProgramWithSource -6 1 1",
    "clCreateProgramWithSource: CL_OUT_OF_HOST_MEMORY (-6): kernel 'fill', in a new worker", NEW_WORKER, start = 2 },
}
-- The kernel has run all the same.
local AFTERWARDS = {
  { "clFlush -36 1 1", "clFlush: CL_INVALID_COMMAND_QUEUE (-36): kernel 'fill'" },
  { "clGetEventProfilingInfo -7 1 1", "clGetEventProfilingInfo: CL_PROFILING_INFO_NOT_AVAILABLE (-7): kernel 'fill'" },
  { "command -14 1 1000000", "clWaitForEvents: CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST (-14): kernel 'fill'" },
}

describe("a call of OpenCL that fails in a worker", function()
  if not PLACE then return pending "no CPU device" end

  it("when it starts or builds is an error that names the call", function()
    for _, case in ipairs(STARTS) do assert.same({ case[2], "sound" }, run(case[1], START), case[1]) end
  end)

  it("when a source is refused there without a reason is told by the compiler here", function()
    assert.same({ "ok", "sound" }, run("clCreateKernelsInProgram -45 1 1", START)) -- none can be tried, none is
  end)

  it("in a launch is an error that names call and kernel, and the next launch is right", function()
    for _, case in ipairs(LAUNCHES) do
      assert.same({ case[2], "ok", "sound" }, run(case[1], case[3], case.start), case[1])
    end
  end)

  it("behind a launch is an error too", function()
    for _, case in ipairs(AFTERWARDS) do
      assert.same({ case[2], "sound" }, run(case[1], "build() try(p.fill, 4096, x, 5)"), case[1])
    end
  end)
end)
