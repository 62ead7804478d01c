-- SPDX-License-Identifier: MIT
--- A command in a terminal, for specs: types, and waits for what it shows.

local helper = require "spec.helper"

local terminal = {}
terminal.__index = terminal

-- What a notice's line is: below the cursor, which goes back to where it was; and how it goes away.
local BELOW, BACK = "\27D\27[A\0277\27[B\r", "\0278"
terminal.NOTICE = BELOW .. "%s" .. BACK .. BELOW .. "\27[J" .. BACK

local open
local PATIENCE = 60 -- seconds for what must come

--- Starts a command in a terminal of 80 columns, or as many as told.
function terminal.open(command, columns)
  open = open or helper.compile "terminal"
  return setmetatable({ raw = open("exec " .. command, columns or 80), bytes = "", text = "", from = 1 }, terminal)
end

--- Types a text.
function terminal:type(text)
  self.raw:write(text)
end

--- Waits until the command has shown a plain text behind what was waited for before; returns what stands between.
function terminal:expect(text, seconds)
  local last = os.time() + (seconds or PATIENCE)
  while true do
    local at, stop = self.text:find(text, self.from, true)
    if at then
      local between = self.text:sub(self.from, at - 1)
      self.from = stop + 1
      return between
    end
    local more = self.raw:read(0.1)
    if not more or os.time() > last then
      error(("'%s' does not come:\n%s"):format(text, self.text:sub(self.from)), 2)
    end
    self:add(more)
  end
end

--- Adds what has come, without the terminal's own control sequences and lines that went away (csrc/base/notice.c).
function terminal:add(bytes)
  self.bytes = (self.bytes .. bytes):gsub("\27D\27%[A\0277\27%[B\r[^\27]*\0278", "")
    :gsub("\27D\27%[A\0277\27%[B\r\27%[J\0278", "")
  self.text = self.bytes:gsub("\27%[[%d;?]*%a", ""):gsub("[\r\a]", "")
end

--- Types a line once there is a prompt; returns what it shows until the next one.
function terminal:converse(line, prompt)
  self:type(line .. "\n")
  self:expect(line)
  return (self:expect(prompt or "\n> "):gsub("^\n", ""))
end

--- Waits for the end of the command; returns its exit code.
function terminal:finish()
  repeat
    local more = self.raw:read(PATIENCE)
    self:add(more or "")
  until not more or more == ""
  local code = self.raw:wait()
  self.raw:close()
  return code
end

--- Ends it, whatever it does.
function terminal:close()
  self.raw:close()
end

terminal.__close = terminal.close

return terminal
