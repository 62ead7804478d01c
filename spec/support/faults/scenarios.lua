-- SPDX-License-Identifier: MIT
--- A short use of each public function, with what it must give: rows {name=, run=function(device), expect=}. A cold row
-- gets the place of a device that is closed; a heavy one takes a second where a device is simulated. A failure of the
-- call that it `bears` need not be told.

local cl = require "clcompute"
local trial = require "spec.support.faults.trial"
local workers = require "spec.support.workers"

local scenarios = {}

local function add(name, expect, run) scenarios[#scenarios + 1] = { name = name, expect = expect, run = run } end

local function cold(name, expect, run)
  add(name, expect, run)
  scenarios[#scenarios].cold = true
end

local function heavy() scenarios[#scenarios].heavy = true end

-- --- devices ------------------------------------------------------------------------------

--- A path that is to be closed: nothing is left of it then.
local function scratch(extension)
  local base = os.tmpname()
  local function close(self)
    os.remove(self[1])
    os.remove(base)
  end
  return setmetatable({ base .. extension }, { __close = close })
end

local function is_text(...)
  for _, text in ipairs { ... } do
    if type(text) ~= "string" or text == "" then return false end
  end
  return true
end

--- What an object shows of itself; it does not raise, but shows what went wrong.
local function shown(object)
  local text = tostring(object)
  return text:find "CL_" and error(text, 0) or text
end

cold("cl.platforms", true, function(place)
  local p, d = place:match "(%d+):(%d+)"
  local platform = cl.platforms()[p + 1]
  if platform.fault then error(platform.fault, 0) end
  return is_text(platform.name, platform.vendor, platform.version, platform.devices[d + 1].name)
end)

cold("cl.devices", 1, function(place) return #cl.devices(place) end)

cold("cl.device", true, function(place)
  local d = cl.device(place)
  return is_text(d.name, d.vendor, d.platform, d.type, d.version, d.driver, shown(d)) and d.align > 0
    and d.compute_units > 0 and d.global_memory > 0 and d.local_memory > 0 and d.max_group_size > 0
    and d.group_multiple > 0 and d.has_double ~= nil and d.place == place
end)

cold("Device:info", true, function(place)
  local d = cl.device(place)
  local info = d:info()
  return is_text(info.name, info.c_version) and info.max_allocation > 0 and #info.max_group_sizes == 3
    and info.global_memory == d.global_memory and info.has_double ~= nil
end)

cold("an isolated device", { 2, 4 }, function(place)
  if cl.device(place).type ~= "cpu" then return { 2, 4 } end
  local d <close> = cl.device(place, { isolated = true })
  local x = d:buffer({ 1, 2 }, "int")
  d:program "kernel void scale(global int *x, int n) { x[get_global_id(0)] *= n; }".scale(2, x, 2):wait()
  return x:read()
end)

cold("a new worker of an isolated device", { 4, 8 }, function(place)
  if cl.device(place).type ~= "cpu" then return { 4, 8 } end
  local d <close> = cl.device(place, { isolated = true })
  local x = d:buffer({ 1, 2 }, "int")
  local p = d:program "kernel void scale(global int *x, int n) { x[get_global_id(0)] *= n; }"
  p.scale(2, x, 2)
  os.execute(workers.KILL)
  p.scale(2, x, 2)
  return x:read()
end)

cold("opening a device", { 7, 7 }, function(place)
  local d <close> = cl.device(place)
  return d:zeros("int", 2):fill(7):read()
end)

cold("Device:queue", { 1, 2, 3 }, function(place)
  local d <close> = cl.device(place)
  local q <close> = d:queue()
  local b = d:buffer({ 1, 2, 3 }, "int")
  d:wait()
  return b:copy(q):read()
end)

cold("Device:partition", { 7, 7 }, function(place)
  local d <close> = cl.device(place)
  if d.platform ~= "Portable Computing Language" then return { 7, 7 } end
  local ok, parts = pcall(d.partition, d, { units = 1 })
  if not ok and parts:find "by none" then return { 7, 7 } end -- a driver that does not know the property
  return assert(ok and parts, parts)[1]:zeros("int", 2):fill(7):read()
end)

cold("Device:check", { 3, 5 }, function(place)
  local d <close> = cl.device(place, { check = true })
  local x, y = d:buffer { 1, 2 }, d:empty("float", 2)
  d:program "kernel void f(global const float *x, global float *y) { int i = get_global_id(0); y[i] = 2 * x[i] + 1; }"
    .f(2, x, y)
  return y:read()
end)

-- --- buffers ------------------------------------------------------------------------------

add("Device:buffer of a table", { { 1, 2 }, { 3, 4 } }, function(d) return d:buffer({ { 1, 2 }, { 3, 4 } }):read() end)

add("Device:buffer of bytes, Buffer:string", "abcdef", function(d)
  return d:buffer("abcdef", "uchar", 2, 3):string()
end)

add("Device:zeros", { 0, 0, 0 }, function(d) return d:zeros("long", 3):read() end)

add("Device:empty, Buffer:fill", { 5, 6, 6 }, function(d) return d:empty("short", 3):fill(5):fill(6, 2, 3):read() end)

add("Device:random", { 3, 3, 3, 3 }, function(d) return d:random("int", 4, { low = 3, high = 3 }):read() end)

add("Buffer:get, Buffer:set", { 9, 2, 9 }, function(d)
  local b = d:buffer({ 1, 2 }, "int")
  b[1] = 9
  return { b:get(1), b[2], b:set(2, 9):get(2) }
end)

add("Buffer:write", { 1, 8, 9, 65, 66, 1, 8 }, function(d)
  local b, other = d:zeros("uchar", 7), d:buffer({ 1, 8 }, "uchar")
  b:write({ 1, 8, 9 }):write("AB", 4):write(other, 6)
  return b:read()
end)

add("Buffer:write behind commands", { 4, 5, 6 }, function(d)
  local b = d:zeros("int", 3)
  b:fill(1)
  b:write { 4, 5, 6 }
  return b:read()
end)

add("Buffer:copy", { 1, 2 }, function(d) return d:buffer({ 1, 2 }, "int"):copy():read() end)

add("copies between devices", { 1, 2 }, function(d)
  local other = d
  for _, device in ipairs(cl.devices()) do if device.place ~= d.place then other = device end end
  return d:buffer({ 1, 2 }, "int"):copy(other):read()
end)

add("a copy onto itself", { 1, 1, 2, 3 }, function(d)
  local b = d:buffer({ 1, 2, 3, 4 }, "int")
  return b:write(b:view(1, 3), 2):read()
end)

add("Buffer:view, Buffer:reshape", { { 3, 4 }, { 5, 6 } }, function(d)
  local b = d:buffer({ 1, 2, 3, 4, 5, 6 }, "int")
  return b:view(3, 6):reshape(2, 2):read()
end)

add("rows of a matrix, ipairs", { 3, 4 }, function(d)
  local list = {}
  for _, v in ipairs(d:buffer({ { 1, 2 }, { 3, 4 } }, "int")[2]) do list[#list + 1] = v end
  return list
end)

add("pairs", { 3, 4 }, function(d)
  local list = {}
  for i, v in pairs(d:buffer({ 3, 4 }, "int")) do list[i] = v end
  return list
end)

add("Buffer:release", true, function(d)
  local b = d:zeros("int", 4)
  b:view(2, 3)
  b:release()
  d:wait()
  return not pcall(b.read, b)
end)

add("Buffer:save, Device:load", { { 1, 2 }, { 3, 4 } }, function(d)
  local path <close> = scratch ""
  d:buffer({ { 1, 2 }, { 3, 4 } }, "int"):save(path[1])
  return d:load(path[1]):read()
end)

add("files that go through two host arrays in turn", { 0, 1 << 22 }, function(d)
  local path <close> = scratch ".npy"
  local x = d:random("uint", 1 << 22)
  x:save(path[1])
  local y = d:load(path[1])
  return { cl.count("x != y", { x = x, y = y }), #y }
end)
heavy()

add("Device:raw, Buffer:raw", 0, function(d)
  local b = d:zeros("int", 2)
  local queue, context, id = d:raw()
  assert(queue and context and id)
  local memory, first = b:raw()
  d:wait()
  return memory and first
end)

-- --- images -------------------------------------------------------------------------------

add("Device:image, the methods of images", { 255, 255, 7, 9 }, function(d)
  local im = d:image("r unorm8", 2, 2):fill(1)
  local copy = im:copy():write(im)
  local x, y = im:get(2, 2), copy:read()[1][2]
  im:write "\7\7\7\7"
  copy:write { { 9, 9 }, { 9, 9 } }
  return shown(im) and { x, y, im:buffer():get(1, 1), copy:write(copy:buffer()):string():byte() }
end)

add("Device:sampler, images as arguments", { 3, 2 }, function(d)
  local p <close> = d:program [[
    kernel void f(read_only image2d_t im, sampler_t s, read_only image1d_buffer_t b, global float *x) {
      x[0] = read_imagef(im, s, (float2)(7, 7)).x;
      x[1] = read_imagef(b, 1).x;
    }]]
  local x = d:zeros("float", 2)
  p.f(1, d:image("r float", 2, 2):fill(3), d:sampler(), d:image("r float", d:buffer { 1, 2 }), x)
  return x:read()
end)

add("Image:save, Device:load", "abcd", function(d)
  local path <close> = scratch ".pgm"
  d:image("r unorm8", 2, 2):write("abcd"):save(path[1])
  return d:load(path[1]):string()
end)

add("Device:host, Buffer:read_async", { 3, 4, 5, 9 }, function(d)
  local h, x = d:host("int", 3), d:zeros("int", 3)
  h:write { 3, 4, 5 }
  x:write(h)
  local back = d:host("int", 3)
  x:read_async(back):wait()
  h[1] = 9
  return { back[1], back[2], back[3], h[1] }
end)

add("a host array that is released at once", { 3, 4, 5 }, function(d)
  local h, x = d:host("int", 3):write { 3, 4, 5 }, d:zeros("int", 3)
  x:write(h)
  h:release()
  return x:read()
end)

add("a host array for another queue", { 3, 4, 3, 4 }, function(d)
  local q <close> = d:queue()
  local h, x = d:host("int", 2):write { 3, 4 }, q:zeros("int", 2)
  x:write(h)
  local back = d:host("int", 2)
  x:read_async(back)
  return { h[1], h[2], table.unpack(back:read()) }
end)

for k = 0, 2 do scenarios[#scenarios - k].bears = "clEnqueueUnmapMemObject" end -- of what is collected

-- --- expressions --------------------------------------------------------------------------

add("an expression", { 3, 8, 17 }, function(d)
  local x = d:buffer { 1, 2, 3 }
  return (2 * x + x ^ 2 + cl.floor(x / 3 + 1) - cl.eq(x, 2) - cl.lt(x, 2)):read()
end)

add("an expression of a column and a row", { { 11, 21 }, { 12, 22 } }, function(d)
  return (d:buffer { { 1 }, { 2 } } + d:buffer { 10, 20 }):read()
end)

add("an expression of more than one kernel", { 40, 80 }, function(d)
  local x = d:buffer({ 1, 2 }, "int")
  local sum = x
  for _ = 1, 39 do sum = sum + x end
  return sum:read()
end)

add("Buffer:slice", { { 6, 8 }, { 2, 4 } }, function(d)
  local x = d:buffer { { 1, 2, 3, 4 }, { 5, 6, 7, 8 } }
  return { x:slice(2, { 2, 4, 2 }):read(), (x:slice(1, { 1, 3, 2 }) + 1):read() }
end)

add("a part that several expressions have", { { 1, 3 }, { 2, 4 }, { 0, 2 } }, function(d)
  local x = d:buffer { 1, 2, 3, 4 }
  local odd = x:slice { 1, 4, 2 }
  local above, below = odd + 1, odd - 1
  return { odd:read(), above:read(), below:read() }
end)

add("a write to what an expression needs", { { 2, 3 }, { 4, 6 }, { 8, 9 } }, function(d)
  local x = d:buffer { 1, 2 }
  local more, twice = x + 1, x * 2
  x:write { 2, 3 }
  local four = x * 2
  x:fill(8):set(2, 9)
  assert(trial.same({ 2, 4 }, twice:read()), "an operand was written too early")
  return { more:read(), four:read(), x:read() }
end)

add("an expression that a replay computes", { { 2, 3 }, { 12, 13 }, { 11, 12 } }, function(d)
  local p <close> = d:program "kernel void add(global int *x, int y) { x[get_global_id(0)] += y; }"
  local x, y = d:buffer({ 1, 2 }, "int"), d:zeros("int", 2)
  local s <close> = d:record(function()
    p.add(2, x, 10)
    y:write(x + 1)
  end)
  local z = x + 1
  s()
  return { z:read(), y:read(), x:read() }
end)

-- --- sequences ----------------------------------------------------------------------------

add("Device:record, Sequence:set", { 31, 32, 33, 34 }, function(d)
  local p <close> = d:program "kernel void add(global int *x, int y) { x[get_global_id(0)] += y; }"
  local x, y = d:zeros("int", 4), d:zeros("int", 4)
  local im = d:image("r float", 2, 2)
  local s <close> = d:record(function()
    x:write { 1, 2, 3, 4 }
    im:fill(1)
    p.add({ global = 4, group = 3, remainder = "split" }, x, 10)
    p.add(4, y, 1)
    y:write(x)
  end)
  s:set(2, "x", x):set(2, "y", 20)
  s(2):wait()
  return y:read()
end)

-- --- programs and kernels -----------------------------------------------------------------

local ADD = "kernel void add(global int *x, int n) { x[get_global_id(0)] += n; }"

cold("Device:program, opening a device", { 3, 3, 3 }, function(place)
  local d <close> = cl.device(place)
  local x = d:zeros("int", 3)
  d:program(ADD).add(3, x, 3)
  return x:read()
end)

add("Device:program", { 3, 3, 3 }, function(d)
  local p <close> = d:program(ADD)
  local x = d:zeros("int", 3)
  p.add(3, x, 3)
  return x:read()
end)

add("Device:program that no cache holds", { 3, 3, 3 }, function(d)
  os.execute 'rm -f "${CLCOMPUTE_CACHE:-/nonexistent}"/*.bin'
  local p <close> = d:program(ADD)
  local x = d:zeros("int", 3)
  p.add(3, x, 3)
  return x:read()
end)

add("Device:program from a file, Program.kernels", { "sum_pass" }, function(d)
  local p <close> = d:program({ file = "kernels/saxpy.cl" }, { defines = { REAL = "float" } })
  return #p.kernels > 0 and { "sum_pass" }
end)

add("Device:program with the work-group header", { 6, 6, 6, 6 }, function(d)
  local p <close> = d:program [[
    #include <clcompute/work_group.h>
    kernel void total(global int *x) { x[get_global_id(0)] = work_group_reduce_add(x[get_global_id(0)]); }]]
  local x = d:buffer({ 0, 1, 2, 3 }, "int")
  p.total({ global = 4, group = 4 }, x)
  return x:read()
end)

add("Device:is_built", true, function(d) return type(d:is_built(ADD)) == "boolean" end)

add("Kernel.args, Kernel:info", { "x", "n", true }, function(d)
  local p <close> = d:program(ADD)
  local k = p:kernel "add"
  local info = k:info()
  return { k.args[1].name, k.args[2].name, info.group_size > 0 and info.local_memory >= 0 and is_text(shown(k)) }
end)

add("a struct as an argument", { 5, 7 }, function(d)
  local p <close> = d:program [[
    typedef struct { int a; int b; } Pair;
    kernel void put(global int *x, Pair p) { x[0] = p.a; x[1] = p.b; }]]
  local x = d:zeros("int", 2)
  p.put(1, x, ("i4i4"):pack(5, 7))
  return x:read()
end)

add("a view, a vector and scratch as arguments", { 1, 2, 3, 4 }, function(d)
  local p <close> = d:program [[
    kernel void put(global int *x, int4 v, local int *s) {
      s[get_local_id(0)] = ((int *)&v)[get_local_id(0)];
      x[get_global_id(0)] = s[get_local_id(0)];
    }]]
  local n = d.align // 4
  local x = d:zeros("int", n + 4)
  p.put({ global = 4, group = 4 }, x:view(n + 1, n + 4), { 1, 2, 3, 4 }, cl.scratch("int", 4))
  return x:read(n + 1, n + 4)
end)

add("a split launch", { 2, 2, 2, 2, 2 }, function(d)
  local p <close> = d:program(ADD)
  local x = d:zeros("int", 5)
  p.add({ global = 5, group = 2, remainder = "split" }, x, 2):wait()
  return x:read()
end)

-- --- events -------------------------------------------------------------------------------

add("Event:wait, Event.status, Event:profile, Event.seconds", { true, true, true }, function(d)
  d:timing(true)
  local restore <close> = setmetatable({}, { __close = function() d:timing(false) end }) -- luacheck: ignore
  local p <close> = d:program(ADD)
  local e = p.add(3, d:zeros("int", 3), 1)
  e:wait()
  local times = e:profile()
  local status = e.status
  if status:find "^CL_" then error("failed on the device: " .. status, 0) end
  return { status == "complete", times.finished >= times.started, e.seconds >= 0 }
end)

add("Event:before", { 3, 3 }, function(d)
  local q <close> = d:queue()
  local p <close> = d:program(ADD)
  local x = d:zeros("int", 2)
  p.add(2, x, 3):before(q)
  local result = x:copy(q)
  d:wait()
  return result:read()
end)

add("Device:wait", true, function(d)
  d:zeros("int", 2)
  return d:wait() == d
end)

-- --- operations ---------------------------------------------------------------------------

add("Device:kernel", { 3, 5 }, function(d)
  local y = d:buffer { 1, 1 }
  cl.saxpy(2, d:buffer { 1, 2 }, y)
  return #d:kernel("gemm_naive").args > 0 and y:read()
end)

add("cl.saxpy", { 12, 24 }, function(d)
  return cl.saxpy(2, d:buffer { 1, 2 }, d:buffer { 10, 20 }, { out = d:empty("float", 2) }):read()
end)

for _, kernel in ipairs { "naive", "tiled", "fast" } do
  add("cl.gemm, " .. kernel, { { 19, 22 }, { 43, 50 } }, function(d)
    return cl.gemm(d:buffer { { 1, 2 }, { 3, 4 } }, d:buffer { { 5, 6 }, { 7, 8 } }, { kernel = kernel }):read()
  end)
  if kernel == "fast" then heavy() end
end

add("cl.gemm of a batch", { { { 2 } }, { { 12 } } }, function(d)
  return cl.gemm(d:buffer { { { 1 } }, { { 3 } } }, d:buffer { { { 2 } }, { { 4 } } }):read()
end)
heavy()

cold("cl.gemm, opening a device", { { 19, 22 }, { 43, 50 } }, function(place)
  local d <close> = cl.device(place)
  return cl.gemm(d:buffer { { 1, 2 }, { 3, 4 } }, d:buffer { { 5, 6 }, { 7, 8 } }):read()
end)
heavy()

for _, kernel in ipairs { "paper", "unblocked", "blocked" } do
  add("cl.gauss, " .. kernel, { 1, 2, 3 }, function(d)
    local a = d:buffer { { 4, 1, 0 }, { 1, 5, 2 }, { 0, 2, 6 } }
    return cl.gauss(a, d:buffer { 6, 17, 22 }, { kernel = kernel }):read()
  end)
end

add("cl.gauss of a batch", { { 2 }, { 3 } }, function(d)
  return cl.gauss(d:buffer { { { 2 } }, { { 3 } } }, d:buffer { { 4 }, { 9 } }):read()
end)

add("cl.lu", { { 1, 2 }, 10, true }, function(d)
  local f = cl.lu(d:buffer { { 4, 2 }, { 1, 3 } })
  return { f:solve(d:buffer { 8, 7 }):read(), f:det(), f:rcond() > 0.1 }
end)

add("cl.map", { 3, 5 }, function(d) return cl.map("2 * x[i] + 1", { x = d:buffer { 1, 2 } }):read() end)

add("cl.reduce", 14, function(d) return cl.reduce("a + b", d:buffer { 1, 2, 3 }, { map = "x[i] * x[i]" }) end)

add("cl.scan", { 1, 3, 6 }, function(d) return cl.scan("a + b", d:buffer { 1, 2, 3 }):read() end)

add("cl.sum, cl.dot, cl.min, cl.max, cl.argmax, cl.norm2", { 7, 25, 3, 4, 2, 5 }, function(d)
  local x = d:buffer { 3, 4 }
  return { cl.sum(x), cl.dot(x, x), cl.min(x), cl.max(x), cl.argmax(x), cl.norm2(x) }
end)

add("cl.sort, cl.argsort, cl.unique", { { 1, 2, 3 }, { 6, 5, 4 }, { 3, 2, 1 }, { 2, 2 } }, function(d)
  local x, values = d:buffer({ 3, 2, 1 }, "uchar"), d:buffer({ 4, 5, 6 }, "short")
  local sorted, moved = cl.sort(x, { with = values })
  local _, counts = cl.unique(d:buffer({ 7, 1, 7, 1 }, "uchar"), { counts = true })
  return { sorted:read(), moved:read(), cl.argsort(x):read(), counts:read() }
end)

add("cl.compact, cl.count, cl.any, cl.all, cl.where", { { 3, 2 }, 2, true, false, { 3, 2, 0 } }, function(d)
  local x = d:buffer({ 3, 2, 1 }, "int")
  return { cl.compact("x > 1", x):read(), cl.count("x > 1", x), cl.any("x > 1", x), cl.all("x > 1", x),
    cl.where("x > 1", x, 0):read() }
end)

add("cl.histogram, cl.gather, cl.scatter, cl.concat", { { 1, 2 }, { 1, 3 }, { 1, 3, 2 }, { 3, 2, 1, 3 } }, function(d)
  local x, at = d:buffer({ 3, 2, 1 }, "int"), d:buffer({ 3, 1 }, "uchar")
  return { cl.histogram(x, { bins = 2 }):read(), cl.gather(x, at):read(),
    cl.scatter(x, d:buffer({ 2, 3, 1 }, "int"), d:zeros("int", 3)):read(), cl.concat(x, x:view(1, 1)):read() }
end)

local ALONG = { { 3, 7 }, { { 1, 3 }, { 3, 7 } }, { 2, 3 }, 1.25 }

add("reductions and scans along an axis, cl.mean, cl.var", ALONG, function(d)
  local x = d:buffer { { 1, 2 }, { 3, 4 } }
  return { cl.sum(x, { axis = 2 }):read(), cl.scan("a + b", x, { axis = 2 }):read(), cl.mean(x, { axis = 1 }):read(),
    cl.var(x) }
end)
heavy()

add("cl.matmul, cl.transpose, Buffer:T", { { 5, 11 }, { { 1, 3 }, { 2, 4 } }, { { { 1 }, { 2 } } } }, function(d)
  local m = d:buffer { { 1, 2 }, { 3, 4 } }
  return { cl.matmul(m, d:buffer { 1, 2 }):read(), m:T():read(),
    cl.transpose(d:buffer { { { 1, 2 } } }, { axes = { 1, 3, 2 } }):read() }
end)
heavy()

add("Device:linspace, Device:arange, Device:eye, Device:full, Device:permutation", { { 0, 1 }, { 2, 4 }, { { 1 } },
  { 7 }, 3 }, function(d)
  return { d:linspace(0, 1, 2):read(), d:arange(2, 4, 2, "int"):read(), d:eye(1):read(), d:full("short", 7, 1):read(),
    cl.sum(d:permutation(2)) }
end)

-- --- what tells of the rest ---------------------------------------------------------------

add("cl.profile", { 2, 2 }, function(d)
  local on <close> = setmetatable({}, { __close = function() cl.profile(false) end })
  cl.profile(true)
  local p <close> = d:program(ADD)
  local x = on and d:zeros("int", 2):fill(1)
  p.add(2, x, 1)
  assert(#cl.profile() > 0 or on)
  return x:read()
end)

add("cl.live, tostring", true, function(d)
  local b = d:buffer { 1, 2 }
  local m = d:buffer { { 1, 2 }, { 3, 4 } }
  return shown(m) and cl.live().bytes > 0 and is_text(shown(b), shown(d))
end)

add("cl.trace_range", 4, function(d) return #cl.trace_range({ global = 4, group = 2 }, { device = d }) end)

add("transfers by mapping", "abcd", function(d)
  local internal = require "clcompute.core.internal"
  return internal.read_mapped(internal.write_mapped(d:empty("uchar", 4), "abcd"))
end)

add("a process behind, without which plain kernels serve", true, function()
  local internal = require "clcompute.core.internal"
  local process = internal.start_behind "os.exit(true)"
  repeat until not process or internal.has_ended(process)
  return true
end)

add("clcompute.loops", { 2, 4, 6 }, function(d)
  local loops = require "clcompute.loops"
  local double <const> = assert(loops.compile("return function(x, n) for i = 1, n do x[i] = x[i] * 2 end end", {
    device = d, force = true }))
  local x = d:buffer { 1, 2, 3 }
  double(x, 3)
  return x:read()
end)

--- Those of a kind: "light", which take no second where a device is simulated; "heavy", which is all; "sample": heavy
-- ones, those that open the device, and some of the others.
function scenarios.of(kind)
  local list = {}
  for i, scenario in ipairs(scenarios) do
    local is_drawn = scenario.heavy or scenario.cold or i % 4 == 0
    if kind == "heavy" or kind == "light" and not scenario.heavy or kind == "sample" and is_drawn then
      list[#list + 1] = scenario
    end
  end
  return list
end

return scenarios
