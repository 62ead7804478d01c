-- SPDX-License-Identifier: MIT
--- Lives of objects: whatever order they end in, however the process ends, whatever `debug` makes of them, nothing
-- crashes, hangs or leaks. What closes a state runs in a process of its own, whose exit code the counting layer sets.

local helper = require "spec.helper"

local LIMIT = helper.device().type == "cpu" and 60 or 300 -- seconds of a process, which opens a device often

-- What each script begins with: objects of every kind on a device, with a launch in flight.
local MAKE = [[
  local cl = require "clcompute"
  local PLACE = %q
  local SOURCE = "kernel void k(global int *x, int n) { volatile int i; for (i = 0; i < n; i++) {} x[0] = i; }"
  local LONG, SIMULATED = %d, %s
  local function make()
    local d = cl.device(PLACE)
    local o = { device = d, buffer = d:zeros("int", 64), program = d:program(SOURCE) }
    o.kernel, o.view = o.program.k, o.buffer:view(1, 4)
    o.event = o.kernel(1, o.buffer, LONG)
    return o
  end
]]

helper.describe_each("objects with a launch in flight", function(device)
  local is_simulator = helper.is_simulator(device)
  local turns = is_simulator and 100 or device.type == "cpu" and 2000000 or 100000
  local make = MAKE:format(device.place, turns, is_simulator)

  --- Runs a script in a process of its own; asserts its exit code and, for a state that is closed, that nothing leaked.
  local function ends(expected, script, environment)
    local _, output, code = helper.run(make .. script, environment, LIMIT)
    assert.equal(expected, code, output)
    return output
  end

  it("are released in each of 120 orders", function()
    local output = ends(0, [[
      local KINDS = { "device", "buffer", "program", "kernel", "event" }
      local orders = 0
      local function release(o, name) -- by hand, or by dropping it
        local object = o[name]
        o[name] = nil
        if orders % 2 == 1 then
          if name == "device" then object:close() else object:release() end
        end
        object = nil -- luacheck: ignore
        collectgarbage()
      end
      local function permute(order, left)
        if #left == 0 then
          local o = make()
          orders = orders + 1
          for _, name in ipairs(order) do release(o, name) end
          return
        end
        for i, name in ipairs(left) do
          local rest = table.move(left, 1, #left, 1, {})
          table.remove(rest, i)
          order[#order + 1] = name
          permute(order, rest)
          order[#order] = nil
        end
      end
      permute({}, KINDS)
      permute({}, KINDS) -- the other way of each
      cl.device(PLACE):close()
      collectgarbage()
      collectgarbage()
      assert(cl.live().bytes == 0)
      local left = require "clcount".live()
      assert(#left == 0, left[1] and left[1].call)
      print(orders)]])
    assert.matches("^240\n", output)
  end)

  it("may all be dropped but the event", function()
    ends(0, [[
      local e = make().event
      for _ = 1, 3 do collectgarbage() end
      assert(e:wait().status == "complete")]])
  end)

  for what, script in pairs {
    ["os.exit with the state closed"] = "kept = make() os.exit(3, true)",
    ["os.exit in a coroutine"] = "coroutine.wrap(function() kept = make() os.exit(3, true) end)()",
    ["os.exit under pcall"] = "pcall(function() kept = make() os.exit(3, true) end)",
    ["os.exit in a finalizer"] =
      "kept = make() setmetatable({}, {__gc = function() os.exit(3, true) end}) collectgarbage()",
    ["os.exit in a <close> block"] = "do local o <close> = make().buffer kept = make() os.exit(3, true) end",
    ["os.exit in a <close> of another"] =
      "kept = make() do local o <close> = setmetatable({}, {__close = function() os.exit(3, true) end}) end",
    ["os.exit amid much garbage"] =
      "kept = make() local t = {} for i = 1, 1e5 do t[i] = {i} end os.exit(3, true)",
  } do
    it("end with " .. what, function() ends(3, script) end)
  end

  it("end with os.exit that closes nothing, at once", function()
    for _, script in ipairs { "kept = make() os.exit(3)", "coroutine.wrap(function() kept = make() os.exit(3) end)()",
      "kept = make() setmetatable({}, {__gc = function() os.exit(3) end}) collectgarbage()" } do
      ends(3, script, { CLCOUNT_EXIT = "0" }) -- its handles go with the process
    end
  end)

  it("end with an error of the script", function()
    ends(1, "kept = make() error 'the end'")
    ends(1, "local b <close> = make().buffer error(make())")
  end)

  it("end with coroutines that were abandoned, closed, or died in <close>", function()
    ends(0, [[
      local function body()
        local o = make()
        local b <close> = o.buffer
        local d <close> = o.device:queue()
        coroutine.yield(o)
        error "in <close>"
      end
      for i = 1, 30 do
        local co = coroutine.create(body)
        assert(coroutine.resume(co))
        if i % 3 == 1 then assert(coroutine.close(co)) end
        if i % 3 == 2 then assert(not coroutine.resume(co)) end
        if i % 3 == 0 then kept = co end
      end
      local thrown = setmetatable({}, { __close = function() error "thrown" end })
      local ok, message = pcall(function()
        local b <close> = make().buffer
        local t <close> = thrown
        return b
      end)
      assert(not ok and message:find "thrown")]])
  end)

  it("are read by finalizers of others, and released where these bring them back", function()
    ends(0, [[
      local o, back = make(), nil
      setmetatable({ o.buffer }, { __gc = function(t) back = t[1] end })
      local read
      setmetatable({ o.buffer }, { __gc = function(t) read = t[1]:read() end })
      o = nil
      for _ = 1, 3 do collectgarbage() end
      assert(#read == 64) -- its own finalizer came next
      local ok, message = pcall(back.read, back)
      assert(not ok and message:find "buffer is released")]])
  end)

  it("may be released by finalizers while the library works with them", function()
    ends(0, [[
      local o = make()
      local function mine(f) -- a finalizer that runs soon, in the midst of something
        setmetatable({}, { __gc = f })
        collectgarbage "step"
      end
      collectgarbage("setpause", 10)
      local ends = 0
      for i = 1, 60 do
        local d = i % 3 == 0 and o.device:queue() or o.device
        local p = d:program(SOURCE)
        mine(function() if d == o.device then p:release() else d:close() end end)
        for _, f in ipairs { function() return tostring(p) .. #p.kernels end, function() return p.k end,
          function() return p:kernel "none" end, function() return p.k.args end, function() return p.k:info() end,
          function() return i % 20 == 0 and d:program "kernel void broken(global int *x) { x[0] = nowhere; }" end } do
          local garbage = {}
          for k = 1, i % 7 * 10 do garbage[k] = { k } end
          local ok, message = pcall(f)
          if not ok then
            assert(message:find "released" or message:find "does not build" or message:find "no kernel 'none'", message)
            ends = ends + 1
          end
        end
      end
      assert(ends > 30)]])
  end)

  it("refuse finalizers and metamethods called by hand on what they are not of", function()
    ends(0, [[
      local o = make()
      for name, object in pairs(o) do
        local meta = debug.getmetatable(object)
        for _, other in pairs { io.stdout, {}, 1, "x", print, false } do
          for key, f in pairs(meta) do
            if key == "__gc" then f(other) elseif type(f) == "function" then pcall(f, other, 1, 2) end
          end
        end
        meta.__gc(nil)
        for _, method in pairs(meta.methods or {}) do assert(not pcall(method, io.stdout)) end
      end
      assert(#o.buffer:read() == 64)
      for _ = 1, 2 do debug.getmetatable(o.view).__gc(o.view) end
      local ok, message = pcall(o.view.read, o.view)
      assert(not ok and message:find "released")]])
  end)

  it("are errors, no crashes, with each other's metatables", function()
    ends(0, [[
      local blas = require "clcompute.blas"
      local function all()
        local o = make()
        o.scratch, o.array, o.blas = cl.scratch("int", 4), blas.array(4), blas.openblas()
        if not SIMULATED then o.factors = cl.lu(o.device:buffer { { 2, 1 }, { 1, 3 } }) end
        return o
      end
      local names = {}
      for name in pairs(all()) do names[#names + 1] = name end
      local function use(object)
        local meta = debug.getmetatable(object)
        pcall(tostring, object)
        pcall(function() return #object end)
        pcall(function() object[1] = 1 end)
        pcall(function() return object(1, 2) end)
        pcall(function() for _ in pairs(object) do end end)
        for _, key in ipairs { "name", "dtype", "shape", "n", "threads", 1, "k" } do
          pcall(function() return object[key] end)
        end
        for name, method in pairs(meta.methods or {}) do
          if name ~= "write" then pcall(method, object, 1, 1) end
        end
      end
      for _, name in ipairs(names) do
        for _, other in ipairs(names) do
          local o, like = all(), all()
          if name ~= other then
            debug.setmetatable(o[name], debug.getmetatable(like[other]))
            use(o[name])
            pcall(function() o.kernel(1, o[name], 1) end)
            pcall(cl.saxpy, 1, o[name], o[name])
            pcall(function() o.array:write(o[name]) end)
          end
        end
        collectgarbage()
      end
      cl.device(PLACE):close()]])
  end)

  it("are not light userdata that got their metatable", function()
    ends(0, [[
      local o, blas = make(), require "clcompute.blas"
      o.array, o.blas, o.scratch = blas.array(4), blas.openblas(), cl.scratch("int", 1)
      local light = o.buffer:raw()
      for _, object in pairs(o) do
        local meta = debug.getmetatable(object)
        debug.setmetatable(light, meta)
        for _, f in ipairs { function() return light.release end, function() return light.dtype end,
          function() return #light end, function() light[1] = 1 end, function() return light() end,
          function() return tostring(light) end, function() return meta.__gc and meta.__gc(light) end } do
          pcall(f)
        end
        debug.setmetatable(light, nil)
      end]])
  end)

  it("have nothing in their user values that could be exchanged", function()
    ends(0, [[
      local o = make()
      o.queue = o.device:queue()
      o.on_queue = o.queue:zeros("int", 4)
      o.saxpy = o.device:kernel "saxpy"
      if not SIMULATED then o.factors = cl.lu(o.device:buffer { { 2, 0 }, { 0, 4 } }) end
      for _, object in pairs(o) do
        for n = 1, 6 do
          local value = debug.getuservalue(object, n)
          if type(value) == "table" then for key in pairs(value) do value[key] = io.stdout end end
          for _, other in ipairs { false, io.stdout, {}, 7, "x", o.buffer } do debug.setuservalue(object, other, n) end
          debug.setuservalue(object, nil, n)
        end
        collectgarbage()
      end
      if o.factors then
        local x = o.factors:solve(o.device:buffer { 2, 4 }):read()
        assert(x[1] == 1 and x[2] == 1 and o.factors:det() == 8 and o.factors:rcond() > 0)
        o.factors:release()
      end
      assert(o.program.k == o.kernel and #tostring(o.program) > 0)
      o.kernel(1, o.buffer, 3)
      assert(o.buffer[1] == 2 or o.buffer[1] == 3)
      pcall(o.on_queue.fill, o.on_queue, 1)
      for _, object in pairs(o) do tostring(object) end]])
  end)
end)

helper.describe_each("states", function(device)
  local states = helper.compile("states", "-lpthread")
  local LIFE = [[
    local cl = require "clcompute"
    local d = cl.device((...))
    local x = d:buffer({ 1, 2, 3 }, "int")
    local k = d:program("kernel void add(global int *x, int n) { x[get_global_id(0)] += n; }").add
    k(3, x, 4)
    assert(x[3] == 7)
    kept = { d, x, k, k(3, x, 1) }]]

  it("one after the other are fifty lives without a trace", function()
    local good, message = states.run(1, 50, LIFE, device.place)
    assert.equal(50, good, message)
  end)

  it("of four threads live at the same time", function()
    if helper.is_simulator(device) then return pending "Oclgrind itself is for one thread" end
    local good, message = states.run(4, 20, LIFE, device.place)
    assert.equal(80, good, message)
  end)
end)
