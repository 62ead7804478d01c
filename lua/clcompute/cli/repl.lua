-- SPDX-License-Identifier: MIT

--- `clcompute repl`: a prompt with the library and a device at hand.

local command_line = require "clcompute.cli.command_line"
local output = require "clcompute.cli.output"

local repl = {
  name = "repl",
  description = "Start a prompt with cl (the library), d (a device) and help set. A CPU is isolated and check mode is "
    .. "on: a kernel that crashes, does not end or writes outside its buffers is an error. Ctrl-C ends what computes. "
    .. "From a pipe it prints results alone and ends with the first error.",
  examples = {
    "clcompute repl                  # d is the best device",
    "clcompute repl --device cpu",
    "echo 'cl.sum(d:buffer { 1, 2 })' | clcompute repl",
  },
}

--- Adds the options.
function repl.configure(parser)
  parser:option("--device", "The device of d: gpu, cpu, accelerator, part of its name, or 0:1.")
    :argname "<selector>"
end

--- Sets the globals; returns what to greet with. Without a device `d` is nil, and standard error says why.
local function set_globals(library, selector)
  _G.cl = library
  local found, device = pcall(command_line.device, selector)
  if found then _G.d = device else output.complain("d is nil: " .. device) end
  return ("%s: cl is the library, d is %s; help() tells more"):format(library._VERSION, tostring(_G.d))
end

--- Runs the command.
function repl.run(options)
  local library = command_line.library()
  local prompt = require "clcompute.prompt"
  prompt.guard(library)
  warn "@on"
  return prompt.run(set_globals(library, options.device)) and 0 or 1
end

return repl
