-- SPDX-License-Identifier: MIT

--- Reads a command line: which command, with which options, or what is wrong with it; and the numbers, names and
-- devices that words stand for. Debian's lua-argparse does the work; what it would print itself, ending the process, is
-- a result here. Errors name no place in the code: who reads them typed a command.

local terminal = require "clcompute.cli.terminal"
local version = require("clcompute.base").version
local width = require("clcompute.base").width

local command_line = {}

local DESCRIPTION = "OpenCL compute for Lua: what devices there are, what is wrong with them, and a prompt."
local WIDTH, WIDEST = 80, 100 -- of help: where there is no terminal, and at most
local MARGIN = 10 -- that argparse keeps free in usage

--- A Lua module of a Debian package.
-- @tparam string name of the module
-- @tparam string package
-- @return the module
-- @raise when it is not installed, naming the package
function command_line.module(name, package)
  local found, module = pcall(require, name)
  if found then return module end
  error(("the Lua module %s is missing: apt install %s (or luarocks --lua-version %s install %s)"):format(name, package,
    _VERSION:match "[%d.]+", name), 0)
end

--- Raised by a callback of argparse to end the parsing with a result.
local Stop = {}

local function stop(result)
  error(setmetatable(result, Stop), 0)
end

-- What users of other commands type.
local MEANT = { devices = "info", list = "info", platforms = "info", prompt = "repl", shell = "repl",
  benchmark = "bench" }

--- The result for a command line that is wrong; argparse puts a question behind some messages.
local function misuse(name, message)
  local meant = MEANT[message:match "^unknown command '(.-)'$"]
  if meant then message = ("%s: did you mean '%s'?"):format(message, meant) end
  message = message:gsub("\n?%s*Did you mean (.-)%?%s*$", ": did you mean %1?")
  return { misuse = ("%s%s `%s --help`"):format(message, message:find "%?$" and " See" or "; see", name) }
end

local function help_width()
  return math.min(terminal.width(WIDTH), WIDEST)
end

--- The help of a parser, as wide as the terminal.
-- @tparam table of the parser of all commands, or of one
-- @treturn string
function command_line.help_of(of)
  local columns = help_width()
  return of:help_max_width(columns):usage_max_width(columns - MARGIN):get_help()
end

local function add_help(of)
  of:add_help { description = "Show this help.", action = function() stop { text = command_line.help_of(of) } end }
end

--- Examples as lines of so many columns. A comment that does not fit behind its command stands above it.
-- @tparam table list
-- @tparam integer columns
-- @treturn table a list
function command_line.examples(list, columns)
  local lines = {}
  for _, example in ipairs(list) do
    local command, comment = example:match "^(.-)  +# (.*)$"
    if comment and #example > columns then
      local above = width.wrap(comment, columns, "# ", "# ")
      table.move(above, 1, #above, #lines + 1, lines)
      example = command
    end
    lines[#lines + 1] = example
  end
  return lines
end

local function epilog_of(examples)
  return "Examples:\n  " .. table.concat(command_line.examples(examples, help_width() - 2), "\n  ")
end

local function add_command(root, command)
  local added = root:command(command.name, command.description)
  command.configure(added)
  added:epilog(epilog_of(command.examples))
  add_help(added)
  return added
end

--- The argparse parser of all commands.
local function new(commands)
  local root = command_line.module("argparse", "lua-argparse")("clcompute", DESCRIPTION)
  local names = { [root] = "clcompute" }
  local examples = {}
  root:command_target "command"
  root:flag("--version", "Show the version."):action(function() stop { text = version } end)
  for _, command in ipairs(commands) do
    names[add_command(root, command)] = "clcompute " .. command.name
    examples[#examples + 1] = command.examples[1]
  end
  root:epilog(epilog_of(examples))
  add_help(root)
  function root.error(at, message)
    stop(misuse(names[at], message))
  end
  return root
end

--- The words with a number below 0 joined to the option before it, since argparse takes "-3" for an option.
local function joined(arguments)
  local words = {}
  for _, word in ipairs(arguments) do
    local before = words[#words] or ""
    if word:find "^%-%.?%d" and before:find "^%-%-%a" and not before:find("=", 1, true) then
      words[#words] = before .. "=" .. word
    else
      words[#words + 1] = word
    end
  end
  return words
end

--- The words for the command, and those behind the file of one that passes them on as they are.
local function divided(commands, words)
  for _, command in ipairs(commands) do
    if command.passes_on and command.name == words[1] and words[2] and not words[2]:find "^%-." then
      return { words[1], words[2] }, table.move(words, 3, #words, 1, {})
    end
  end
  return joined(words), {}
end

--- Parses a command line.
-- @tparam table commands as clcompute.cli describes them
-- @tparam table arguments a list of words
-- @treturn table { command=, options=, parser= } to run, { text= } to print, or { misuse= } to complain of
function command_line.parse(commands, arguments)
  local root = new(commands)
  local own, passed_on = divided(commands, arguments)
  local ok, result = pcall(root.parse, root, own)
  if not ok then
    if getmetatable(result) == Stop then return result end
    error(result, 0)
  end
  result.passed_on = passed_on
  for _, command in ipairs(commands) do
    if command.name == result.command then
      local wrong = command.misuse and command.misuse(result)
      if wrong then return misuse("clcompute " .. command.name, wrong) end
      return { command = command, options = result, parser = root }
    end
  end
end

-- --- numbers and names ------------------------------------------------------------
--
-- Each function takes a word and returns the value, or nil and what was expected, as argparse wants it.

local function to_positive_integer(text)
  local n = math.tointeger(tonumber(text))
  return n and n > 0 and n or nil
end

local function refuse(expected, text)
  return nil, ("%s expected, got '%s'"):format(expected, text)
end

--- An integer above 0: "64".
function command_line.positive_integer(text)
  local n = to_positive_integer(text)
  if n then return n end
  return refuse("positive integer", text)
end

--- Integers above 0: "100,200".
function command_line.positive_integers(text)
  local list = {}
  for word in (text .. ","):gmatch "([^,]*)," do
    local n = to_positive_integer(word)
    if not n then return refuse("positive integers with commas", text) end
    list[#list + 1] = n
  end
  return list
end

--- Words: "sgemm,dot".
function command_line.names(text)
  local list = {}
  for word in text:gmatch "[^,]+" do list[#list + 1] = word end
  if #list > 0 then return list end
  return refuse("names with commas", text)
end

--- A finite number of seconds above 0: "0.5".
function command_line.seconds(text)
  local s = tonumber(text)
  if s and s > 0 and s < math.huge then return s end
  return refuse("seconds above 0", text)
end

-- --- devices --------------------------------------------------------------------

--- The library.
-- @treturn table what `require "clcompute"` gives
-- @raise when it does not load, with the remedy
function command_line.library()
  local found, library = pcall(require, "clcompute")
  if found then return library end
  local missing = tostring(library):match "^module '([^']+)' not found:"
  error(missing and ("module '%s' not found; `clcompute doctor` says what to do"):format(missing) or library, 0)
end

--- A device.
-- @tparam[opt] string selector as for `cl.device`
-- @tparam[opt] table options as for `cl.device`
-- @treturn Device
-- @raise when none matches, with what there is
function command_line.device(selector, options)
  local found, device = pcall(command_line.library().device, selector, options)
  if found then return device end
  error(device, 0)
end

--- The devices to be measured: the one of `--device`, or all.
-- @treturn table a list that is not empty
function command_line.devices(options)
  if options.device then return { command_line.device(options.device) } end
  local devices = command_line.library().devices()
  if #devices == 0 then error("no OpenCL device; `clcompute doctor` says what to install", 0) end
  return devices
end

return command_line
