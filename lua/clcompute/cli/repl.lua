-- SPDX-License-Identifier: MIT

--- `clcompute repl`: the prompt of the same interpreter, with the library and a device at hand.
-- @module clcompute.cli.repl

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
local CODE = "package.path = %q package.cpath = %q require 'clcompute.cli.session'.open(%q)"

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

return repl
