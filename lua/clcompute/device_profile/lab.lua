-- SPDX-License-Identifier: MIT

--- What an experiment works with: the device, its kernels, data, the clock, and what earlier experiments found.

local bench = require "clcompute.bench"
local curve = require "clcompute.device_profile.curve"
local at_close = require("clcompute.base").at_close
local interrupt = require("clcompute.base").interrupt
local options = require("clcompute.base").options

local Lab = {}
Lab.__index = Lab

local RUNS = 7 -- of a point, so that one or two pauses of the machine do not move its median
local TRIALS = 3 -- of a size: one could meet a pause of the machine and seem long enough
local QUICK_RUNS, QUICK_SECONDS = 1, 1e-4
local ITEMS = 1 << 14      -- work-items that fill a compute unit of a GPU several times over
local CPU_GROUPS = 8       -- groups for each core of a processor, that runs one after the other

local POINT = { name = "string", params = "table", launch = "function", check = "function", bytes = "number",
  flops = "number", operations = "number" }
local WALL = options.merge(POINT, { run = "function" })
WALL.launch = nil

--- For `reset`: a run is one call.
local function one_a_run() end

--- @tparam Device device
-- @tparam table settings `seconds` of a point, about; `quick`: least sizes and one run, for simulators; `progress`
-- @treturn table with the fields `device`, `seconds`, `quick`, and `found`, the facts of earlier experiments
function Lab.new(device, settings)
  return setmetatable({ device = device, quick = settings.quick or false, found = {}, progress = settings.progress,
    seconds = settings.quick and QUICK_SECONDS or settings.seconds }, Lab)
end

--- The same lab with a share of the time for each point: for curves of many points.
-- @number share
-- @treturn table
function Lab:brief(share)
  return setmetatable({ seconds = self.seconds * share }, { __index = self })
end

--- A prebuilt kernel of the device.
function Lab:kernel(name, defines, dtype)
  return self.device:kernel(name, { defines = defines, dtype = dtype })
end

--- One of two: for a real measurement, and for a quick one.
function Lab:choose(full, quick)
  if self.quick then return quick end
  return full
end

--- Work-items, a multiple of the group, that keep every compute unit busy several times over.
function Lab:items(group)
  local device = self.device
  if self.quick then return 2 * group end
  local groups = device.type == "cpu" and CPU_GROUPS or math.max(1, ITEMS // group)
  return group * groups * device.compute_units
end

--- Doubles a size from `least` until launch(size) lasts as long as a run of a point should, or `most` is reached:
-- small work would measure the launch, and a simulator could not do the large. `least` where all is quick.
-- @treturn integer
-- @raise why a launch failed
function Lab:size(least, most, launch)
  local size = least
  while not self.quick and size < most do
    local row = bench.measure(function() launch(size) end, { device = self.device, rounds = TRIALS, peak = false,
      split = false, reset = one_a_run })
    if row.status ~= "ok" then error(row.reason, 0) end
    if row.min >= self.seconds / RUNS then break end
    size = math.min(2 * size, most)
  end
  return size
end

-- --- data -----------------------------------------------------------------------

local CACHES = 4 -- times the cache
local LARGE = { cpu = 1 << 26, gpu = 1 << 31 } -- the caches of a GPU hold more than its driver tells
local SHARE = 16 -- of the memory

--- Bytes, a power of two, of a buffer whose reads come from memory, not from a cache; as far as the device allows them.
-- @treturn integer
function Lab:beyond_caches()
  local device = self.device
  local wanted = math.max(CACHES * device.cache, LARGE[device.type] or LARGE.gpu)
  local most = math.min(device.max_allocation // 2, device.global_memory // SHARE)
  local bytes = 4096
  while bytes < wanted and 2 * bytes <= most do bytes = 2 * bytes end
  return bytes
end

local PERIOD, SEED = 1 << 14, 5 -- words

--- A buffer of random words, which repeat after a while: what lies at any place is known without being read back.
-- @tparam integer n words, a power of two
-- @treturn Buffer of uint
-- @treturn function word(i), the word at i, counted from 0
function Lab:random_words(n)
  local device, period = self.device, math.min(n, PERIOD)
  local part <close> = device:random("uint", period, { seed = SEED, high = 0xffffffff })
  local buffer, words, filled = device:empty("uint", n), part:read(), period
  buffer:write(part)
  while filled < n do
    buffer:write(buffer:view(1, filled), filled + 1)
    filled = 2 * filled
  end
  return buffer, function(i) return words[(i & period - 1) + 1] end
end

-- --- rows -----------------------------------------------------------------------

--- Adds what an operation takes, by the median launch.
local function finish(row, given)
  local time = curve.time(row)
  row.operations = given.operations
  if given.operations and time then
    row.each, row.per_second = time / given.operations, given.operations / time
  end
  return row
end

local function candidate(self, given, fn, timed)
  local check = given.check
  return { fn = fn, name = given.name, params = given.params, device = self.device, timed = timed, bytes = given.bytes,
    flops = given.flops, check = check and function() return check() end }
end

--- A candidate whose time is that of a launch on the device's own clock.
local function launched(self, given)
  options.check("time", given, POINT)
  return candidate(self, given, function()
    local event = given.launch()
    return event.seconds, event
  end, true)
end

--- Measures candidates in turns, so that all meet the same moods of the machine.
local function measure(self, list, candidates, runs)
  if self.progress then self.progress(list[1].name) end
  local rows = bench.compare(candidates, { seconds = self.seconds, peak = false,
    rounds = self.quick and QUICK_RUNS or runs or RUNS })
  for i, row in ipairs(rows) do finish(row, list[i]) end
  return rows
end

--- Measures launches on the device's own clock, which it keeps meanwhile.
local function measure_launches(self, list)
  local candidates, timing = {}, self.device:timing()
  local restored <close> = at_close(function() self.device:timing(timing) end) -- luacheck: no unused
  self.device:timing(true)
  for i, given in ipairs(list) do candidates[i] = launched(self, given) end
  return measure(self, list, candidates)
end

--- The time of a launch on the device's own clock, as a row of `clcompute.bench`: for launches that are long.
-- @tparam table given `name`; `params`; `launch`, which returns an Event; `check`, as `clcompute.bench` has it;
--  `bytes`, `flops`; `operations`, by which the row also has `each`, seconds, and `per_second`
-- @treturn table the row; what fails is one too
function Lab:time(given)
  return measure_launches(self, { given })[1]
end

--- The same of all points of a curve, measured in turns.
-- @tparam table list of what `time` takes, at least one
-- @treturn table rows
function Lab:times(list)
  return measure_launches(self, list)
end

--- The time of anything by the host's clock; the queue is empty before and after.
-- @tparam table given as for `time`, with `run` instead of `launch`
-- @treturn table the row
function Lab:wall(given)
  return self:walls({ given })[1]
end

--- The same of all points of a curve, measured in turns.
-- @tparam table list of what `wall` takes, at least one
-- @tparam ?integer runs of each, where the usual number would take too long
-- @treturn table rows
function Lab:walls(list, runs)
  local candidates = {}
  for i, given in ipairs(list) do
    options.check("wall", given, WALL)
    candidates[i] = candidate(self, given, given.run)
  end
  return measure(self, list, candidates, runs)
end

--- Calls f(...), which makes a row; what it raises becomes one that says so. Ctrl-C goes on.
-- @tparam table identity `name` and `params` of the row
-- @tparam function f
-- @param ... its arguments
-- @treturn table the row
function Lab:try(identity, f, ...)
  local ok, result = pcall(f, ...)
  if ok then return result end
  interrupt.pass_on(result)
  return { name = identity.name, params = identity.params or {}, device = self.device.name, unit = "s",
    status = "failed", reason = interrupt.text(result) }
end

return Lab
