-- SPDX-License-Identifier: MIT

--- What a command shows: its result on standard output, where a write that fails is an error, since a full disk must
-- not look like success; faults, and how far a long command is, on standard error.

local command_line = require "clcompute.cli.command_line"
local format = require("clcompute.base").format
local process = require("clcompute.base").process
local terminal = require "clcompute.cli.terminal"
local width = require("clcompute.base").width
local write_file = require("clcompute.base").write_file

local output = {}

local EPIPE = 32
local WIDTH, PIPE_WIDTH = 80, 140 -- of the progress, where its terminal does not say; of tables where there is none
local UNLIMITED = 1 << 20

--- Raised when the reader went away, as `head` does: no fault of the command, which ends in silence.
output.BROKEN_PIPE = setmetatable({}, { __tostring = function() return "broken pipe" end })

local function check(ok, message, code)
  if ok then return end
  if code == EPIPE then error(output.BROKEN_PIPE, 0) end
  error("standard output: " .. message, 0)
end

--- Writes a text and a newline.
-- @tparam string text
-- @raise when it cannot be written, here or in `flush`
function output.print(text)
  check(io.stdout:write(text, "\n"))
end

--- Writes a text of cells and a newline; on a terminal "ok", "fault" and the like are in colours.
-- @tparam string text
-- @raise as `print`
function output.print_verdicts(text)
  output.print(terminal.has_colours() and terminal.colour(text) or text)
end

--- Hands on what was printed; the last call of a command.
-- @raise when it cannot be written
function output.flush()
  check(io.stdout:flush())
end

--- Writes an error as one line on standard error.
-- @tparam string message its own line breaks become blanks
function output.complain(message)
  local line = message:gsub("^clcompute: ", ""):gsub("%s*\n%s*", " ")
  io.stderr:write("clcompute: ", format.visible(line), "\n")
end

--- Writes what is wrong with a file on standard error, as it is: its first line begins with the place, which editors
-- look for.
-- @tparam string text
function output.show_fault(text)
  io.stderr:write(format.visible(text), "\n")
end

-- --- JSON -----------------------------------------------------------------------

--- A copy without metatables, whose inherited fields dkjson would take for the table's own; adds the names of all
-- fields, at any depth, to a set.
local function copy(value, names)
  if type(value) ~= "table" then return value end
  local plain = {}
  for key, member in next, value do
    if type(key) == "string" then names[key] = true end
    plain[key] = copy(member, names)
  end
  return plain
end

--- What `--json` prints: a value as indented JSON, whose keys are in order, so that two outputs compare. An empty table
-- is a list.
-- @param value tables, strings, numbers and booleans
-- @treturn string
-- @raise when Debian's lua-dkjson is missing
function output.json(value)
  local dkjson = command_line.module("dkjson", "lua-dkjson")
  local names, order = {}, {}
  local plain = copy(value, names)
  for name in pairs(names) do order[#order + 1] = name end
  table.sort(order)
  return dkjson.encode(plain, { indent = true, keyorder = order })
end

-- --- reports --------------------------------------------------------------------

--- Adds the options of a command that measures: which devices, and how the result is shown.
function output.configure(parser)
  parser:option("--device", "Only this device: gpu, cpu, accelerator, part of its name, or 0:1.")
    :argname "<selector>"
  parser:option("--html", "Also write a page with charts."):argname "<file>"
  parser:mutex(
    parser:flag("--json", "Print JSON instead of tables."),
    parser:flag("--markdown", "Print Markdown."),
    parser:flag("--csv", "Print comma-separated values."))
end

--- Whether a file can be written. Only asks: opening it would empty a page, or leave an empty one.
local function is_writable(path)
  local file = process.quote(path)
  if path == "" then return false end
  if os.execute("test -e " .. file) then
    return os.execute(("test ! -d %s && test -w %s"):format(file, file))
  end
  local folder = process.quote(path:match "^.*/" or ".")
  return os.execute(("test -d %s && test -w %s"):format(folder, folder))
end

--- Makes a folder where there is none; returns whether files can be written in it.
local function make_folder(path)
  local folder = process.quote(path)
  return os.execute(("mkdir -p -- %s 2>/dev/null && test -w %s"):format(folder, folder))
end

--- Raises what would keep the result from being shown or kept: to be called before anything is measured.
-- @tparam table options of `output.configure`, and `rows`, a folder, which is made
-- @raise a missing lua-dkjson, or a file or folder that cannot be written
function output.check(options)
  if options.json or options.rows then command_line.module("dkjson", "lua-dkjson") end
  if options.html and not is_writable(options.html) then
    error(("--html: cannot write '%s'"):format(options.html), 0)
  end
  if options.rows and not make_folder(options.rows) then
    error(("--rows: cannot write in folder '%s'"):format(options.rows), 0)
  end
end

--- A line in lines of so many columns: its last cell goes on below where that begins, a text further to the right.
local function hung(line, columns)
  if width.of(line) <= columns then return { line } end
  local head = line:match "^(.*  )%S" or ""
  if width.of(head) > columns // 2 then head = line:match "^ *" end
  return width.wrap(line:sub(#head + 1), columns, head, (" "):rep(width.of(head) + (head:find "%S" and 0 or 2)))
end

--- A text with lines as wide as the terminal; elsewhere they are as wide as they are.
-- @tparam string text
-- @treturn string
function output.fitted(text)
  local columns, lines = terminal.width(math.huge), {}
  for line in text:gmatch "[^\n]*" do
    local parts = hung(line, columns)
    table.move(parts, 1, #parts, #lines + 1, lines)
  end
  return table.concat(lines, "\n")
end

--- A table as a text, which fits the terminal; elsewhere it is as wide as it is.
-- @tparam table columns as of a section of `clcompute.report`
-- @tparam table rows
-- @treturn string
function output.table(columns, rows)
  local section = { columns = columns, rows = rows }
  return (require "clcompute.report".text(section, { width = terminal.width(UNLIMITED), bar = false }):gsub("\n$", ""))
end

local function print_document(report, document, options)
  if options.json then return output.print(report.json(document)) end
  if options.markdown then return output.print(report.markdown(document)) end
  if options.csv then return output.print((report.csv(document):gsub("\r?\n$", ""))) end
  output.print_verdicts(report.text(document, { width = terminal.width(PIPE_WIDTH) }))
end

--- Whether a row says that something computed a wrong result, or raised.
local function has_failed(document)
  for _, section in ipairs(document.sections) do
    for _, row in ipairs(section.rows or {}) do
      if row.status == "failed" then return true end
    end
  end
  return false
end

--- Prints a document of `clcompute.report`, and writes its page where that is asked for.
-- @tparam table document
-- @tparam table options of `output.configure`
-- @treturn integer the exit code: 1 when a measurement failed
function output.document(document, options)
  local report = require "clcompute.report"
  print_document(report, document, options)
  if options.html then write_file(options.html, report.html(document)) end
  return has_failed(document) and 1 or 0
end

-- --- progress -------------------------------------------------------------------
--
-- A bar that is redrawn on a terminal, else plain lines, one in a few seconds at most.

local Progress = {}
Progress.__index = Progress
Progress.__name = "clcompute.Progress"

local PAUSE = 5 -- seconds between plain lines
local BAR = 24 -- columns

--- Whether standard error is a terminal that can move its cursor.
local function can_redraw()
  return os.getenv "TERM" ~= "dumb" and terminal.is(2)
end

local function format_seconds(seconds)
  local s = math.floor(math.min(seconds, 1e9) + 0.5)
  if s < 60 then return ("%d s"):format(s) end
  if s < 3600 then return ("%d min %02d s"):format(s // 60, s % 60) end
  return ("%d h %02d min"):format(s // 3600, s % 3600 // 60)
end

--- The sum of the first values of a list, and of the part of the next one that a fraction says.
local function sum(list, count)
  local all, whole = 0, math.floor(count)
  for i = 1, whole do all = all + list[i] end
  return count > whole and all + (count - whole) * list[whole + 1] or all
end

--- The share that is done, 0 to 1, parts being weighed where their weights are told; nil where it is unknown.
local function share_of(event)
  local done, total = event.done, event.total
  if done and event.weights then done, total = sum(event.weights, done), sum(event.weights, #event.weights) end
  if not (done and total and total > 0) then return nil end
  return math.max(0, math.min(1, done / total))
end

--- The seconds left: as told, else as the time of the parts that are done suggests; nil before two are, and when a part
-- takes longer than that.
local function estimate(self, event, share)
  if event.seconds_left then return event.seconds_left end
  local now = self.clock()
  if event.done ~= self.done then self.done, self.ended = event.done, now end
  if not share or event.done < 2 or share == 1 then return nil end
  local left = (self.ended - self.start) * (1 - share) / share - (now - self.ended)
  return left > 0 and left or nil
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
local function line_of(self, event, columns)
  local share = share_of(event)
  local bar = self.terminal and share and format_bar(share) or ""
  local state = format_state(self, event, share)
  if state ~= "" then state = " " .. state end
  local name = event.name:gsub("%c", " ")
  if #bar + #state > columns - math.min(width.of(name), 8) then bar = "" end
  return width.cut(name, math.max(columns - #bar - #state, 8)) .. bar .. state
end

local function draw(self, event)
  local line = line_of(self, event, self.columns - 1) -- in the last column some terminals wrap
  if line == self.drawn then return end
  self.stream:write("\r", line, "\27[K")
  self.stream:flush()
  self.drawn = line
end

local function write_line(self, event)
  local now = self.clock()
  if now - (self.written or self.start) < PAUSE then return end
  self.stream:write(line_of(self, event, math.huge), "\n")
  self.written = now
end

--- Shows an event: a text, or a table { name=, done=, total=, weights=, seconds_left= }, all but one of them optional.
-- done: how many parts, with the share of the next one, of `total`, or of as many as there are weights: the seconds
-- that each takes somewhere.
function Progress.__call(self, event)
  if type(event) == "string" then event = { name = event } end
  event = { name = event.name or "", done = event.done, total = event.total, weights = event.weights,
    seconds_left = event.seconds_left }
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

--- A display of progress, to be passed as the `progress` of a measurement; it is closed at the end.
-- @tparam[opt] table options for tests: `stream` (default standard error), `terminal` (whether it is one),
--  `columns` (default those of the terminal), `clock` (a function that returns seconds, default `os.time`)
-- @treturn table callable, with a method `close`
function output.progress(options)
  local given = options or {}
  local self = { stream = given.stream or io.stderr, clock = given.clock or os.time, terminal = given.terminal }
  if self.terminal == nil then
    self.terminal = can_redraw()
    -- they come with the library, which the measurement may not have loaded yet
    if self.terminal and pcall(require, "clcompute") then require("clcompute.core.internal").hush_notices() end
  end
  self.columns = given.columns or self.terminal and terminal.columns() or WIDTH
  self.start = self.clock()
  return setmetatable(self, Progress)
end

return output
