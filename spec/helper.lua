-- SPDX-License-Identifier: MIT
--- What the specs share: the devices they run on, and checks with a say of their own.

local assert = require "luassert"
local busted = require "busted"
local cl = require "clcompute"
local copies = require "spec.support.copies"
local files = require "clcompute.files"

local helper = {}

cl.seed(1) -- what is random without a seed of its own is the same each time

-- Verdicts on devices are kept from spec to spec also where programs are not (tools/spec.sh): a simulator takes seconds
-- for each.
local kept, folder_of_programs, folders_to_read = os.getenv "SPEC_VERDICTS", files.cache_folder, files.cache_folders
files.cache_folder = function() return folder_of_programs() or kept end
files.cache_folders = function()
  local folders = folders_to_read()
  return #folders == 0 and kept and { kept } or folders
end

--- Bounds from numerical analysis, by dtype: the spacing of its numbers at 1.
helper.eps = { float = 2.0 ^ -23, double = 2.0 ^ -52 }

--- Unit roundoff: half of that.
helper.unit = { float = 2.0 ^ -24, double = 2.0 ^ -53 }

--- A device that simulates, a thousand times slower: specs take smaller sizes there.
function helper.is_simulator(device) return device.platform == "Oclgrind" end

--- What is to be closed: until then no launch is timed, also where CLCOMPUTE_TIMING asks for it.
function helper.untimed(device)
  local was_timed = device:timing()
  device:timing(false)
  return setmetatable({}, { __close = function() device:timing(was_timed) end })
end

--- A value for `make long`, which tries more than a test should take; nil otherwise.
function helper.long(value) return os.getenv "LONG" and value end

--- The bytes of a file.
function helper.read(path)
  local file <close> = assert(io.open(path, "rb"))
  return file:read "a"
end

--- Makes a file of these bytes, a program where it `runs`; returns its path.
function helper.write(path, bytes, runs)
  local file = assert(io.open(path, "wb"))
  file:write(bytes)
  file:close()
  if runs then assert(os.execute("chmod +x " .. path)) end
  return path
end

local FORMATS = { float = "f", double = "d" }

--- Numbers as the bytes of a dtype, and back.
function helper.pack(values, dtype)
  local bytes = {}
  for i, v in ipairs(values) do bytes[i] = string.pack(FORMATS[dtype], v) end
  return table.concat(bytes)
end

function helper.unpack(bytes, dtype)
  local values, at = {}, 1
  while at <= #bytes do values[#values + 1], at = string.unpack(FORMATS[dtype], bytes, at) end
  return values
end

--- What a command of the shell prints, and how it ended.
function helper.shell(command)
  local pipe = assert(io.popen(command .. " 2>&1"))
  local output = pipe:read "a"
  return output, pipe:close()
end

--- A new folder.
function helper.folder()
  local path = os.tmpname()
  assert(os.execute(("rm %s && mkdir %s"):format(path, path)))
  return path
end

--- Every device of this machine; no OpenCL at all is an error. With ISOLATED=1 the CPUs instead, isolated.
function helper.devices()
  local devices = cl.devices(os.getenv "ISOLATED" and "cpu")
  assert(#devices > 0 or os.getenv "ISOLATED", "the specs need an OpenCL device")
  if os.getenv "ISOLATED" then
    if #devices == 0 then busted.it("needs a CPU that can be isolated", busted.pending) end
    for i, device in ipairs(devices) do devices[i] = cl.device(device.place, { isolated = true }) end
  end
  return devices
end

--- A device that computes at speed.
function helper.device()
  for _, device in ipairs(helper.devices()) do if not helper.is_simulator(device) then return device end end
  error("the specs need an OpenCL device that is no simulator")
end

--- A test of what is so where the device that computes at speed is a processor; elsewhere it is pending for a reason.
function helper.on_cpu(sentence, body, reason)
  busted.it(sentence, function()
    if helper.device().type ~= "cpu" then return busted.pending(reason or "it is so on processors") end
    return body()
  end)
end

--- Whether groups of a device are threads, of which one may wait for another, as `clcompute.loops` takes it.
function helper.has_threads(device)
  return require("clcompute.loops.runtime").kernel_target.of(device, {}).may_wait
end

--- A test of what is so where that device has such.
function helper.on_threads(sentence, body)
  busted.it(sentence, function()
    if not helper.has_threads(helper.device()) then return busted.pending "it is so where groups are threads" end
    return body()
  end)
end

--- Nested tables of `element(i, j)`; without it of random numbers from 0 to 1.
function helper.matrix(rows, columns, element)
  local list = {}
  for i = 1, rows do
    list[i] = {}
    for j = 1, columns do list[i][j] = element and element(i, j) or math.random() end
  end
  return list
end

-- What makes a device one of many work-items, each of which has a pass.
helper.WIDE = { kernel = "items", rows = 1, columns = 1, vector = 1, passes = 1, jam = 1, group = 8, depth = 1 }

--- Runs a function of `count` matrices of n rows and n in Lua, and compiled in some ways: for tiles, and for many
-- work-items, unless they are given. All must do the same. Returns what was compiled.
function helper.compare_in_all_ways(text, count, n, element, ways)
  local device, values, compiled, results = helper.device(), {}, {}, {}
  for k = 1, count do values[k] = helper.matrix(n, n, element) end
  for i, tiles in ipairs(ways or { false, helper.WIDE }) do
    local arguments = {}
    for k = 1, count do arguments[k] = device:buffer(values[k], "double") end
    arguments[count + 1], results[i] = n, arguments
    compiled[i] = assert(require "clcompute.loops".compile(text, { device = device, force = true,
      tiles = tiles or nil }))
    compiled[i](table.unpack(arguments))
  end
  local arguments = table.move(values, 1, count, 1, {})
  arguments[count + 1] = n
  assert(load("return " .. text))()(table.unpack(arguments))
  for _, buffers in ipairs(results) do
    for k = 1, count do
      local found = buffers[k]:read()
      if not copies.are_equal(values[k], found) then busted.assert.same(values[k], found, text) end -- NaN is equal
    end
  end
  return table.unpack(compiled)
end

--- Calls what `loops.compile` made with so many of its nests on the device: what stands in place of others runs.
function helper.call_on_device(count, compiled, ...)
  local on_device = {}
  for i = 1, count do on_device[i] = true end
  return helper.call_with(on_device, compiled, ...)
end

--- Calls what `loops.compile` made with certain nests on the device, whose indices are true in a table; what all
-- groups may share they do.
function helper.call_with(on_device, compiled, ...)
  local decision = require("clcompute.loops.runtime").decision
  local decide = decision.make
  decision.make = function() return { on_device = on_device, reasons = {}, is_spread = on_device } end
  local ok, message = pcall(compiled, ...)
  decision.make = decide
  return ok, message
end

--- A test of what is so where POCL is the driver of that device.
function helper.on_pocl(sentence, body)
  busted.it(sentence, function()
    if helper.device().platform ~= "Portable Computing Language" then return busted.pending "it is so with POCL" end
    return body()
  end)
end

--- Describes behaviour on each device: describe_each("a buffer", function(device) it(...) end)
function helper.describe_each(subject, body)
  for _, device in ipairs(helper.devices()) do
    busted.describe(subject .. " on " .. device.platform, function() body(device) end)
  end
end

--- Whether a device takes some tenths of a second to build a kernel: what tells dtypes apart is left to the others. A
-- simulator builds in a tenth of that time.
local function builds_slowly(device) return device.type == "cpu" and not helper.is_simulator(device) end

--- Describes what is much the same on each device, and many kernels to build, on the device that builds soonest: a
-- simulator where there is one. By `make long` on each.
function helper.describe_soonest(subject, body)
  for _, device in ipairs(helper.devices()) do
    if helper.is_simulator(device) and not helper.long(true) then
      busted.describe(subject .. " on " .. device.platform, function() body(device) end)
      return
    end
  end
  helper.describe_each(subject, body)
end

--- Describes elementwise operations on each device, with its own numbers and with those of the other kind, CPU or GPU;
-- the latter for few dtypes, as those of a kind are built alike: describe_kinds("sum", function(device, dtypes,
-- is_other, is_sample) end). A sample of tests is enough where a processor has the numbers of a GPU: a simulator, whose
-- own they are, tries them all.
function helper.describe_kinds(subject, body)
  local known, tuning = require "clcompute.tuning.known", require "clcompute.tuning"
  helper.describe_each(subject, function(device)
    body(device, helper.dtypes(device))
    local other = tuning.facts(device, "float")
    other.type, other.platform = device.type == "cpu" and "gpu" or "cpu", "another one"
    local function use(choose)
      for _, operation in ipairs { "saxpy", "map", "reduce", "histogram", "scan", "sort" } do
        tuning.use(device, operation, "float", choose(known[operation], other))
      end
    end
    busted.describe("as a " .. other.type, function()
      busted.setup(function() use(tuning.choose) end)
      busted.teardown(function() use(function() end) end)
      local few = builds_slowly(device) and { "float" } or { "int", "float", device.has_double and "double" or nil }
      body(device, helper.long(helper.dtypes(device)) or few, true, builds_slowly(device) and not helper.long(true))
    end)
  end)
end

--- Sizes around those of vectors, groups and chunks; on a simulator the small ones.
function helper.sizes(device)
  if helper.is_simulator(device) then return { 0, 1, 2, 15, 16, 17, 255, 257 } end
  return { 0, 1, 2, 15, 16, 17, 255, 256, 257, 65535, 65537, 1000003 }
end

--- The dtypes of a device, one of each length and kind, fewer where kernels build slowly; by `make long` all of them.
function helper.dtypes(device)
  local names = { "char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "half", "float" }
  if not helper.long(true) then
    if builds_slowly(device) then return { "ulong", "half", "float" } end
    names = { "char", "ushort", "int", "ulong", "half", "float" }
  end
  if device.has_double then names[#names + 1] = "double" end
  return names
end

--- The text of a kernel behind the header of work-group functions as a device with so many lanes gets it: a GPU has
-- 32, and here all devices may be processors, which have one. For groups of at most 512.
function helper.with_lanes(lanes, text)
  local header = helper.read "kernels/clcompute/work_group.h"
  local facts = "#define CLC_SLOTS 512\n#define CLC_LANES %d\n#define CLC_NATIVE 0\n"
    .. "#define CLC_DOUBLE 0\n#define CLC_HALF 0\n"
  return facts:format(lanes) .. header .. text:gsub("{", "{ CLC_KERNEL_BODY", 1)
end

--- Asserts that f(...) raises a message that holds each of the given plain texts, and no place within the library.
function helper.raises(texts, f, ...)
  local ok, message = pcall(f, ...)
  assert.is_false(ok, "no error was raised")
  message = tostring(message)
  assert.is_nil(message:match "^%S*lua/clcompute/[%w_/]+%.lua:%d+:.*")
  for _, text in ipairs(type(texts) == "table" and texts or { texts }) do
    assert.truthy(message:find(text, 1, true), ("'%s' is not in: %s"):format(text, message))
  end
  return message
end

--- A text with a number for its "%s" that no earlier run had, so that no cache holds what is built of it.
function helper.unseen(text) return text:format(("1.%015d"):format(os.time() * 1000 + math.random(0, 999))) end

--- Runs a Lua script in a process of its own; returns success, what it printed, its exit code.
-- `environment` is a table of variables; the layer and the modules are inherited. After `limit`
-- seconds, if given, it is ended.
function helper.run(script, environment, limit)
  local path = os.tmpname()
  helper.write(path, script)
  local words = {}
  for name, value in pairs(environment or {}) do words[#words + 1] = ("%s='%s'"):format(name, value) end
  local command = limit and ("timeout %d %s"):format(limit, helper.lua) or helper.lua
  local pipe = assert(io.popen(("%s %s %s 2>&1"):format(table.concat(words, " "), command, path)))
  local output = pipe:read("a")
  local ok, _, code = pipe:close()
  os.remove(path)
  return ok or false, output, code
end

--- What a script prints that must end well.
function helper.output(...)
  local ok, output = helper.run(...)
  assert.is_true(ok, output)
  return output
end

--- Compiles spec/support/<name>.c with the Makefile's settings, linked with `libraries` ("-lOpenCL"); returns the
-- path of the library.
function helper.compile_library(name, libraries)
  local pipe = assert(io.popen("make -s show"))
  local settings = {}
  for line in pipe:lines() do
    local key, value = line:match "^(%w+[_%w]*) = (.*)$"
    if key then settings[key] = value end
  end
  pipe:close()
  local path = ("build/%s.so"):format(name)
  -- Put there as a whole: another spec may have it loaded.
  assert(os.execute(("new=$(mktemp %s.XXXXXX) && %s -O2 -fPIC -shared -I%s -o $new spec/support/%s.c %s && mv $new %s")
    :format(path, settings.CC, settings.LUA_INCDIR, name, libraries or "", path)))
  return path
end

--- Loads one that is a Lua module.
function helper.compile(name, libraries)
  return assert(package.loadlib(helper.compile_library(name, libraries), "luaopen_" .. name))()
end

--- The interpreter that runs the specs.
helper.lua = os.getenv("LUA") or "lua5.4"

--- A seed for random data: the same in each run of the suite, a fresh one by `make long`; SPEC_SEED repeats that.
helper.seed = tonumber(os.getenv "SPEC_SEED") or helper.long(os.time()) or 1
io.stderr:write("SPEC_SEED=", helper.seed, "\n")
math.randomseed(helper.seed)

return helper
