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
    "sudo clcompute warm --system    # for all users of the machine, in /var/cache/clcompute",
  },
}

--- Adds the options.
function warm.configure(parser)
  parser:option("--device", "Device to build for: gpu, cpu, accelerator, part of its name, or 0:1.")
    :argname "<selector>"
  parser:flag("--system", "Keep it for all users of the machine, in /var/cache/clcompute or $CLCOMPUTE_SYSTEM_CACHE; "
    .. "for root.")
end

--- Raises where nothing could be kept.
local function check_folder(is_for_all)
  local files = require "clcompute.files"
  local folder = files.cache_folder()
  local variable = is_for_all and "CLCOMPUTE_SYSTEM_CACHE" or "CLCOMPUTE_CACHE"
  if not folder then
    error(("nothing is kept here: %s is off%s"):format(variable, is_for_all and "" or ", or there is no HOME"), 0)
  end
  local path = folder .. "/verdicts"
  files.make_folders(path)
  local file, fault = io.open(path, "ab")
  if not file then error(("nothing is kept: %s; set %s to another folder"):format(fault, variable), 0) end
  file:close()
  if #files.cache_folders() == 0 then
    error(("nobody would read %s, as others may write to it; chown root, chmod go-w"):format(folder), 0)
  end
end

--- Runs the command.
function warm.run(options)
  local device, clock = command_line.device(options.device), command_line.library().clock
  require("clcompute.core.internal").fills_for_all = options.system
  check_folder(options.system)
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
