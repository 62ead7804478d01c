-- SPDX-License-Identifier: MIT

--- `clcompute repl`: the prompt of the same interpreter, with the library and a device at hand.

local command_line = require "clcompute.cli.command_line"
local output = require "clcompute.cli.output"
local process = require("clcompute.base").process

local repl = {
  name = "repl",
  description = "Start Lua with cl (the library) and d (a device) set. Warnings are on. A CPU is isolated: "
    .. "a kernel that crashes or does not end is an error, and Ctrl-C ends it.",
  examples = {
    "clcompute repl                  # d is the best device",
    "clcompute repl --device cpu",
    "echo 'print(d.name)' | clcompute repl",
  },
}

-- The paths travel along: a wrapper of LuaRocks sets them in the process, not in the environment.
local CODE = "package.path = %q package.cpath = %q require 'clcompute.cli.repl'.open(%q)"

--- Adds the options.
function repl.configure(parser)
  parser:option("--device", "The device of d: gpu, cpu, accelerator, part of its name, or 0:1.")
    :argname "<selector>"
end

--- Runs the command: its exit code is the interpreter's. Ctrl-C meanwhile is the interpreter's alone.
function repl.run(options)
  local lua = process.interpreter()
  if not lua then error("no Lua interpreter in PATH", 0) end
  local code = CODE:format(package.path, package.cpath, options.device)
  local _, kind, status = os.execute(("exec %s -i -e %s"):format(process.quote(lua), process.quote(code)))
  return kind == "signal" and 128 + status or status
end

-- --- in the interpreter ---------------------------------------------------------

--- No kernel is to end the session: CPUs that `cl.device` gives are isolated, unless told otherwise.
local function isolate_cpus(library)
  local device = library.device
  function library.device(selector, options)
    local is_told = options and (type(options) ~= "table" or options.isolated ~= nil)
    local ok, found = pcall(device, selector, is_told and options or nil)
    if not ok then error(found, 2) end
    if is_told or found.type ~= "cpu" then return options and device(found.place, options) or found end
    local isolated = { isolated = true }
    for key, value in pairs(options or {}) do isolated[key] = value end
    return device(found.place, isolated)
  end
end

--- Sets the globals `cl` and `d` before the first prompt, turns warnings on, and says so. Without a device `d` stays
-- nil; without the library the process ends.
-- @tparam[opt] string selector as for `cl.device`
function repl.open(selector)
  local loaded, library = pcall(command_line.library)
  if not loaded then
    output.complain(library)
    os.exit(1)
  end
  _G.cl = library
  isolate_cpus(library)
  warn "@on"
  local found, device = pcall(command_line.device, selector)
  if found then
    _G.d = device
    print(("%s: cl is the library, d is %s"):format(library._VERSION, tostring(device)))
  else
    print(("%s: cl is the library, d is nil: %s"):format(library._VERSION, device))
  end
end

return repl
