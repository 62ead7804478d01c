-- SPDX-License-Identifier: MIT
--- How a call is timed: the host's clock, the queues that a run waits for, and the library's profile, which tells where
-- a call spends its time. Where OpenCL's loader is missing, functions of the host are still measured: by the processor
-- time of this process.

local found, library = pcall(require, "clcompute")

local timing = {}

--- Seconds from an arbitrary start.
timing.now = found and library.clock or os.clock

--- The library, or nil where it does not load.
timing.library = found and library or nil

--- The current date and time, ISO 8601, UTC.
function timing.date()
  return os.date "!%Y-%m-%dT%H:%M:%SZ"
end

-- --- devices and their queues -----------------------------------------------------

--- Whether a value is a Device of this library.
function timing.is_device(value)
  local meta = type(value) == "userdata" and debug.getmetatable(value)
  return (meta and meta.__name) == "clcompute.Device"
end

local function join(devices, field)
  local texts = {}
  for i, device in ipairs(devices) do texts[i] = device[field] end
  return table.concat(texts, " + ")
end

--- Raises unless a table given as the option `device` is a list of Devices.
-- @string where begins messages: the function that was called
-- @param device of any type
function timing.check(where, device)
  if type(device) ~= "table" then return end
  for i, each in ipairs(device) do
    if not timing.is_device(each) then
      error(("%s: option 'device': element %d is no Device"):format(where, i), 0)
    end
  end
  for key in pairs(device) do
    if math.type(key) ~= "integer" or key > #device or device[1] == nil then
      error(("%s: option 'device': a list without holes expected"):format(where), 0)
    end
  end
  if #device == 0 then
    error(where .. ": option 'device': a Device or a list of them expected, got {}", 0)
  end
end

--- From the option `device`: a Device, a list of them, a name of what needs no waiting, or nil for every
-- device of this process.
-- It was checked (`timing.check`).
-- @treturn table `devices` to wait for, `name` and `driver` as far as known, `guess` when nothing was told
function timing.target(device)
  if type(device) == "string" then return { devices = {}, name = device } end
  if device == nil then
    return { devices = timing.library and timing.library.devices() or {}, guess = true }
  end
  local devices = timing.is_device(device) and { device } or device
  return { devices = devices, name = join(devices, "name"), driver = join(devices, "driver") }
end

--- Name and driver of every device of this process.
-- @treturn string
function timing.machine()
  local words = {}
  for i, device in ipairs(timing.library and timing.library.devices() or {}) do
    words[i] = device.name .. " " .. device.driver
  end
  return table.concat(words, " + ")
end

local function split(text)
  local parts = {}
  for part in (text .. " + "):gmatch "(.-) %+ " do parts[#parts + 1] = part end
  return parts
end

--- Whether devices of this name with this driver, both as in a row, are in this process.
function timing.is_here(name, driver)
  local here, names, drivers = {}, split(name or ""), split(driver)
  for _, device in ipairs(timing.library and timing.library.devices() or {}) do
    here[device.name .. "\0" .. device.driver] = true
  end
  for i, each in ipairs(names) do
    if not here[each .. "\0" .. tostring(drivers[i])] then return false end
  end
  return true
end

--- Where nothing was told, an Event or Buffer that the function returned tells its device.
function timing.learn(self, result)
  local meta = type(result) == "userdata" and debug.getmetatable(result)
  if not self.guess or not meta or not tostring(meta.__name):find "^clcompute%." then return end
  local ok, device = pcall(function() return result.device end)
  if not ok or not timing.is_device(device) then return end
  self.devices, self.guess = { device }, nil
  self.name, self.driver = device.name, device.driver
end

--- The one device that a peak can be measured on, or nil.
function timing.single(self)
  return not self.guess and #self.devices == 1 and self.devices[1] or nil
end

--- Blocks until the queues are empty.
function timing.wait(self)
  for _, device in ipairs(self.devices) do device:wait() end
end

--- Why it cannot run what needs "double" or "half", or nil.
function timing.lacks(self, need)
  if not need then return nil end
  for _, device in ipairs(self.devices) do
    if not device["has_" .. need] then return ("no %s on %s"):format(need, device.name) end
  end
end

-- --- the parts of a call --------------------------------------------------------

-- What each kind of row of `cl.profile()` counts as. Copies and fills within a device are its work, as kernels are.
local PARTS = { build = "compile", write = "upload", kernel = "kernel", copy = "kernel", fill = "kernel",
  read = "download" }

--- Whether this library profiles, and its user neither does nor has rows left, which must not be cleared.
local function is_free(cl)
  local rows = cl and cl.profile and cl.profile()
  return rows ~= nil and #rows == 0 and not rows.on
end

--- Stops profiling and leaves no rows of ours behind.
local function stop(cl)
  cl.profile(false)
  cl.profile(true) -- clears
  cl.profile(false)
end

local function sum_parts(rows)
  if #rows == 0 then return nil end
  local seconds = { compile = 0, upload = 0, kernel = 0, download = 0 }
  for _, row in ipairs(rows) do
    local part = PARTS[row.kind]
    if part then seconds[part] = seconds[part] + row.total end
  end
  return seconds
end

--- Ends a profile once: as its scope ends, as a coroutine that f yielded from is closed, or else as it is collected.
local Guard = {}

function Guard.__close(self)
  local cl = self.cl
  self.cl = nil
  if cl then stop(cl) end
end
Guard.__gc = Guard.__close

--- Calls f(...) while profiling.
-- @treturn table|nil seconds of `compile`, `upload`, `kernel`, `download`; nil where that cannot be
--  known: without OpenCL, while the script itself profiles or has rows that it did not clear, or when f did nothing
--  that the profile sees
-- @return what f returned
-- @raise what f raises, or a command that failed; profiling is off again then. After f yielded in a coroutine that
--  nobody resumes it is off when that is closed or collected
function timing.split(f, ...)
  local cl = timing.library
  if not is_free(cl) then return nil, f(...) end
  local guard <close> = setmetatable({ cl = cl }, Guard) -- luacheck: ignore 211
  cl.profile(true)
  local results = table.pack(f(...))
  local rows = cl.profile() -- waits, so it may raise too
  return sum_parts(rows), table.unpack(results, 1, results.n)
end

return timing
