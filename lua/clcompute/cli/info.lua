-- SPDX-License-Identifier: MIT

--- `clcompute info`: platforms and devices, or all properties of one device.

local columns = require("clcompute.base").columns
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

--- The facts of a line, by title.
local FACTS = {
  { "device", function(d) return d.place end },
  { "type", function(d) return d.type end },
  { "units", function(d) return d.compute_units end },
  { "MHz", function(d) return d.clock_mhz end },
  { "memory MiB", function(d) return d.global_memory // 2 ^ 20 | 0 end },
  { "local KiB", function(d) return d.local_memory // 2 ^ 10 | 0 end },
  { "group", function(d) return d.max_group_size end },
  { "multiple", function(d) return d.group_multiple end },
  { "double", function(d) return d.has_double and "yes" or "no" end },
  { "half", function(d) return d.has_half and "yes" or "no" end },
  { "name", function(d) return d.name end },
}

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

local function format_platforms(platforms)
  local rows = {}
  for p, platform in ipairs(platforms) do
    rows[p] = { tostring(p - 1), platform.name, platform.vendor, platform.version }
  end
  return columns.format({ "platform", "name", "vendor", "version" }, rows)
end

local function format_devices(platforms)
  local header, rows = {}, {}
  for i, fact in ipairs(FACTS) do header[i] = fact[1] end
  for _, platform in ipairs(platforms) do
    for _, device in ipairs(platform.devices) do
      local row = {}
      for i, fact in ipairs(FACTS) do row[i] = fact[2](device) end
      rows[#rows + 1] = row
    end
  end
  return columns.format(header, rows)
end

local function format_properties(facts)
  local rows = {}
  for name, value in pairs(facts) do
    rows[#rows + 1] = { name, type(value) == "table" and table.concat(value, " x ") or tostring(value) }
  end
  table.sort(rows, function(a, b) return a[1] < b[1] end)
  return columns.format({ "property", "value" }, rows)
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
    output.print(format_platforms(platforms) .. "\n\n" .. format_devices(platforms))
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
