-- SPDX-License-Identifier: MIT

--- `clcompute warm`: builds and judges what operations take on a device, before scripts need it.

local command_line = require "clcompute.cli.command_line"
local output = require "clcompute.cli.output"
local process = require("clcompute.base").process

local warm = {
  name = "warm",
  description = "Build and judge the kernels of all operations for a device, before a script needs them: for "
    .. "an image of a container, or a home that the nodes of a cluster share.",
  examples = {
    "clcompute warm                  # the device that scripts take",
    "clcompute warm --isolated       # for `clcompute repl` and `run`, whose CPU is isolated",
    "clcompute warm --device cpu --only gemm",
    "sudo clcompute warm --system    # for all users of the machine, in /var/cache/clcompute",
  },
}

--- Adds the options.
function warm.configure(parser)
  parser:option("--device", "Device to build for: gpu, cpu, accelerator, part of its name, or 0:1.")
    :argname "<selector>"
  parser:flag("--isolated", "Build for the CPU of `clcompute repl` and `run`, which keeps further builds and "
    .. "verdicts for itself.")
  parser:option("--only", "Build what has this in its name alone: an operation, a dtype.", "")
    :argname "<name>"
  parser:flag("--system", "Keep it for all users of the machine, in /var/cache/clcompute or $CLCOMPUTE_SYSTEM_CACHE; "
    .. "for root.")
end

--- The folder; raises where nothing could be kept.
local function check_folder(is_for_all)
  local files = require "clcompute.files"
  local folder = files.cache_folder()
  local variable = is_for_all and "CLCOMPUTE_SYSTEM_CACHE" or "CLCOMPUTE_CACHE"
  if not folder then
    error(("nothing is kept here: %s is off%s"):format(variable, is_for_all and "" or ", or there is no HOME"), 0)
  end
  local path = folder .. "/verdicts"
  files.make_folders(path)
  if not files.append_own(path, "") then
    error(("nothing is kept: %s: no file of yours to write to; set %s to another folder"):format(path, variable), 0)
  end
  if #files.cache_folders() == 0 then
    error(("nobody would read %s, as others may write to it; chown root, chmod go-w"):format(folder), 0)
  end
  return folder
end

--- The programs in a folder with the blocks that each takes: those that POCL alone keeps take none here.
local function programs_of(folder)
  local list = {}
  for line in process.tool(("cd %s && ls -s1"):format(process.quote(folder))):gmatch "%d+ %x+%.bin" do
    list[line] = true
  end
  return list
end

--- How many programs of a folder are not among those that were there.
local function count_new(folder, before)
  local count = 0
  for line in pairs(programs_of(folder)) do count = count + (before[line] and 0 or 1) end
  return count
end

--- The device to build for; nil: the prompt has that of scripts.
local function device_of(options)
  local device = command_line.device(options.device)
  if not options.isolated then return device end
  return device.type == "cpu" and command_line.device(device.place, { isolated = true }) or nil
end

--- Runs the command.
function warm.run(options)
  local device = device_of(options)
  if not device then
    output.print "no processor serves the prompt: `clcompute warm` builds all for it"
    return 0
  end
  require("clcompute.core.internal").fills_for_all = options.system
  local clock, folder = command_line.library().clock, check_folder(options.system)
  local show <close> = output.progress()
  local start, before = clock(), programs_of(folder)
  local rows = require("clcompute.warm").build(device, options.only, function(name, done, weights)
    show { name = name, done = done, weights = weights }
  end)
  show:close()
  if rows == 0 then error(("nothing has '%s' in its name"):format(options.only), 0) end
  local text = ("%s: all is built, in %.1f s"):format(device.name, clock() - start)
  if not device.isolated then -- what is built there its driver alone keeps
    text = ("%s; %d programs were added to the cache"):format(text, count_new(folder, before))
  end
  output.print(text)
  return 0
end

return warm
