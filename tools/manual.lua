-- SPDX-License-Identifier: MIT
--- Writes the manual page of the command, docs/clcompute.1, from its own help: `make doc`.

local command_line = require "clcompute.cli.command_line"
local commands = require "clcompute.cli".commands
local version = require("clcompute.base").version

local EXAMPLE_COLUMNS = 73 -- of 80, which man indents

local lines = {}

--- A text that roff leaves as it is.
local function plain(text)
  return (text:gsub("\\", "\\e"):gsub("%-", "\\-"):gsub("^[.']", "\\&%0"))
end

local function add(request, text)
  lines[#lines + 1] = request .. (text and " " .. plain(text) or "")
end

local function add_text(text) lines[#lines + 1] = plain(text) end

local function add_example(list)
  add ".EX"
  for _, line in ipairs(command_line.examples(list, EXAMPLE_COLUMNS)) do add_text(line) end
  add ".EE"
end

--- A line of help under "Options:", "Arguments:" or "Commands:": a word with its text, a word, or more of a text.
local function add_item(line)
  local word, text = line:match "^   (%S.-)  +(%S.*)"
  word = word or line:match "^   (%S.*)"
  if word then
    add ".TP"
    add(".B", word)
  end
  text = text or not word and line:match "^ +(.*)"
  if text then add_text(text) end
end

--- What the help of a command says before its examples: paragraphs, and lists with a heading.
local function add_help(name)
  local help = command_line.parse(commands, { name or "--help", "--help" }).text
  for part in (help:gsub("\n+Examples:\n.*", "") .. "\n\n"):gmatch "(.-)\n\n+" do
    local usage, list = part:match "^Usage: (.*)", part:match "^%u%l+:\n(.*)"
    if list then
      for line in list:gmatch "[^\n]+" do add_item(line) end
    elseif usage then
      add(".B", (usage:gsub("%s+", " ")))
    else
      add ".PP"
      add_text((part:gsub("\n", " ")))
    end
  end
end

add(".TH CLCOMPUTE 1", ('"" "%s" "User Commands"'):format(version))
add ".SH NAME"
add_text "clcompute - OpenCL compute for Lua"
add ".SH SYNOPSIS"
add_help(nil)
add ".SH COMMANDS"
for _, command in ipairs(commands) do
  add(".SS", command.name)
  add_help(command.name)
  add ".PP"
  add_example(command.examples)
end
add ".SH EXIT STATUS"
add_text "0: done. 1: something failed, or the doctor found a fault. 2: wrong usage. 130: interrupted."
add ".SH ENVIRONMENT"
for _, variable in ipairs {
  { "CLCOMPUTE_DEVICE", "The device where no other is asked for: gpu, cpu, accelerator, part of its name, or 0:1." },
  { "CLCOMPUTE_CACHE", "The folder of compiled programs, or off." },
  { "CLCOMPUTE_SYSTEM_CACHE", "The folder of what is built for all users, which is read after that one, or off." },
  { "CLCOMPUTE_BUILD", "wait: builds at once what could wait: fast products, and binaries of programs for the cache. "
    .. "here: starts no process that builds fast kernels meanwhile." },
  { "CLCOMPUTE_TUNING", "The file of numbers that tune finds." },
  { "CLCOMPUTE_CHECK", "Check mode from the start, unless empty, 0, off, no or false." },
  { "CLCOMPUTE_CAREFUL", "Careful devices from the start, unless empty, 0, off, no or false." },
  { "CLCOMPUTE_TIMING", "Launches are timed from the start, unless empty, 0, off, no or false." },
  { "CLCOMPUTE_POOL", "off: the memory of released buffers is not kept for those to come." },
  { "CLCOMPUTE_SANDBOX", "off: workers of isolated devices run without their sandbox." },
  { "COLUMNS", "The width of tables; unless set, that of the terminal." },
  { "NO_COLOR", "Set to anything: no colours." },
} do
  add ".TP"
  add(".B", variable[1])
  add_text(variable[2])
end
add ".SH SEE ALSO"
add_text "lua5.4(1), clinfo(1); the guide and the examples beside this page's package, in share/doc/clcompute."

print(table.concat(lines, "\n"))
