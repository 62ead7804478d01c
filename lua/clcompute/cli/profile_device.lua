-- SPDX-License-Identifier: MIT

--- `clcompute profile-device`: how a device executes, measured and explained.

local command_line = require "clcompute.cli.command_line"
local output = require "clcompute.cli.output"
local write_file = require("clcompute.base").write_file

local profile_device = {
  name = "profile-device",
  description = "Measure how a device executes: wavefronts, latency, memory, launches, peaks; each curve is explained.",
  examples = {
    "clcompute profile-device --html device.html   # all of it, within two minutes",
    "clcompute profile-device --only divergence,long_loop",
    "clcompute profile-device --device gpu --rows kept",
  },
}

--- Adds the options.
function profile_device.configure(parser)
  parser:option("--only", "Only these experiments, with commas."):argname "<name,..>":convert(command_line.names)
  parser:option("--rows", "Keep what is measured in this folder, as device_profile.jsonl."):argname "<folder>"
  output.configure(parser)
end

--- The rows of all experiments, each with the title of its own.
local function rows_of(document)
  local rows = {}
  for _, section in ipairs(document.sections) do
    for _, row in ipairs(section.rows) do
      local copy = { section = section.title }
      for key, value in pairs(row) do copy[key] = value end
      rows[#rows + 1] = copy
    end
  end
  return rows
end

--- Runs the command.
function profile_device.run(options)
  output.check(options)
  local device = command_line.device(options.device)
  local show <close> = output.progress()
  local module = require "clcompute.device_profile"
  local profile = module.measure(device, { only = options.only, progress = function(event) show(event) end })
  local document = module.document(profile)
  show:close()
  if options.rows then
    write_file(options.rows .. "/device_profile.jsonl", require "clcompute.report".jsonl(rows_of(document)))
  end
  return output.document(document, options)
end

return profile_device
