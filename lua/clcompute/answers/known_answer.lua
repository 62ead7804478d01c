-- SPDX-License-Identifier: MIT
--- Runs a known-answer test on a device, and keeps what it said: each is run once a device and driver, when it is
-- first asked for, as by `clcompute.tuning`, which chooses the numbers of an operation. A verdict is a line
-- `verdict TAB test TAB device` of `verdicts` in the folder of compiled programs; that of a test of the library's own
-- kernels also names their text.

local base = require "clcompute.base"
local interrupt = base.interrupt

local known_answer = {}

-- --- running ------------------------------------------------------------------------------

--- Why the test is not for this device, or nil.
local function unfit(device, test)
  if test.needs and not device[test.needs] then return "the device has no " .. test.needs:gsub("^has_", "") end
  if not test.from then return nil end
  local major, minor = device.version:match "^OpenCL (%d+)%.(%d+)"
  if not major or tonumber(major) * 100 + tonumber(minor) < test.from[1] * 100 + test.from[2] then
    return ("needs OpenCL %d.%d"):format(test.from[1], test.from[2])
  end
end

--- The options of the build; what came with a later version of the language must be asked for.
local function build_options(device, test)
  local version = device:info().c_version:match "^OpenCL C ([2-9])%.%d"
  local asked = test.offered and version and (" -cl-std=CL%s.0"):format(version)
  return (test.options or "") .. (asked or "")
end

--- Nil when the values are those expected, else the first difference in words.
local function difference(values, test)
  for i, value in ipairs(values) do
    local expected = test.expected[(i - 1) % #test.expected + 1]
    if not (math.abs(value - expected) <= (test.within or 0) * math.abs(expected)) then
      return ("element %d is %s, not %s"):format(i, value, expected)
    end
  end
end

local verdicts = {} -- by test and device, of this state

local texts = {} -- names of the texts of kernels, by the kernels' names

local function read_source(path)
  local file <close> = assert(io.open(path))
  return file:read "a"
end

--- A name for the text of some kernels, of what they include and of the project's numbers for them: another version of
-- the library may have others.
local function text_of(kernels)
  if texts[kernels] then return texts[kernels] end
  local internal = require "clcompute.core.internal"
  local parts, paths = { read_source(assert(package.searchpath("clcompute.tuning.known", package.path))) }, {}
  for name in kernels:gmatch "%S+" do paths[#paths + 1] = name .. ".cl" end
  for _, path in ipairs(paths) do -- which grows
    if not paths[path] then
      paths[path] = true
      parts[#parts + 1] = read_source(internal.kernel_folder .. "/" .. path)
      for header in parts[#parts]:gmatch '#include "[^"]-([^/"]+)"' do paths[#paths + 1] = "clcompute/" .. header end
    end
  end
  texts[kernels] = internal.name_text(table.concat(parts))
  return texts[kernels]
end

--- What a verdict depends on.
function known_answer.key(device, test)
  local facts = table.concat({ device.platform, device.name, device.driver, device.version }, " | ")
  local name = test.kernels and ("%s [%s]"):format(test.name, text_of(test.kernels)) or test.name
  -- POCL's worker keeps builds of its own: what is judged in this process is not built there
  if test.kernels and device.isolated then name = name .. ", isolated" end
  return name .. "\t" .. facts:gsub("[\t\n]", " ")
end

--- Builds and launches; returns what `out` holds, or nil and the message of the failed build.
local function compute(device, test, held)
  if test.operation then return test.operation(device) end
  local built, program = pcall(device.program, device, test.source, { options = build_options(device, test) })
  if not built then return nil, program end
  held[1] = program
  held[2] = device:zeros(test.dtype, test.n)
  held[3] = program:kernel "test"(test.range, held[2], table.unpack(test.args))
  return held[2]:read()
end

--- compute(...) without an error, as if the verdict were good: an operation would ask for its own, which runs the
-- test again, and take another kernel than the one to be tested. The core forgets that it took this one.
local function compute_unjudged(device, test, held)
  local key = known_answer.key(device, test)
  local verdict = verdicts[key]
  local undone <close> = base.at_close(function() -- luacheck: no unused
    verdicts[key] = verdict
    if test.operation and not test.is_apart then require "clcompute.core.internal".forget_tuning() end
  end)
  verdicts[key] = "ok"
  return pcall(compute, device, test, held)
end

local running = false

--- Whether a test is being run, whose own source is to be built as it is.
function known_answer.is_running() return running end

--- pcall(compute, ...) while a test is running.
local function compute_running(...)
  local was_running = running
  local undone <close> = base.at_close(function() running = was_running end) -- luacheck: no unused
  running = true
  return compute_unjudged(...)
end

--- Runs a row of `compiler_tests` or `operation_tests` on a device.
-- @param device
-- @tparam table test
-- @treturn string "ok", "fault" or "skipped"
-- @treturn string|nil what was found
-- @treturn boolean whether the kernel ran, so that a fault is a wrong answer
function known_answer.run(device, test)
  local reason = unfit(device, test)
  if reason then return "skipped", reason, false end
  local held = {}
  local ran, values, message = compute_running(device, test, held)
  for _, object in pairs(held) do object:release() end
  if not ran then
    interrupt.pass_on(values)
    return "fault", tostring(values), false
  end
  if not values and test.offered then return "skipped", "the compiler does not offer " .. test.offered, false end
  if not values then return "fault", tostring(message), false end
  local wrong = difference(values, test)
  return wrong and "fault" or "ok", wrong, true
end

-- --- verdicts -----------------------------------------------------------------------------

local VERDICTS = { ok = true, fault = true }

--- The verdict that was kept last, by this user or for all users of the machine.
local function recall(files, key)
  for _, folder in ipairs(files.cache_folders()) do
    local found
    for line in files.read_own(folder .. "/verdicts"):gmatch "[^\n]+" do
      local verdict, about = line:match "^(%l+)\t(.*)$"
      if about == key and VERDICTS[verdict] then found = verdict end
    end
    if found then return found end
  end
end

--- Adds a line. What cannot be kept is found out again.
local function keep(files, key, verdict)
  local path = files.cache_folder() .. "/verdicts"
  files.make_folders(path)
  files.append_own(path, ("\n%s\t%s\n"):format(verdict, key)) -- a line that was cut off must not swallow this one
end

--- Runs the test: "ok", "fault" or "unknown". That is also the verdict where a kernel cannot be built, as by POCL where
-- there is no linker.
local function judge(device, test)
  device:wait() -- what failed before raises here, not in the test
  local status, _, ran = known_answer.run(device, test)
  return ran and status or "unknown"
end

--- Found in the file, or out.
local function find(device, test, key)
  local files = require "clcompute.files" -- which needs the C core: a test alone runs without
  local verdict, keeps = recall(files, key), files.cache_folder() ~= nil
  if verdict then return verdict end
  local lock <close> = keeps and require "clcompute.core.internal".lock(key) or nil -- luacheck: no unused
  verdict = recall(files, key) -- of another process, for which this one waited
  if not verdict then
    verdict = judge(device, test)
    if keeps and VERDICTS[verdict] then keep(files, key, verdict) end
  end
  return verdict
end

--- pcall(find, ...): the test runs at once, also while a script records the device's commands.
local function find_at_once(device, ...)
  local internal = require "clcompute.core.internal" -- which needs the C core too
  local notice <close> = internal.notice "trying this device's compiler, once" -- luacheck: no unused
  return internal.call_unrecorded(device, find, device, ...)
end

local LOOK_AGAIN = 0.2 -- seconds: another process may have kept a verdict
local looked = {} -- when, by test and device

--- The verdict that is known already, or nil.
function known_answer.kept_verdict(device, test)
  local key, now = known_answer.key(device, test), require "clcompute.core".clock()
  if not verdicts[key] and now - (looked[key] or -math.huge) > LOOK_AGAIN then
    verdicts[key], looked[key] = recall(require "clcompute.files", key), now
  end
  return verdicts[key]
end

--- What a device makes of a test; `clcompute.answers` says what it takes and returns.
function known_answer.verdict(device, test)
  local key = known_answer.key(device, test)
  if verdicts[key] then return verdicts[key] end
  local found, verdict = find_at_once(device, test, key)
  if not found then error(verdict, 0) end -- the next one asks again
  if verdict ~= "unknown" or not debug.gethook() then verdicts[key] = verdict end -- a hook may have ended the test
  return verdict
end

return known_answer
