-- SPDX-License-Identifier: MIT

--- `clcompute help`: the help of the command, of one of its commands, or what the reference says of a name.

local command_line = require "clcompute.cli.command_line"
local output = require "clcompute.cli.output"
local terminal = require "clcompute.cli.terminal"

local topic = {
  name = "help",
  description = "Show the help of a command, or what the reference says of a name, as help does at the prompt.",
  examples = {
    "clcompute help                  # as clcompute --help",
    "clcompute help bench            # as clcompute bench --help",
    "clcompute help gemm             # the function; clcompute.bench is the module",
    "clcompute help --names          # all names of the library",
  },
}

local WIDTH = 80 -- where there is no terminal

--- Adds the argument.
function topic.configure(parser)
  parser:argument("topic", "A command, or a name of the library or of a part of it."):argname "<topic>":args "?"
  parser:flag("--names", "List all names of the library.")
end

--- The parser of that command, that of all without a name.
local function find_parser(root, name)
  if not name then return root end
  for _, command in ipairs(root._commands) do
    if command._name == name then return command end
  end
end

--- Runs the command.
function topic.run(options, parser)
  local found = not options.names and find_parser(parser, options.topic)
  if found then
    output.print(command_line.help_of(found))
    return 0
  end
  command_line.library() -- for the prompt
  local name = not options.names and options.topic or nil
  local text, is_known = require("clcompute.prompt").help(name, terminal.width(WIDTH))
  if is_known then
    output.print(text)
    return 0
  end
  text = text:gsub('help "name"', "clcompute help name"):gsub("help%(%)", "clcompute help --names")
  io.stderr:write("clcompute: ", text, "\n")
  return 1
end

return topic
