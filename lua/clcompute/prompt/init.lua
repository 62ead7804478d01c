-- SPDX-License-Identifier: MIT

--- The prompt: reads Lua, computes it, prints the results, and goes on until the end of its input. On a terminal
-- nothing that is typed ends it, but the end of the input and `os.exit`; from a pipe an error does.

local catalogue = require "clcompute.prompt.catalogue"
local completer = require "clcompute.prompt.completer"
local display = require "clcompute.prompt.display"
local editor = require "clcompute.prompt.editor"
local format = require("clcompute.base").format
local help = require "clcompute.prompt.help"
local internal = require "clcompute.core.internal"
local interrupt = require("clcompute.base").interrupt
local reasons = require("clcompute.base").reasons
local safety = require "clcompute.prompt.safety"
local session = require "clcompute.prompt.session"
local standard = require "clcompute.prompt.standard"

local pcall, error, stderr = pcall, error, io.stderr -- a chunk may replace them

local prompt = { guard = safety.guard }

local FIRST, NEXT = "> ", ">> "
local PIPE_COLUMNS = 80
local PATIENCE = 0.3 -- seconds after Ctrl-C: what ends by then needs no word
local LIBRARY = "lua/[%d.]*/?(clcompute/[%w_/]+)%.lua:%d+: in" -- a call within the library
local CALLERS = { ["clcompute/prompt/init"] = true, ["clcompute/cli/run"] = true } -- of scripts

local function columns()
  return internal.terminal_columns() or PIPE_COLUMNS
end

local function complain(text)
  io.stderr:write(format.visible(text), "\n")
end

-- --- errors --------------------------------------------------------------------------------------

--- The calls that led to an error, without those of the library and what lies behind the script, and how many there
-- are of functions of Lua.
local function calls_of(traceback)
  local lines, count = {}, 0
  for line in traceback:gmatch "\n(%s[^\n]+)" do
    local file = line:match(LIBRARY) or false
    if CALLERS[file] then break end
    if not file then
      lines[#lines + 1] = line:gsub("in upvalue 'chunk'$", "in main chunk")
      if not line:find "^%s%[C%]" and not line:find "%(%.%.%.tail calls%.%.%.%)" then count = count + 1 end
    end
  end
  while lines[1] and lines[#lines]:find "^%s%[C%]" do lines[#lines] = nil end
  return table.concat(lines, "\n"), count
end

--- The chunk at hand is "stdin" in messages; behind a pipe all are, whose lines are those of the input.
local function renamed(self, message)
  return (message:gsub('(%[string ".-"%]):(%d+):', function(label, line)
    local before = self.lines_before_chunk[label]
    return before and ("stdin:%d:"):format(line + before)
  end))
end

--- The text of what was raised; a table without one shows its fields.
local function text_of(reason, known)
  return type(reason) == "table" and display.value(reason, columns(), known) or interrupt.text(reason)
end

local function describe(self, fault)
  local reason, calls, count = text_of(fault.reason, self.catalogue), "", 0
  if fault.traceback and not interrupt.is(fault.reason) then calls, count = calls_of(fault.traceback) end
  return renamed(self, count > 1 and reason .. "\n" .. calls or reason)
end

--- What is said of an error that ended a script.
-- @param reason what was raised
-- @string traceback
-- @treturn string
function prompt.fault(reason, traceback)
  local ok, text = pcall(text_of, reason, catalogue.new())
  return format.visible(ok and text or interrupt.text(reason)) .. "\nstack traceback:\n" .. calls_of(traceback)
end

--- A kernel of a GPU goes on when the wait for it was interrupted.
function prompt.say_what_runs()
  local device, what = internal.still_running(PATIENCE)
  if not device then return end
  io.stderr:write(("%s still runs on %s and cannot be ended: what uses the device waits for it\n")
    :format(what, device.name))
end

--- Puts back what Lua came with, on a terminal; returns whether something had been replaced.
local function put_back(self)
  local names = self.standard and standard.restore(self.standard)
  if names then stderr:write("put back, as the prompt calls it too: ", names, "\n") end
  return names ~= nil
end

-- --- one chunk -----------------------------------------------------------------------------------

--- Prints results; of a chunk without any what was refused and dropped.
local function show(self, results)
  if results.n > 0 then
    io.stdout:write(display.results(results, columns(), self.catalogue), "\n")
  else
    for _, text in ipairs(reasons.lost()) do complain(text) end
  end
end

--- Runs a chunk and prints its results, which may take as long; returns whether it ended well.
local function compute(self, chunk)
  reasons.watch()
  local fault = internal.compute(function() show(self, table.pack(chunk())) end, true)
  if not fault then return true end
  if interrupt.is(fault.reason) and not self.is_terminal then error(fault.reason, 0) end
  io.stdout:flush()
  -- The text of an error is made by code of the user too, which may not end.
  local further = internal.compute(function() complain(describe(self, fault)) end)
  if further then stderr:write "an error whose text cannot be made\n" end
  if fault.unhooked then stderr:write "the hook of debug.sethook is taken away\n" end
  put_back(self)
  if interrupt.is((further or fault).reason) then
    self.pasted = {} -- who stops a paste wants none of it
    prompt.say_what_runs()
  end
  return false
end

--- Takes a line, nil at the end of the input; returns false after an error.
local function take(self, line)
  local text = line and self.text and self.text .. "\n" .. line or line or self.text
  local chunk, message, is_incomplete = self.session:compile(text)
  self.text = is_incomplete and line and text or nil
  if self.text then return true end
  self.lines.remember(text)
  if self.is_terminal then self.lines_before_chunk, self.lines_taken = {}, 0 end
  self.lines_before_chunk[session.label(text)] = self.lines_taken
  self.lines_taken = self.lines_taken + select(2, text:gsub("\n", "")) + 1
  if chunk then return compute(self, chunk) end
  complain(renamed(self, message))
  return false
end

-- --- all -----------------------------------------------------------------------------------------

--- A text that was pasted as a whole has several lines.
local function next_line(self)
  if #self.pasted > 0 then return table.remove(self.pasted, 1) end
  local text = self.lines.read(self.text and NEXT or FIRST)
  for line in ((text or "") .. "\n"):gmatch "(.-)\n" do self.pasted[#self.pasted + 1] = line end
  return text and table.remove(self.pasted, 1)
end

local function loop(self)
  while true do
    local line = next_line(self)
    if line == false then
      self.text, self.pasted = nil, {}
    elseif line or self.text then
      if not take(self, line) and not self.is_terminal then return false end
    end
    if line == nil then return true end
  end
end

--- The loop, which on a terminal goes on after what fails in the prompt itself, but for what would fail again at once.
local function go_on(self)
  while true do
    local ok, result = pcall(loop, self)
    if ok then return result end
    if not put_back(self) then error(result, 0) end
    self.text, self.pasted = nil, {}
  end
end

--- What `exit` and `quit` stand for: a hint, and when called the end.
local function leaver(name)
  return setmetatable({}, {
    __tostring = function() return ("%s() or Ctrl-D leaves"):format(name) end,
    __call = function(_, ...) os.exit(...) end,
  })
end

--- What `help` says of a name, or all names.
-- @tparam ?string name
-- @tparam integer width columns of the terminal
-- @treturn string
-- @treturn boolean whether the name is known
function prompt.help(name, width)
  local known = catalogue.new()
  if not name then return help.overview(known, width), true end
  return help.text(known, name, width)
end

--- Runs until the end of standard input, with `help`, `exit` and `quit` among the globals.
-- @tparam string greeting printed first on a terminal
-- @treturn boolean whether there was no error that ended it
function prompt.run(greeting)
  local known = catalogue.new()
  local self = { session = session.new(), catalogue = known, pasted = {}, lines_before_chunk = {}, lines_taken = 0,
    is_terminal = internal.terminal_columns() ~= nil }
  _G.help, _G.exit, _G.quit = help.new(known, columns), leaver "exit", leaver "quit"
  local complete = completer.new(self.session, known)
  self.lines = editor.open(self.is_terminal, function(text, first, last)
    return complete(self.text and self.text .. "\n" or "", text, first, last)
  end)
  if self.is_terminal then
    internal.follow_coroutines()
    internal.catch_interrupts(true)
    print(greeting .. self.lines.hint)
  end
  self.standard = self.is_terminal and standard.keep() or nil
  local ended_well = go_on(self)
  if self.is_terminal then internal.catch_interrupts(false) end -- what still runs may keep the process from its end
  self.session:close()
  return ended_well
end

return prompt
