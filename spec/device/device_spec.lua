-- SPDX-License-Identifier: MIT
local helper = require "spec.helper"
local cl = require "clcompute"

describe("platforms", function()
  it("lists every platform with its devices", function()
    local listed = {}
    local all = cl.platforms()
    assert.is_true(#all > 0)
    for p, platform in ipairs(all) do
      assert.truthy(platform.version:find "^OpenCL %d")
      assert.truthy(#platform.name > 0 and #platform.vendor > 0)
      for d, device in ipairs(platform.devices) do
        assert.equal(platform.name, device.platform)
        assert.equal(("%d:%d"):format(p - 1, d - 1), device.place)
        assert.equal(device.place, tostring(device):match "^%S+")
        listed[#listed + 1] = device
      end
    end
    assert.same(cl.devices(), listed)
  end)
end)

describe("the list of devices", function()
  it("is a plain list that prints a line for each", function()
    local list, lines, fields = cl.devices(), {}, 0
    for i, device in ipairs(list) do lines[i] = tostring(device) end
    for i, device in pairs(list) do
      assert.equal(list[i], device)
      fields = fields + 1
    end
    assert.equal(#helper.devices(), #lines)
    assert.equal(#lines, fields)
    assert.equal(table.concat(lines, "\n"), tostring(list))
    assert.equal("no device", tostring(cl.devices "no such device"))
    list[1] = 1.5 -- a script's own change
    assert.equal("1.5", tostring(list):match "^[^\n]*")
  end)

  it("shows platforms as a line each, with their devices", function()
    local lines = {}
    for i, p in ipairs(cl.platforms()) do
      local devices = {}
      for j, device in ipairs(p.devices) do devices[j] = tostring(device) end
      assert.equal(table.concat(devices, "\n"), tostring(p.devices))
      lines[i] = ("name = %s, vendor = %s, version = %s, devices = {%s}"):format(p.name, p.vendor, p.version,
        table.concat(devices, ", "))
      assert.equal(lines[i], tostring(p))
    end
    assert.equal(table.concat(lines, "\n"), tostring(cl.platforms()))
  end)
end)

describe("discovery", function()
  -- In a process of its own, as a driver looks for its devices once; by one driver, as the loader asks several itself.
  it("by several threads at once finds in each what there is", function()
    local script = ([[
      local cl, states = require "clcompute", assert(package.loadlib(%q, "luaopen_states"))()
      local good = states.run(4, 1, [=[
        local cl, start = require "clcompute", tonumber((...))
        while cl.clock() < start do end
        assert(#cl.devices() > 0)]=], tostring(cl.clock() + 0.2))
      print("good:", good)]]):format(helper.compile_library("states", "-lpthread"))
    local preload = os.getenv "SANITIZED" and "" or helper.compile_library("overlap", "-ldl") -- a sanitizer comes first
    for driver in helper.shell "ls $OCL_ICD_VENDORS/*.icd | grep -v oclgrind":gmatch "[^\n]+" do
      local environment = { OCL_ICD_VENDORS = driver, LD_PRELOAD = preload }
      assert.matches("good:\t4", helper.output(script, environment), 1, true)
    end
  end)
end)

describe("a selector", function()
  -- Each form for a device, and what it must match.
  local forms = {
    ["a type"] = { function(d) return d.type end, function(d, other) return d.type == other.type end },
    ["a type in capitals"] = {
      function(d) return d.type:upper() end,
      function(d, other) return d.type == other.type end,
    },
    ["a place"] = { function(d) return d.place end, rawequal },
    ["a platform's name in small letters"] = {
      function(d) return d.platform:lower() end,
      function(d, other) return d.platform == other.platform end,
    },
    ["a device's name in capitals"] = {
      function(d) return d.name:upper() end,
      function(d, other) return d.name == other.name end,
    },
    ["a part across platform/device"] = {
      function(d) return d.platform:sub(-3) .. "/" .. d.name:sub(1, 3) end,
      rawequal,
    },
  }
  for name, form in pairs(forms) do
    it("may be " .. name, function()
      for _, device in ipairs(helper.devices()) do
        local expected = {}
        for _, other in ipairs(helper.devices()) do
          if form[2](device, other) then expected[#expected + 1] = other end
        end
        assert.same(expected, cl.devices(form[1](device)))
        assert.equal(expected[1], cl.device(form[1](device)))
      end
    end)
  end

  it("may be the short name of a platform, whole", function()
    local expected = cl.devices "Portable Computing Language"
    if #expected == 0 then return pending "needs POCL" end
    for _, name in ipairs { "pocl", "POCL" } do assert.same(expected, cl.devices(name)) end
    assert.equal(expected[1], cl.device "pocl")
    assert.same({}, cl.devices "poc")
  end)

  it("takes characters of Lua patterns as they are", function()
    assert.same({}, cl.devices "%a")
    assert.same({}, cl.devices "P.C")
  end)

  it("that matches none is an error that lists what there is, never a fallback", function()
    local lines = {}
    for _, d in ipairs(helper.devices()) do lines[#lines + 1] = ("%s %s/%s"):format(d.place, d.platform, d.name) end
    for _, selector in ipairs { "no such device", "0:99", "99:0", "0:0x", "accelerator", "-1:0" } do
      assert.same({}, cl.devices(selector))
      local message = helper.raises({ "'" .. selector .. "'", table.unpack(lines) }, cl.device, selector)
      assert.matches("\na selector is a place (0:1), a type", message, 1, true)
    end
  end)

  it("is a text without NUL bytes", function()
    helper.raises("empty selector", cl.device, "")
    helper.raises("options come second: cl.device(nil, {...})", cl.device, { isolated = true })
    helper.raises("a NUL byte in the selector", cl.device, "cpu\0xyz")
  end)

  it("of another type is an error that names the argument", function()
    helper.raises({ "#1", "string expected" }, cl.devices, {})
    for _, value in ipairs { true, io.stdout, print, helper.device() } do
      helper.raises({ "#1", "string expected" }, cl.device, value)
      helper.raises({ "#1", "string expected" }, cl.devices, value)
    end
  end)

  it("left out means the first GPU, else accelerator, else CPU", function()
    local output = helper.output([[print((require "clcompute").device())]], { CLCOMPUTE_DEVICE = "" })
    local best
    for _, type in ipairs { "gpu", "accelerator", "cpu" } do best = best or cl.devices(type)[1] end
    assert.equal(tostring(best) .. "\n", output)
  end)

  it("left out means $CLCOMPUTE_DEVICE where that is set", function()
    for _, device in ipairs(helper.devices()) do
      local output = helper.output([[
        local cl = require "clcompute"
        print(cl.device(), #cl.devices(), cl.device "0:0")
      ]], { CLCOMPUTE_DEVICE = device.place })
      assert.equal(("%s\t%d\t%s\n"):format(device, #cl.devices(), cl.device "0:0"), output)
    end
    local ok, output = helper.run([[(require "clcompute").device()]], { CLCOMPUTE_DEVICE = "nothing" })
    assert.is_false(ok)
    assert.truthy(output:find("matches 'nothing' (from $CLCOMPUTE_DEVICE); there are", 1, true), output)
  end)
end)

describe("without a driver", function()
  local folder = helper.folder()
  teardown(function() os.execute("rmdir " .. folder) end)

  local function run(script)
    return helper.run([[local cl = require "clcompute" ]] .. script, { OCL_ICD_VENDORS = folder })
  end

  it("cl.device says what to install", function()
    for _, call in ipairs { "cl.device()", "cl.device 'gpu'" } do
      local ok, output = run(call)
      assert.is_false(ok)
      assert.truthy(output:find("no OpenCL device on this machine", 1, true), output)
      assert.truthy(output:find("apt install pocl-opencl-icd", 1, true), output)
    end
  end)

  it("the lists are empty", function()
    local ok, output = run "print(#cl.devices(), #cl.devices 'cpu', #cl.platforms())"
    assert.is_true(ok, output)
    assert.equal("0\t0\t0\n", output)
  end)
end)

helper.describe_each("a device", function(d)
  it("is the same object each time", function()
    assert.equal(d, cl.device(d.place))
    assert.equal(d, cl.devices(d.place)[1])
    assert.equal(d, d:zeros("float", 1).device)
  end)

  it("has the fields of the contract, each of its type", function()
    local fields = {
      string = { "name", "vendor", "platform", "type", "version", "driver" },
      integer = {
        "align", "compute_units", "clock_mhz", "global_memory", "local_memory", "max_group_size", "group_multiple",
      },
      boolean = { "has_double", "has_half", "has_nonuniform_groups" },
    }
    local info = d:info()
    for kind, names in pairs(fields) do
      for _, name in ipairs(names) do
        local value = d[name]
        assert.equal(kind, math.type(value) or type(value), name)
        assert.equal(value, info[name], name)
        if kind == "integer" then assert.is_true(value > 0, name) end
        if kind == "string" then assert.equal(value:match "^%s*(.-)%s*$", value) end
      end
    end
    assert.truthy(("gpu cpu accelerator custom"):find(d.type, 1, true))
    assert.truthy(d.version:find "^OpenCL %d")
  end)

  it("gives a fresh table of properties each time", function()
    d:info().name = "changed"
    assert.equal(d.name, d:info().name)
  end)

  it("refuses unknown fields and every assignment", function()
    helper.raises("a device has no field 'colour'", function() return d.colour end)
    helper.raises("a device has no field '1'", function() return d[1] end)
    helper.raises("a device has no field 'nil'", function() return d[nil] end)
    helper.raises("cannot set field 'name' of a device", function() d.name = "x" end)
    helper.raises("cannot set field 'colour' of a device", function() d.colour = "x" end)
    assert.is_false(getmetatable(d))
  end)

  it("shows itself in one line", function()
    local text = tostring(d)
    assert.is_nil(text:find "\n")
    local units = d.compute_units .. (d.compute_units == 1 and " compute unit," or " compute units,")
    for _, part in ipairs { d.platform .. "/" .. d.name, d.type, units } do
      assert.truthy(text:find(part, 1, true), text)
    end
  end)

  it("waits and returns itself", function()
    local b = d:zeros("int", 3):fill(7)
    assert.equal(d, d:wait())
    assert.same({ 7, 7, 7 }, b:read())
  end)

  it("refuses another value in its place, naming what came", function()
    local others = { ["FILE*"] = io.stdout, ["clcompute.Buffer"] = d:zeros("int", 1), number = 1 }
    for text, value in pairs(others) do
      for _, method in ipairs { "wait", "info", "close", "zeros" } do
        helper.raises({ "#1", "device expected, got " .. text }, d[method], value)
      end
    end
  end)
end)

helper.describe_each("closing a device", function(found)
  local selector = found.place
  local source = "kernel void put(global int *p, int v) { p[get_global_id(0)] = v; }"

  it("makes later use of it and of all made on it a clear error", function()
    local d = cl.device(selector)
    local buffer = d:zeros("int", 4)
    local view = buffer:view(2, 3)
    local program = d:program(source)
    local kernel = program:kernel "put"
    local event = kernel(4, buffer, 1)
    assert.equal(d, d:close())
    local uses = {
      device = {
        function() return d.name end,
        function() d:wait() end,
        function() d:info() end,
        function() d:zeros("int", 1) end,
        function() d:program(source) end,
        function() d:kernel "saxpy" end,
      },
      buffer = {
        function() buffer:read() end,
        function() buffer:fill(1) end,
        function() return buffer[1] end,
        function() return #buffer end,
        function() return buffer.device end,
        function() view:write { 1, 2 } end,
      },
      program = { function() program:kernel "put" end, function() return program.kernels end },
      kernel = { function() kernel(4, buffer, 1) end, function() return kernel.args end },
      event = { function() event:wait() end, function() return event.status end },
    }
    for what, list in pairs(uses) do
      for _, use in ipairs(list) do helper.raises(what .. " is released", use) end
    end
    assert.equal("device (released)", tostring(d))
    for what, object in pairs { buffer = buffer, program = program, kernel = kernel, event = event } do
      assert.equal(what .. " (released)", tostring(object))
      assert.equal(object, object:release())
    end
    assert.equal(d, d:close())
  end)

  it("waits for what is queued, and a new device works", function()
    local before = cl.device(selector)
    before:program(source):kernel "put"(4, before:zeros("int", 4), 1)
    before:close()
    local after <close> = cl.device(selector)
    assert.are_not.equal(before, after)
    assert.equal(after, cl.device(selector))
    local b = after:zeros("int", 4)
    after:program(source):kernel "put"(4, b, 9)
    assert.same({ 9, 9, 9, 9 }, b:read())
    before:close() -- of the old one leaves the new one alone
    assert.equal(9, b[1])
  end)

  it("happens at the end of a <close> block, also after an error", function()
    local kept
    helper.raises("on purpose", function()
      local d <close> = cl.device(selector)
      kept = d:zeros("float", 2)
      error "on purpose"
    end)
    helper.raises("buffer is released", kept.read, kept)
  end)

  it("leaves the other devices alone", function()
    local kept = {}
    for _, other in ipairs(cl.devices()) do
      if other.place ~= selector then kept[#kept + 1] = other:zeros("int", 2):fill(3) end
    end
    cl.device(selector):zeros("int", 1).device:close()
    for _, b in ipairs(kept) do assert.same({ 3, 3 }, b:read()) end
  end)

  it("of the other end of a copy is an error there", function()
    local d = cl.device(selector)
    local b = d:buffer { 1, 2, 3 }
    d:close()
    local fresh <close> = cl.device(selector)
    helper.raises({ "#2", "device is released" }, fresh:buffer { 1 }.copy, fresh:buffer { 1 }, d)
    helper.raises({ "buffer is released" }, fresh:zeros("float", 3).write, fresh:zeros("float", 3), b)
  end)
end)

describe("at the end of a state", function()
  -- The child fails with the layer's exit code when anything leaks.
  local function succeeds(script)
    local output = helper.output(script)
    assert.equal("done\n", output)
  end

  local make = [[
    local cl = require "clcompute"
    local function make(selector)
      local d = cl.device(selector)
      local p = d:program "kernel void put(global int *p) { p[get_global_id(0)] = 1; }"
      local b = d:zeros("int", 64)
      return { d, p, b, b:view(2, 9), p:kernel "put", p.put(64, b), d:kernel "saxpy" }
    end
  ]]

  it("all is released in whatever order it was dropped", function()
    succeeds(make .. ("math.randomseed(%d)"):format(helper.seed) .. [[
      for _ = 1, 20 do
        for i = 1, #cl.devices() do
          local things = make(cl.devices()[i].place)
          while #things > 0 do
            table.remove(things, math.random(#things))
            collectgarbage()
          end
        end
      end
      print "done"
    ]])
  end)

  it("all is released by the state's close, with commands in flight and <close> behind", function()
    succeeds(make .. [[
      kept = {}
      for i, d in ipairs(cl.devices()) do kept[i] = make(d.place) end
      abandoned = coroutine.create(function()
        local b <close> = cl.device():zeros("int", 4)
        coroutine.yield()
      end)
      coroutine.resume(abandoned)
      print "done"
    ]])
  end)

  it("finalizers of others may still use what is alive, and make nothing that leaks", function()
    succeeds(make .. [[
      local things = make()
      setmetatable({}, { __gc = function()
        pcall(things[3].read, things[3])
        pcall(things[1].zeros, things[1], "int", 4)
        tostring(things[5])
        saved = things
      end })
      early = setmetatable({}, { __gc = function() pcall(cl.device) end })
      print "done"
    ]])
  end)

  it("objects that lost their metatable are released too", function()
    succeeds(make .. [[
      local things = make()
      debug.setmetatable(things[3], debug.getmetatable(things[1]))
      for i, object in ipairs(things) do
        if i ~= 3 then debug.setmetatable(object, nil) end
      end
      things = nil
      collectgarbage()
      print "done"
    ]])
  end)

  it("what a finalizer makes is released for the finalizers after the library's", function()
    helper.output [[
      made = {}
      early = setmetatable({}, { __gc = function()
        for _, b in ipairs(made) do print(pcall(b.read, b)) end
      end })
      local cl = require "clcompute"
      local d = cl.device()
      late = setmetatable({}, { __gc = function()
        for i = 1, 3 do made[i] = d:zeros("float", 4) end
      end })
    ]]
  end)
end)

describe("the core", function()
  it("is one in a state, however often it is required", function()
    local output = helper.output([[
      local cl = require "clcompute"
      local d = cl.device()
      local b = d:buffer { 1, 2, 3 }
      package.loaded["clcompute"], package.loaded["clcompute.core"] = nil, nil
      local again = require "clcompute"
      collectgarbage()
      collectgarbage()
      assert(again.device() == d and b[2] == 2)
      assert(again.saxpy(1, b, b)[3] == 6)
      print "one"]])
    assert.matches("one", output)
  end)

  it("gives a new device where the old one was released in an odd way", function()
    local output = helper.output([[
      local cl = require "clcompute"
      local d = cl.device()
      local b = d:buffer { 1 }
      assert(not pcall(b.release, d))
      debug.getmetatable(d).__gc(d)
      assert(cl.device():buffer { 2 }[1] == 2)
      print "new"]])
    assert.matches("new", output)
  end)
end)

describe("a forked child", function()
  local forked = helper.compile "forked"

  it("is refused where the parent only listed the devices", function()
    local _, output = helper.run([[
      local cl = require "clcompute"
      local forked = package.loadlib("build/forked.so", "luaopen_forked")()
      print(forked.call(function() return "unused" end), forked.call(function() return #cl.devices() > 0 end))
      local d = cl.device()
      print(forked.call(function() return d:zeros("float", 1) end))]], { OPENCL_LAYERS = "" })
    assert.matches("^unused\ttrue\n[^\n]*used before fork%(%)", output)
  end)

  it("is refused by what was opened before, which stays sound in the parent", function()
    local device = helper.device()
    local buffer, other = device:buffer { 1, 2, 3 }, device:queue():zeros("float", 3)
    local twice = device:program("kernel void twice(global float *x) { x[get_global_id(0)] *= 2; }").twice
    local calls = {
      function() twice(3, buffer) end,
      function() return buffer[1] end,
      function() buffer[1] = 5 end,
      function() device:wait() end,
      function() device:zeros("float", 4) end,
      function() device:queue() end,
      function() device:trim() end,
      function() cl.devices() end,
      function() cl.profile() end,
      function()
        device:close()
        return cl.device():zeros("float", 1)
      end,
    }
    for _, call in ipairs(calls) do assert.matches("used before fork()", forked.call(call), 1, true) end
    assert.equal("released", forked.call(function()
      twice:release()
      device:close()
      device = nil
      for _ = 1, 2 do collectgarbage() end
      for _, b in ipairs { buffer, other } do helper.raises("buffer is released", b.read, b) end
      return tostring(buffer):match "released"
    end))
    twice(3, buffer)
    assert.same({ 2, 4, 6 }, buffer:read())
  end)
end)

describe("waiting for a device that was not used", function()
  it("makes no context and no queue", function()
    helper.output [[
      local cl, count = require "clcompute", require "clcount"
      local function contexts()
        local n = 0
        for _, handle in ipairs(assert(count.live())) do
          if handle.type == "cl_context" or handle.type == "cl_command_queue" then n = n + 1 end
        end
        return n
      end
      for _, device in ipairs(cl.devices()) do assert(device:wait() == device) end
      assert(contexts() == 0)
      cl.device():zeros("int", 1)
      cl.device():wait()
      assert(contexts() == 2)
    ]]
  end)
end)
