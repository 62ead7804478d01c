-- SPDX-License-Identifier: MIT
--- The queues that the runs of a candidate wait for: its devices, and their names.
-- @module clcompute.bench.queues

local clock = require "clcompute.bench.clock"

local queues = {}

--- Whether a value is a Device of this library.
function queues.is_device(value)
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
function queues.check(where, device)
  if type(device) ~= "table" then return end
  for i, each in ipairs(device) do
    if not queues.is_device(each) then
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
-- It was checked (`queues.check`).
-- @treturn table `devices` to wait for, `name` and `driver` as far as known, `guess` when nothing was told
function queues.of(device)
  if type(device) == "string" then return { devices = {}, name = device } end
  if device == nil then
    return { devices = clock.library and clock.library.devices() or {}, guess = true }
  end
  local devices = queues.is_device(device) and { device } or device
  return { devices = devices, name = join(devices, "name"), driver = join(devices, "driver") }
end

--- Name and driver of every device of this process.
-- @treturn string
function queues.machine()
  local words = {}
  for i, device in ipairs(clock.library and clock.library.devices() or {}) do
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
function queues.is_here(name, driver)
  local here, names, drivers = {}, split(name or ""), split(driver)
  for _, device in ipairs(clock.library and clock.library.devices() or {}) do
    here[device.name .. "\0" .. device.driver] = true
  end
  for i, each in ipairs(names) do
    if not here[each .. "\0" .. tostring(drivers[i])] then return false end
  end
  return true
end

--- Where nothing was told, an Event or Buffer that the function returned tells its device.
function queues.learn(self, result)
  local meta = type(result) == "userdata" and debug.getmetatable(result)
  if not self.guess or not meta or not tostring(meta.__name):find "^clcompute%." then return end
  local ok, device = pcall(function() return result.device end)
  if not ok or not queues.is_device(device) then return end
  self.devices, self.guess = { device }, nil
  self.name, self.driver = device.name, device.driver
end

--- The one device that a peak can be measured on, or nil.
function queues.single(self)
  return not self.guess and #self.devices == 1 and self.devices[1] or nil
end

--- Blocks until the queues are empty.
function queues.wait(self)
  for _, device in ipairs(self.devices) do device:wait() end
end

--- Why it cannot run what needs "double" or "half", or nil.
function queues.lacks(self, need)
  if not need then return nil end
  for _, device in ipairs(self.devices) do
    if not device["has_" .. need] then return ("no %s on %s"):format(need, device.name) end
  end
end

return queues
