-- SPDX-License-Identifier: MIT

--- `clcompute info`: platforms and devices, or all properties of one device.

local command_line = require "clcompute.cli.command_line"
local output = require "clcompute.cli.output"

local info = {
  name = "info",
  description = "Show the platforms and devices of this machine.",
  examples = {
    "clcompute info                  # every device, a line each",
    "clcompute info --device gpu     # all properties of the GPU",
    "clcompute info --device 0:1 --json",
  },
}

--- A column of whole numbers.
local function count(key, title, detail)
  return { key = key, title = title, detail = detail, format = "%d", align = "right" }
end

local DEVICE = {
  { key = "place", title = "device" }, { key = "type" }, count "units", count("clock", "MHz"),
  count("memory", "memory MiB"), count("near", "local KiB", true), count "group", count("multiple", nil, true),
  { key = "double" }, { key = "half" }, { key = "device", title = "name" },
}

local PLATFORM = { { key = "place", title = "platform" }, { key = "name" }, { key = "vendor", detail = true },
  { key = "version" } }

--- All properties of a device and where it is, as a plain table.
local function describe(device)
  local facts = device:info()
  facts.place = device.place
  return facts
end

--- The same of all, by platform.
local function survey()
  local platforms = {}
  for p, platform in ipairs(command_line.library().platforms()) do
    local devices = {}
    for i, device in ipairs(platform.devices) do devices[i] = describe(device) end
    platforms[p] = { name = platform.name, vendor = platform.vendor, version = platform.version, devices = devices }
  end
  return platforms
end

local function platform_rows(platforms)
  local rows = {}
  for p, platform in ipairs(platforms) do
    rows[p] = { place = tostring(p - 1), name = platform.name, vendor = platform.vendor, version = platform.version }
  end
  return rows
end

local function device_rows(platforms)
  local rows = {}
  for _, platform in ipairs(platforms) do
    for _, d in ipairs(platform.devices) do
      rows[#rows + 1] = { place = d.place, type = d.type, units = d.compute_units, clock = d.clock_mhz,
        memory = d.global_memory // 2 ^ 20, near = d.local_memory // 2 ^ 10, group = d.max_group_size,
        multiple = d.group_multiple, double = d.has_double, half = d.has_half, device = d.name }
    end
  end
  return rows
end

local function format_properties(facts)
  local rows = {}
  for name, value in pairs(facts) do
    local text = type(value) == "table" and table.concat(value, " x ") or tostring(value)
    rows[#rows + 1] = { property = name, value = text }
  end
  table.sort(rows, function(a, b) return a.property < b.property end)
  return output.table({ { key = "property" }, { key = "value", wrap = true } }, rows)
end

local function show_one(options)
  local facts = describe(command_line.device(options.device))
  output.print(options.json and output.json(facts) or format_properties(facts))
  return 0
end

local function show_all(options)
  local platforms = survey()
  if options.json then
    output.print(output.json(platforms))
  elseif #platforms > 0 then
    output.print(output.table(PLATFORM, platform_rows(platforms)) .. "\n")
    output.print(output.table(DEVICE, device_rows(platforms)))
  end
  if #platforms == 0 then error("no OpenCL platform; `clcompute doctor` says what to install", 0) end
  return 0
end

--- Adds the options.
function info.configure(parser)
  parser:option("--device", "All properties of this device: gpu, cpu, accelerator, part of its name, or 0:1.")
    :argname "<selector>"
  parser:flag("--json", "Print JSON.")
end

--- Runs the command.
function info.run(options)
  return options.device and show_one(options) or show_all(options)
end

return info
