-- SPDX-License-Identifier: MIT

--- How far a long command is, on standard error: a bar that is redrawn on a terminal, else plain lines, one in a few
-- seconds at most. Made to be passed as the `progress` of a measurement.
-- @module clcompute.cli.progress
-- @usage local show <close> = progress.new()
-- for i = 1, n do show { name = "gemm", done = i, total = n } work() end

local width = require("clcompute.base").width

local progress = {}

local Progress = {}
Progress.__index = Progress
Progress.__name = "clcompute.Progress"

local PAUSE = 5 -- seconds between plain lines
local BAR = 24 -- columns

--- Whether standard error is a terminal that can move its cursor.
local function is_terminal()
  return os.getenv "TERM" ~= "dumb" and os.execute "test -t 2" == true
end

--- The columns of the terminal, as the shell tells them.
local function terminal_width()
  local columns = math.tointeger(tonumber(os.getenv "COLUMNS"))
  return columns and columns > 0 and columns or 80
end

local function format_seconds(seconds)
  local s = math.floor(math.min(seconds, 1e9) + 0.5)
  if s < 60 then return ("%d s"):format(s) end
  if s < 3600 then return ("%d min %02d s"):format(s // 60, s % 60) end
  return ("%d h %02d min"):format(s // 3600, s % 3600 // 60)
end

--- The share that is done, 0 to 1; nil where that is unknown.
local function share_of(event)
  if not (event.done and event.total and event.total > 0) then return nil end
  return math.max(0, math.min(1, event.done / event.total))
end

--- The seconds left: as told, else as the time up to now suggests; nil at first.
local function estimate(self, event, share)
  if event.seconds_left then return event.seconds_left end
  local spent = self.clock() - self.start
  return share and share > 0 and share < 1 and spent > 0 and spent * (1 - share) / share or nil
end

--- What comes after the name: " 45 %, 3 min 20 s left"
local function format_state(self, event, share)
  local left = estimate(self, event, share)
  local parts = {}
  if share then parts[1] = ("%3d %%"):format(math.floor(share * 100)) end
  if left then parts[#parts + 1] = format_seconds(left) .. " left" end
  return table.concat(parts, ", ")
end

local function format_bar(share)
  local full = math.floor(share * BAR)
  return (" [%s%s]"):format(("#"):rep(full), ("."):rep(BAR - full))
end

--- An event as one line of at most so many columns; the name gives way first, then the bar.
local function format(self, event, columns)
  local share = share_of(event)
  local bar = self.terminal and share and format_bar(share) or ""
  local state = format_state(self, event, share)
  if state ~= "" then state = " " .. state end
  local name = event.name:gsub("%c", " ")
  if #bar + #state > columns - math.min(width.of(name), 8) then bar = "" end
  return width.cut(name, math.max(columns - #bar - #state, 8)) .. bar .. state
end

local function draw(self, event)
  local line = format(self, event, self.columns - 1) -- in the last column some terminals wrap
  if line == self.drawn then return end
  self.stream:write("\r", line, "\27[K")
  self.stream:flush()
  self.drawn = line
end

local function write_line(self, event)
  local now = self.clock()
  if now - (self.written or self.start) < PAUSE then return end
  self.stream:write(format(self, event, math.huge), "\n")
  self.written = now
end

--- Shows an event: a text, or a table { name=, done=, total=, seconds_left= }, all but one of them optional.
function Progress.__call(self, event)
  if type(event) == "string" then event = { name = event } end
  event = { name = event.name or "", done = event.done, total = event.total, seconds_left = event.seconds_left }
  if self.terminal then draw(self, event) else write_line(self, event) end
end

--- Removes the bar, so that other output starts on a clean line. May be called twice.
function Progress.close(self)
  if not self.drawn then return end
  self.stream:write("\r\27[K")
  self.stream:flush()
  self.drawn = nil
end

Progress.__close = Progress.close

--- A new display; call it with each event, close it at the end.
-- @tparam[opt] table options for tests: `stream` (default standard error), `terminal` (whether it is one),
--  `columns` (default `$COLUMNS`, else 80), `clock` (a function that returns seconds, default `os.time`)
-- @treturn table callable, with a method `close`
function progress.new(options)
  local given = options or {}
  local self = { stream = given.stream or io.stderr, columns = given.columns or terminal_width(),
    clock = given.clock or os.time, terminal = given.terminal }
  if self.terminal == nil then self.terminal = is_terminal() end
  self.start = self.clock()
  return setmetatable(self, Progress)
end

return progress
