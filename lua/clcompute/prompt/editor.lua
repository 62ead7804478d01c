-- SPDX-License-Identifier: MIT

--- Where the lines of a prompt come from: lua-readline on a terminal, with history and completion; plain lines on a
-- terminal without it; or a pipe. An editor has `read(prompt)`, which returns a line, nil at the end, or false where
-- Ctrl-C cleared the line; `remember(chunk)`, for its history; and `hint`, to be shown behind the greeting.

local history = require "clcompute.prompt.history"
local internal = require "clcompute.core.internal"

local editor = {}

local MISSING = "\nWithout lua-readline there is no editing, history and completion: apt install lua-readline"

local function forget() end

--- Lines without editing.
-- @string hint
function editor.plain(hint)
  local function read(prompt)
    io.stdout:write(prompt)
    io.stdout:flush()
    if internal.wait_input() == "input" then
      local line, interrupted = io.read "L"
      if not interrupted then return line end
    end
    io.stdout:write "\n"
    return false
  end
  return {
    hint = hint,
    read = function(prompt)
      local line = read(prompt)
      return line and (line:gsub("\n$", ""))
    end,
    remember = forget,
  }
end

--- Lines of a pipe, without prompts.
function editor.pipe()
  return { hint = "", read = function() return io.read "l" end, remember = forget }
end

--- What is typed goes to readline key by key, so that Ctrl-C between two keys is ours.
-- @tparam table readline the module of lua-readline
-- @tparam string linked the file that is linked with readline
-- @tparam string prompt
local function read_keys(readline, linked, prompt)
  local line, is_done
  io.stdout:flush()
  readline.handler_install(prompt, function(text)
    line, is_done = text, true
    readline.handler_remove()
  end)
  while not is_done do
    local event = internal.wait_input()
    if event == "interrupt" then
      if readline.sigcleanup then readline.sigcleanup() end -- out of a search, or of half a key
      internal.give_up_line(linked)
      io.stdout:write "^C\n"
      return false
    end
    if event == "resize" then internal.resize_line(linked) else readline.read_char() end
  end
  return line
end

--- Lines edited by readline.
-- @tparam table readline the module of lua-readline
-- @tparam function complete (text, first, last) --> what the word of the line could be, whole words
function editor.edited(readline, complete)
  local linked, last = package.searchpath("C-readline", package.cpath) or "", nil -- "": the process itself
  readline.set_options { histfile = "", auto_add = false }
  readline.set_complete_function(function(...)
    readline.set_completion_append_character "" -- for this completion alone; else there is a blank behind a name
    local ok, words = pcall(complete, ...)
    return ok and words or {} -- an error would pass through readline
  end)
  for _, chunk in ipairs(history.read()) do readline.add_history(chunk) end
  internal.watch_size()
  local function read(prompt)
    local line = read_keys(readline, linked, prompt)
    if line == nil then io.stdout:write "\n" end
    return line
  end
  local function remember(chunk)
    if chunk == last or not chunk:find "%S" then return end
    last = chunk
    readline.add_history(chunk)
    history.add(chunk)
  end
  return { hint = "", read = read, remember = remember }
end

--- The editor for standard input.
-- @tparam boolean is_terminal
-- @tparam function complete as for `editor.edited`
function editor.open(is_terminal, complete)
  if not is_terminal then return editor.pipe() end
  local found, readline = pcall(require, "readline")
  if not found then return editor.plain(MISSING) end
  return os.getenv "TERM" == "dumb" and editor.plain "" or editor.edited(readline, complete)
end

return editor
