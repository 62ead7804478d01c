-- SPDX-License-Identifier: MIT
--- Whatever fails, nothing is lost and nothing hidden: OpenCL calls by the counting layer, allocations of Lua by a host
-- of their own, calls of the C library by what is preloaded. LONG=1 (`make faults`) tries every call with every code;
-- else a sample.

local calls = require "spec.support.faults.calls"
local count = require "clcount"
local helper = require "spec.helper"
local scenarios = require "spec.support.faults.scenarios"

local LONG = os.getenv "LONG" ~= nil
local COVERED = os.getenv "COVERED" ~= nil

-- One of so many faults is tried. A simulator compiles sooner and runs later.
local STRIDE = {
  calls = { simulator = LONG and 11 or 97, device = LONG and 1 or COVERED and 23 or 199 },
  allocations = { simulator = LONG and 7 or 307, device = LONG and 7 or 797 },
  system = { simulator = LONG and 1 or 31, device = LONG and 1 or COVERED and 5 or 61 },
}
local LEAST = { calls = LONG and 5000 or 150, allocations = LONG and 3000 or 60, system = LONG and 1000 or 30 }

-- What fails in Lua's memory or the C library is the same on each device: by default each is tried on one kind of them,
-- and where programs build for a second on a sample of the scenarios.
local devices = helper.devices() -- a simulator first
local IS_SAMPLED = not LONG and #devices > 1 and helper.is_simulator(devices[1])

local SHOWN = 20 -- texts of a failure

local total = { calls = 0, allocations = 0, system = 0, leaked = 0, swallowed = 0, broken = 0 }

local function count_in(what, tally)
  total[what] = total[what] + tally.faults
  for _, name in ipairs { "leaked", "swallowed", "broken" } do total[name] = total[name] + tally[name] end
end

local function assert_clean(tally)
  local text = table.concat(tally.texts, "\n", 1, math.min(#tally.texts, SHOWN))
  assert.is_true(tally.faults > 0)
  assert.equal(0, tally.leaked + tally.swallowed + tally.broken, text)
end

--- What a process prints in which faults are tried, as a tally.
local function run(command, ...)
  local pipe = assert(io.popen(("CLCOMPUTE_LUA=%s %s %s %d %s 2>&1"):format(helper.lua, command, ...)))
  local tally, texts = {}, {}
  for text in pipe:lines() do
    if tally.faults or not text:find "faults=" then texts[#texts + 1] = text ~= "" and text or nil end
    for name, value in text:gmatch "(%l+)=(%d+)" do tally[name] = tally[name] or math.tointeger(value) end
  end
  local ended = pipe:close()
  assert(tally.faults, table.concat(texts, "\n"))
  tally.texts = texts
  return tally, ended
end

helper.describe_each("a fault", function(device)
  local place, is_simulator = device.place, helper.is_simulator(device)
  local kind = is_simulator and "simulator" or "device"
  local chosen = is_simulator and "light" or IS_SAMPLED and "sample" or "heavy"

  teardown(function() count.fail() end)

  it("of any OpenCL call is told of, loses no handle, and leaves all else working", function()
    local tally = calls.run(scenarios.of(chosen), place, STRIDE.calls[kind])
    count_in("calls", tally)
    assert_clean(tally)
    assert.equal(0, count.bad())
  end)

  local function try(what, command)
    if os.getenv "SANITIZED" then return pending "what makes these faults is not built with sanitizers" end
    local tally, ended = run(command, place, STRIDE[what][kind], chosen)
    count_in(what, tally)
    assert_clean(tally)
    assert.is_true(ended)
  end

  if is_simulator or not IS_SAMPLED then
    it("of Lua's memory is told of, loses no handle, and leaves all else working", function()
      try("allocations", "build/lua-faults spec/support/faults/allocate.lua")
    end)
  end

  if not (is_simulator and IS_SAMPLED) then
    it("of the C library is told of or made good for, loses nothing open, leaves all else working", function()
      local preload = "LD_PRELOAD=$PWD/build/system_faults.so "
      try("system", preload .. helper.lua .. " spec/support/faults/system.lua")
    end)
  end
end)

describe("all faults", function()
  -- Calls that cannot fail, or fail for wrong arguments alone, or whose failure is as if they had not been made.
  local HARMLESS = {}
  for name in ([[ alarm alphasort clock_gettime closedir dirfd dlclose dlopen dlsym environ exit ferror fflush
    fileno fmax fmin fopen fork fprintf free frexp getenv geteuid getpgrp getpid getppid getrlimit getrusage glob
    globfree ilogb ioctl isatty kill ldexp munmap nanosleep nextafter nextafterf posix_spawn_file_actions_destroy
    posix_spawn_file_actions_init prctl pselect qsort scandir sched_yield shutdown snprintf sqrt sscanf stderr stdin
    stdout syscall sysconf tcgetpgrp time unsetenv waitid waitpid ]]):gmatch "%S+" do
    HARMLESS[name] = true
  end
  local FAMILIES = { "^lua", "^cl%u", "^_", "^mem[cms]", "^str", "^sig", "^pthread_", "^posix_spawnattr_" }

  --- The symbols that nm prints, without versions.
  local function symbols(arguments)
    local set, pipe <close> = {}, assert(io.popen("nm -D " .. arguments))
    for line in pipe:lines() do
      local name = line:match("(%S+)$"):gsub("@.*", ""):gsub("^__isoc99_", "")
      set[name] = true
    end
    return set
  end

  local function is_harmless(name)
    for _, family in ipairs(FAMILIES) do if name:find(family) then return true end end
    return HARMLESS[name] ~= nil
  end

  it("reach every call of the C library that can fail", function()
    local failing = symbols "--defined-only build/system_faults.so"
    assert.is_true(failing.malloc and failing.posix_spawnp)
    for name in pairs(symbols "--undefined-only build/clcompute/core.so") do
      assert.is_true(failing[name] or is_harmless(name), name)
    end
  end)

  it("are enough to say so", function()
    local text = "faults: %d of OpenCL calls, %d of allocations, %d of the C library: %d leaked, %d swallowed, %d left "
      .. "something broken"
    print(text:format(total.calls, total.allocations, total.system, total.leaked, total.swallowed, total.broken))
    assert.is_true(total.calls >= LEAST.calls)
    for _, what in ipairs(os.getenv "SANITIZED" and {} or { "allocations", "system" }) do
      assert.is_true(total[what] >= LEAST[what])
    end
  end)
end)
