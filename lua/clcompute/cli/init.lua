-- SPDX-License-Identifier: MIT

--- The command `clcompute`: chooses the command's file, runs it, and turns what happens into an exit code.
--
-- A command is a file that returns a table with `name`, `description`, `examples` (a list of lines),
-- `configure(parser)`, which adds its options to an argparse command, and `run(options, parser)`, which is given the
-- parser of all commands too and returns the exit code; it raises what ends it with code 1. It may have
-- `misuse(options)`, which returns what is wrong with options that do not go together, or nil. The list below is all
-- that knows of it.
--
-- A command with `passes_on` has one argument; what stands behind it is the field `passed_on` of the options.

local bench = require "clcompute.cli.bench"
local command_line = require "clcompute.cli.command_line"
local completion = require "clcompute.cli.completion"
local doctor = require "clcompute.cli.doctor"
local info = require "clcompute.cli.info"
local interrupt = require("clcompute.base").interrupt
local loops = require "clcompute.cli.loops"
local luarc = require "clcompute.cli.luarc"
local output = require "clcompute.cli.output"
local profile_device = require "clcompute.cli.profile_device"
local repl = require "clcompute.cli.repl"
local report = require "clcompute.cli.report"
local run = require "clcompute.cli.run"
local topic = require "clcompute.cli.topic"
local tune = require "clcompute.cli.tune"
local warm = require "clcompute.cli.warm"

local FAILED, MISUSED, INTERRUPTED, BROKEN_PIPE = 1, 2, 130, 141 -- the last two as a shell counts signals

local cli = {}

cli.commands = { info, doctor, bench, loops, profile_device, report, tune, warm, repl, run, completion, luarc, topic }

--- Runs what the arguments ask for; returns the exit code.
local function execute(arguments)
  local request = command_line.parse(cli.commands, arguments)
  if request.misuse then
    output.complain(request.misuse)
    return MISUSED
  end
  local code = 0
  if request.text then
    output.print(request.text)
  else
    code = request.command.run(request.options, request.parser)
  end
  output.flush()
  return code
end

--- Says what ended the command; returns the exit code.
local function fail(reason)
  if reason == output.BROKEN_PIPE then return BROKEN_PIPE end
  if interrupt.is(reason) then
    local kernel = reason:match "(kernel '[^']*'): interrupted!$" -- of an isolated device
    output.complain(kernel and "interrupted in " .. kernel or "interrupted")
    return INTERRUPTED
  end
  output.complain((tostring(reason):gsub("^[^\n]-clcompute/cli/[%w_]+%.lua:%d+: ", "")))
  return FAILED
end

--- Runs the command. Never raises; errors go to standard error, a line each.
-- @tparam table arguments a list of words, as `arg`
-- @treturn integer the exit code: 0 done, 1 failed, 2 wrong usage, 130 interrupted, 141 nobody reads the output
function cli.run(arguments)
  local ok, result = pcall(execute, arguments)
  return ok and result or fail(result)
end

return cli
