-- SPDX-License-Identifier: MIT

--- `clcompute run`: a script, as safe as at the prompt.

local command_line = require "clcompute.cli.command_line"
local interrupt = require("clcompute.base").interrupt

local run = {
  name = "run",
  passes_on = true, -- what stands behind the file is the script's
  description = "Run a script of Lua on isolated CPUs and in check mode: a kernel that crashes, does not end or writes "
    .. "outside its buffers is an error.",
  examples = {
    "clcompute run life.lua 64 64    # the script's arguments come behind it",
    "generate | clcompute run -      # a script from standard input",
  },
}

--- Adds the options.
function run.configure(parser)
  parser:argument("file", "The script; - is standard input."):argname "<file>"
  parser:argument("arguments", "The script's, as they are."):argname "<argument>":args "*"
end

--- Runs the command.
function run.run(options)
  local library = command_line.library()
  local prompt = require "clcompute.prompt"
  prompt.guard(library)
  warn "@on"
  local script, message = loadfile(options.file ~= "-" and options.file or nil)
  if not script then error(message, 0) end
  _G.arg = table.move(options.passed_on, 1, #options.passed_on, 1, { [0] = options.file })
  local ok, reason = xpcall(script, function(raised)
    return interrupt.is(raised) and raised or prompt.fault(raised, debug.traceback("", 2))
  end, table.unpack(options.passed_on))
  if ok then return 0 end
  if interrupt.is(reason) then
    prompt.say_what_runs()
    error(reason, 0)
  end
  io.stderr:write("clcompute: ", reason, "\n")
  return 1
end

return run
