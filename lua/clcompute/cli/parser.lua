-- SPDX-License-Identifier: MIT

--- From a list of commands and the words of a command line to what is asked for. Debian's lua-argparse does the
-- work; what it would print itself, ending the process, is a result here.
-- @module clcompute.cli.parser

local need = require "clcompute.cli.need"
local version = require("clcompute.base").version

local parser = {}

local DESCRIPTION = "OpenCL compute for Lua: what devices there are, what is wrong with them, and a prompt."
local WIDTH = 80 -- of help

--- Raised by a callback of argparse to end the parsing with a result.
local Stop = {}

local function stop(result)
  error(setmetatable(result, Stop), 0)
end

--- The result for a command line that is wrong.
local function misuse(name, message)
  return { misuse = ("%s; see `%s --help`"):format(message, name) }
end

local function add_help(of)
  of:add_help { action = function() stop { text = of:get_help() } end, description = "Show this help." }
  of:help_max_width(WIDTH)
end

local function add_command(root, command)
  local added = root:command(command.name, command.description)
  command.configure(added)
  added:epilog("Examples:\n  " .. table.concat(command.examples, "\n  "))
  add_help(added)
  return added
end

--- The argparse parser of all commands.
local function new(commands)
  local root = need.module("argparse", "lua-argparse")("clcompute", DESCRIPTION)
  local names = { [root] = "clcompute" }
  local examples = {}
  root:command_target "command"
  root:flag("--version", "Show the version."):action(function() stop { text = version } end)
  for _, command in ipairs(commands) do
    names[add_command(root, command)] = "clcompute " .. command.name
    examples[#examples + 1] = "  " .. command.examples[1]
  end
  root:epilog("Examples:\n" .. table.concat(examples, "\n"))
  add_help(root)
  function root.error(at, message)
    stop(misuse(names[at], message))
  end
  return root
end

--- The words with a number below 0 joined to the option before it, since argparse takes "-3" for an option.
local function joined(arguments)
  local words = {}
  for i, word in ipairs(arguments) do
    local before = words[#words]
    if i > 1 and word:find "^%-%.?%d" and before:find "^%-%-%a" and not before:find("=", 1, true) then
      words[#words] = before .. "=" .. word
    else
      words[#words + 1] = word
    end
  end
  return words
end

--- Parses a command line.
-- @tparam table commands as clcompute.cli describes them
-- @tparam table arguments a list of words
-- @treturn table { command=, options= } to run, { text= } to print, or { misuse= } to complain of
function parser.parse(commands, arguments)
  local root = new(commands)
  local ok, result = pcall(root.parse, root, joined(arguments))
  if not ok then
    if getmetatable(result) == Stop then return result end
    error(result, 0)
  end
  for _, command in ipairs(commands) do
    if command.name == result.command then
      local wrong = command.misuse and command.misuse(result)
      if wrong then return misuse("clcompute " .. command.name, wrong) end
      return { command = command, options = result }
    end
  end
end

return parser
