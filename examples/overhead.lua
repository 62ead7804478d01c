-- SPDX-License-Identifier: MIT
--- What the library costs above the same OpenCL calls from C: a launch with four arguments, an
--- element, an empty launch waited for, a new buffer; memory, numbers and transfers by the clock with the wait; and the
--- time to the first result of a process.
---
--- Usage: make bench-overhead, or lua5.4 examples/overhead.lua [rounds [processes]] after `make build/overhead.so`.
--- Rounds take turns; the table shows their medians and quartiles. Launches, which have no OpenCL event on either
--- side, and making buffers are timed in processor time of the script's own thread, which bears busy neighbours;
--- what blocks is timed by the clock. Launches are queued behind a kernel that runs for about a millisecond:
--- else it would be chance how often each has to wake the driver's threads.

--- Ends with a sentence, not with a traceback.
local function fail(text)
  io.stderr:write("overhead.lua: ", text, "\n")
  os.exit(1)
end

local found, cl = pcall(require, "clcompute")
if not found then
  fail(cl:find("not found:", 1, true) and 'needs clcompute: make && eval "$(make -s env)"' or cl)
end
local open_bare = package.loadlib("build/overhead.so", "luaopen_overhead")
if not open_bare then fail "needs the same calls in C: `make build/overhead.so`, and to be run where that was made" end
local bare = open_bare()

local ROUNDS, PROCESSES = tonumber(arg[1]) or 201, tonumber(arg[2]) or 9
local N, COUNT, FEW, TURNS = 16, 25, 50, 1000000

local SOURCE = [[
  kernel void work(global float *out, global const float *x, float factor, int n) {
    const int i = get_global_id(0);
    if (i < n) out[i] = factor * x[i];
  }
  kernel void gate(global float *out, int turns) {
    float v = out[0];
    for (int i = 0; i < turns; i++) v = 0.5f * v + 1;
    out[0] = v;
  }
]]
local EMPTY = "kernel void empty() {}" -- by itself: see build.c on NVIDIA

local has_device, device = pcall(cl.device)
if not has_device then fail(device) end
local program = device:program(SOURCE)
local values = {}
for i = 1, N do values[i] = i end
local x, out = device:buffer(values), device:zeros("float", N)
local work, gate, empty = program.work, program.gate, device:program(EMPTY).empty

local platform_index, device_index = tostring(device):match "^(%d+):(%d+)"
bare.open(tonumber(platform_index), tonumber(device_index), SOURCE .. EMPTY, N)
bare.write(x:string())

-- --- numbers -------------------------------------------------------------------

local function quantile(list, share)
  return list[math.floor((#list - 1) * share + 0.5) + 1]
end

local function spread(list)
  table.sort(list)
  return { low = quantile(list, 0.25), median = quantile(list, 0.5), high = quantile(list, 0.75) }
end

-- --- launches ------------------------------------------------------------------

--- Seconds of a launch through the library, to queue it.
local function launch(range, factor)
  gate(1, out, TURNS)
  local start = bare.cpu()
  for _ = 1, COUNT do work(range, out, x, factor, N) end
  local queued = bare.cpu() - start
  device:wait()
  return queued / COUNT
end

local function launch_bare(_, factor)
  bare.shut(TURNS)
  local queued = bare.launch(COUNT, N, N, factor)
  bare.finish()
  return queued / COUNT
end

local function check(packed, factor)
  for i = 1, N do
    local value = string.unpack("f", packed, 4 * i - 3)
    assert(value == factor * i, ("element %d is %g, not %g"):format(i, value, factor * i))
  end
end

local LAUNCHES = {
  { "C", launch_bare },
  { "range n", launch, N },
  { "range {n}", launch, { N } },
  { "range {global=, group=}", launch, { global = N, group = N } },
}

-- --- a sequence ----------------------------------------------------------------

local LENGTH = 254

--- Seconds of a launch of a sequence, to queue it; the factor is that of the last launch alone.
local function replay(sequence, factor)
  sequence:set(LENGTH, "factor", factor)
  gate(1, out, TURNS)
  local start = bare.cpu()
  sequence()
  local queued = bare.cpu() - start
  device:wait()
  return queued / LENGTH
end

local function replay_bare(_, factor)
  bare.launch(1, N, N, factor)
  bare.finish()
  bare.shut(TURNS)
  local queued = bare.replay(LENGTH, N, N)
  bare.finish()
  return queued / LENGTH
end

-- --- other calls ---------------------------------------------------------------

local function time(clock, f)
  local start = clock()
  for _ = 1, FEW do f() end
  local seconds = (clock() - start) / FEW
  device:wait()
  return seconds
end

local function get() return x:get(1) end
local function set() x:set(1, 1) end
local function await() empty(1):wait() end
local function create() device:empty("float", 256):release() end

local CALLS = {
  { "get an element", bare.get, cl.clock, get },
  { "set an element, queued", bare.set, bare.cpu, set },
  { "empty launch and wait", bare.await, cl.clock, await },
  { "new buffer, released", bare.create, bare.cpu, create },
}

--- What each function returns, round by round: seconds[i][round].
local function measure(functions, rounds)
  local seconds = {}
  for i = 1, #functions do seconds[i] = {} end
  for round = 1, (rounds or ROUNDS) + 1 do
    for turn = 1, #functions do
      local i = (turn + round) % #functions + 1 -- none always comes first
      local result = functions[i](round)
      if round > 1 then seconds[i][round - 1] = result end -- the first one warms up
    end
  end
  return seconds
end

local function print_row(name, seconds, above)
  local s = spread { table.unpack(seconds) }
  local row = ("%-26s %8.2f %8.2f %8.2f"):format(name, s.low * 1e6, s.median * 1e6, s.high * 1e6)
  if above then
    local differences = {}
    for i, t in ipairs(seconds) do differences[i] = t - above[i] end
    local d = spread(differences)
    row = row .. (" %+8.2f (%+.2f .. %+.2f)"):format(d.median * 1e6, d.low * 1e6, d.high * 1e6)
  end
  print(row)
end

-- --- memory, numbers, transfers --------------------------------------------------

local GIB = 1 << 30
local LARGE = device.type == "gpu" and GIB or GIB // 16 -- bytes that are moved
local SEVERAL = 9 -- rounds

--- Seconds of a call of some, and of the wait for all of them.
local function average(f, count)
  local start = cl.clock()
  for _ = 1, count do f() end
  device:wait()
  return (cl.clock() - start) / count
end

local function fill(n)
  return function() device:empty("float", n):fill(1):release() end
end

local function print_memory()
  local kept = {}
  for _, p in ipairs { 10, 16, 20 } do kept[p] = device:random("float", 1 << p) end
  print(("%-26s %26s"):format("one of " .. FEW .. ", and the wait", "microseconds: quartiles"))
  for _, call in ipairs {
    { "empty, fill, release, 2^10", fill(1 << 10) },
    { "empty, fill, release, 2^22", fill(1 << 22) },
    { "copy and release, 2^20", function() kept[20]:copy():release() end },
    { "sum, 2^10", function() cl.sum(kept[10]) end },
    { "sum, 2^16", function() cl.sum(kept[16]) end },
    { "dot, 2^10", function() cl.dot(kept[10], kept[10]) end },
    { "dot, 2^16", function() cl.dot(kept[16], kept[16]) end },
  } do
    local name, f = table.unpack(call)
    print_row(name, measure({ function() return average(f, FEW) end }, SEVERAL)[1])
  end
end

local function print_transfers()
  local large <close> = device:random("float", LARGE // 4)
  local host = device:host("float", LARGE // 4)
  local text = large:string()
  print(("%-26s %26s"):format(("transfers of %d MiB"):format(LARGE >> 20), "GB/s: quartiles"))
  for _, call in ipairs {
    { "b:string()", function() large:string() end },
    { "b:write(string)", function() large:write(text) end },
    { "b:read_async(host)", function() large:read_async(host) end },
    { "b:write(host)", function() large:write(host) end },
  } do
    local name, f = table.unpack(call)
    local rates = {}
    average(f, 1)
    for i = 1, SEVERAL do
      collectgarbage()
      rates[i] = LARGE / average(f, 1) * 1e-9
    end
    local s = spread(rates)
    print(("%-26s %8.2f %8.2f %8.2f"):format(name, s.low, s.median, s.high))
  end
end

-- --- the first result ----------------------------------------------------------

local FIRST = [[
  local cl = require "clcompute"
  local d = cl.device()
  local x = d:buffer({1, 2, 3, 4})
  local p = d:program("kernel void twice(global float *x) { x[get_global_id(0)] *= 2; }")
  p.twice(4, x)
  assert(x:read()[3] == 6)
]]

--- Seconds that a process takes, its caches in that folder.
local function first_result(folder)
  local interpreter = arg[-1] or "lua5.4"
  local command = ("CLCOMPUTE_CACHE=%s/ours POCL_CACHE_DIR=%s/pocl %s -e '%s'"):format(folder, folder,
    interpreter, FIRST)
  local start = cl.clock()
  assert(os.execute(command))
  return cl.clock() - start
end

local function print_first(name, seconds)
  local s = spread(seconds)
  print(("%-26s %8.3f %8.3f %8.3f"):format(name, s.low, s.median, s.high))
end

-- --- all of it -----------------------------------------------------------------

--- Prints ways of a launch beside the first, which is C.
local function print_ways(title, ways)
  local functions = {}
  for i, way in ipairs(ways) do
    functions[i] = function(round)
      local seconds = way[2](way[3], round)
      check(i > 1 and out:string() or bare.read(N), round)
      return seconds
    end
  end
  local seconds = measure(functions)
  print(("%-26s %26s %s"):format(title, "microseconds: quartiles", "   above C (quartiles)"))
  for i, way in ipairs(ways) do print_row(way[1], seconds[i], i > 1 and seconds[1] or nil) end
end

local function print_launches()
  print_ways("a launch, 4 arguments", LAUNCHES)
  local sequence <close> = device:record(function()
    for _ = 1, LENGTH do work(N, out, x, 1, N) end
  end)
  print_ways("one of " .. LENGTH .. ", recorded", {
    { "C, without arguments", replay_bare }, { "d:record", replay, sequence },
  })
end

local function print_calls()
  for _, call in ipairs(CALLS) do
    local name, from_c, clock, f = table.unpack(call)
    local seconds = measure {
      function() return from_c(FEW) / FEW end,
      function() return time(clock, f) end,
    }
    print_row(name .. ", C", seconds[1])
    print_row(name, seconds[2], seconds[1])
  end
end

local function print_processes()
  local folder = os.tmpname()
  os.remove(folder)
  local cold, warm = {}, {}
  for i = 1, PROCESSES do
    assert(os.execute(("rm -rf '%s' && mkdir -p '%s'/pocl"):format(folder, folder)))
    cold[i], warm[i] = first_result(folder), first_result(folder)
  end
  os.execute(("rm -rf '%s'"):format(folder))
  print(("%-26s %26s"):format("first result", "seconds: quartiles"))
  print_first("cold caches", cold)
  print_first("warm caches", warm)
end

print(device)
print_launches()
print_calls()
print_memory()
print_transfers()
if PROCESSES > 0 then print_processes() end
