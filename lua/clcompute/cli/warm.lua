-- SPDX-License-Identifier: MIT

--- `clcompute warm`: builds and judges what operations take on a device, before scripts need it.

local command_line = require "clcompute.cli.command_line"
local output = require "clcompute.cli.output"

local warm = {
  name = "warm",
  description = "Build and judge the kernels of all operations for a device, before a script needs them: for "
    .. "an image of a container, or a home that the nodes of a cluster share.",
  examples = {
    "clcompute warm                  # the device that scripts take",
    "clcompute warm --device cpu",
  },
}

--- Adds the options.
function warm.configure(parser)
  parser:option("--device", "Device to build for: gpu, cpu, accelerator, part of its name, or 0:1.")
    :argname "<selector>"
end

--- Raises where nothing could be kept.
local function check_folder()
  local files = require "clcompute.files"
  local folder = files.cache_folder()
  if not folder then error("nothing is kept here: CLCOMPUTE_CACHE is off, or there is no HOME", 0) end
  local path = folder .. "/verdicts"
  files.make_folders(path)
  local file, fault = io.open(path, "ab")
  if not file then error(("nothing is kept: %s; set CLCOMPUTE_CACHE to another folder"):format(fault), 0) end
  file:close()
end

--- Runs the command.
function warm.run(options)
  local device, clock = command_line.device(options.device), command_line.library().clock
  check_folder()
  local show <close> = output.progress()
  local start = clock()
  local count = require("clcompute.warm").build(device, function(name, done, total)
    if name then show { name = name, done = done, total = total } end
  end)
  show:close()
  output.print(("%s: %d groups of kernels are built, in %.1f s\n"):format(device.name, count, clock() - start))
  return 0
end

return warm
