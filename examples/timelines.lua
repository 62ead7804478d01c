-- SPDX-License-Identifier: MIT
--- Draws the timelines of docs/lessons.md: how a stream core hides the latency of memory (figures 1.9 and 1.10 of
-- AMD's guide) and how a barrier holds a work-group (figure 5.5 of the chapter on NDRange).
-- Usage: timelines.lua FOLDER
--
-- The rows follow from two rules of scheduling, which are written down here. The sources give two numbers: T0 runs
-- until cycle 20, and 32 items lie in groups of 8; the other numbers are chosen.

--- Ends with a sentence, not with a traceback.
local function fail(text)
  io.stderr:write("timelines.lua: ", text, "\n")
  os.exit(1)
end

local found, report = pcall(require, "clcompute.report")
if not found then
  fail(report:find("not found:", 1, true) and 'needs clcompute: make && eval "$(make -s env)"' or report)
end
local folder = arg[1] or fail "needs the folder to draw in: lua5.4 examples/timelines.lua FOLDER"

--- Collects spans; a span of no length is left out.
local function new_rows()
  local rows = {}
  local function add(lane, start, finish, state)
    if finish > start then rows[#rows + 1] = { lane = lane, start = start, finish = finish, state = state } end
  end
  return rows, add
end

-- --- a stream core -----------------------------------------------------------------

local ITEMS, TURN, TURNS = 4, 20, 2 -- work-items; cycles that one runs until it needs memory; how often each runs

--- One work-item runs at a time. When it asks for memory the next runs, in turn, as soon as its own data are there.
local function stream_core(latency)
  local rows, add = new_rows()
  local core, add_core = new_rows() -- what comes of it for the core, below the items
  local now, arrival = 0, {}
  for item = 0, ITEMS - 1 do arrival[item] = 0 end
  for turn = 1, TURNS do
    for item = 0, ITEMS - 1 do
      local lane, start = ("T%d"):format(item), math.max(now, arrival[item])
      add_core("stream core", now, start, "idle")
      add(lane, turn > 1 and arrival[item] or 0, start, "ready")
      add(lane, start, start + TURN, "executing")
      add_core("stream core", start, start + TURN, "executing")
      now = start + TURN
      arrival[item] = now + latency
      if turn < TURNS then add(lane, now, arrival[item], "waiting for memory") end
    end
  end
  return table.move(core, 1, #core, #rows + 1, rows)
end

-- --- barriers ------------------------------------------------------------------------

local GLOBAL, GROUP = 32, 8

--- Cycles that an item takes to a barrier, or from there to its end: uneven, since OpenCL promises nothing about when
-- items of a group run.
local function effort(item, part)
  return 6 + (item * 7 + part * 5) % 11 + item // GROUP * 3
end

--- When the last item of each group comes to its barrier.
local function meetings(begin, part)
  local latest = {}
  for item = 0, GLOBAL - 1 do
    local group = item // GROUP
    latest[group] = math.max(latest[group] or 0, begin + effort(item, part))
  end
  return latest
end

--- One launch from a moment on; returns when its last item ends.
local function launch(number, begin, add)
  local part, finish, ends = 2 * number, begin, {}
  local barrier = meetings(begin, part)
  for item = 0, GLOBAL - 1 do
    local group = item // GROUP
    local lane, come = ("group %d, item %d"):format(group, item % GROUP), begin + effort(item, part)
    ends[lane] = barrier[group] + effort(item, part + 1)
    add(lane, begin, come, ("kernel %d"):format(number))
    add(lane, come, barrier[group], "at the barrier")
    add(lane, barrier[group], ends[lane], ("kernel %d"):format(number))
    finish = math.max(finish, ends[lane])
  end
  for lane, stop in pairs(ends) do add(lane, stop, finish, "ended; the launch has not") end
  return finish
end

local function two_launches()
  local rows, add = new_rows()
  launch(1, launch(0, 0, add), add)
  table.sort(rows, function(a, b) return a.lane < b.lane or a.lane == b.lane and a.start < b.start end)
  return rows
end

-- --- pictures --------------------------------------------------------------------------

local function section(title, rows, ytitle)
  return { title = title, rows = rows, chart = { kind = "timeline", lane = "lane", start = "start", finish = "finish",
    state = "state", xunit = "cycles", ytitle = ytitle } }
end

local pictures = {
  latency_hidden = section("Latency hidden: when T3 stops, the data of T0 are there", stream_core(50), "work-item"),
  latency_stall = section("Latency not hidden: all four wait, and so does the core", stream_core(110), "work-item"),
  barrier = section("Two launches of 32 work-items in groups of 8, a barrier in each", two_launches(), "work-item"),
}

for name, one in pairs(pictures) do
  local path = ("%s/%s.svg"):format(folder, name)
  local file <close>, reason = io.open(path, "w")
  if not file then fail("cannot draw there: " .. reason) end
  file:write((report.svg(one)))
  print("written: " .. path)
end
