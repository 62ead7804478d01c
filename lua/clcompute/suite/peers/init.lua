-- SPDX-License-Identifier: MIT
--- `clcompute report peers`: our operations and those of other libraries, measured in turns and checked.
--
-- OpenBLAS counts with one thread and with as many as there are cores, and the faster one is the peer. Its idle threads
-- spin for a tenth of a second after a call and would take a core from whatever is measured next: every run waits for
-- their end.
-- @module clcompute.suite.peers

local bench = require "clcompute.bench"
local blas = require "clcompute.blas"
local cl = require "clcompute"
local interrupt = require("clcompute.base").interrupt
local keep = require "clcompute.suite.papers.keep"
local limits = require "clcompute.suite.peers.limits"
local operations = require "clcompute.suite.peers.operations"
local sections = require "clcompute.suite.peers.sections"

local peers = {}

local ROUNDS = { full = 9, quick = 7 }
local RUN = 0.03   -- seconds of a run, about
local SPIN = 0.2   -- seconds until OpenBLAS' idle threads sleep, and more
local PACE = 50e9  -- operations or bytes a second, and
local LEAST = 20e-6 -- seconds of any call: to guess how many a run has

-- --- candidates -----------------------------------------------------------------

--- Waits until nobody spins any more.
local function quiet(seconds)
  local start = cl.clock()
  while cl.clock() - start < seconds do end
end

--- A candidate that makes `calls` calls a run, after as many seconds without any.
local function candidate(name, calls, spin, run, given)
  local made = { name = name, reset = function() quiet(spin) end, fn = function()
    local seconds
    for _ = 1, calls do
      local took = run()
      seconds = took and (seconds or 0.0) + took
    end
    return seconds
  end }
  for key, value in pairs(given) do made[key] = value end
  return made
end

--- Those who take the part of a peer: name, function and result of each, or why there is none.
local PEERS = {}

function PEERS.OpenBLAS(work, most)
  local list = {}
  for threads = 1, most, math.max(most - 1, 1) do
    local library = blas.openblas { threads = threads }
    local run, result = work.peers.OpenBLAS(library, blas.array)
    list[#list + 1] = { run = run, result = result, timed = true,
      name = ("OpenBLAS, %d thread%s"):format(threads, threads > 1 and "s" or "") }
  end
  if most == 0 then return nil, select(2, blas.openblas()) end
  return list
end

function PEERS.CLBlast(work)
  local library, reason = blas.clblast()
  if not library then return nil, reason end
  local run, result = work.peers.CLBlast(library)
  return { { name = "CLBlast", run = run, result = result } }
end

local function by_itself(name, timed)
  return function(work)
    local run, result = work.peers[name]()
    return { { name = name, run = run, result = result, timed = timed } }
  end
end

PEERS.peak, PEERS["cl.lu"], PEERS.C = by_itself("peak", true), by_itself "cl.lu", by_itself("C", true)
for _, name in ipairs { "gcc", "gcc, ikj, OpenMP", "Lua", "tiles" } do PEERS[name] = by_itself(name, true) end

-- --- a line ---------------------------------------------------------------------

local function label(line)
  if line.label then return line.label end
  if not line.m then return ("n = %d"):format(line.n) end
  local text = line.m == line.n and line.n == line.k and ("n = %d"):format(line.n)
    or ("%d x %d x %d"):format(line.m, line.k, line.n)
  return line.batch and ("%d of %s"):format(line.batch, text) or text
end

--- How many calls a run has: one where each sets its data back first.
local function calls_of(work)
  local amount = work.flops or work.bytes
  return amount and math.max(1, math.floor(RUN / (amount / PACE + LEAST))) or 1
end

local function candidates_of(group, line, device, threads)
  local work = operations[group.operation](line, group.dtype, device)
  local calls, spin = calls_of(work), work.spin or SPIN
  local total = { flops = work.flops and work.flops * calls, bytes = work.bytes and work.bytes * calls,
    dtype = group.dtype }
  local function checked(given, result)
    given.check = result and function() return work.check(result()) end or nil
    for key, value in pairs(total) do given[key] = value end
    return given
  end
  local list = { candidate("clcompute", calls, spin, work.ours,
    checked({ device = device, timed = work.timed }, work.result)) }
  local others, reason = PEERS[line.against or group.against](work, threads)
  for _, other in ipairs(others or {}) do
    list[#list + 1] = candidate(other.name, calls, spin, other.run,
      checked({ device = other.timed and "host" or device, timed = other.timed, split = false }, other.result))
  end
  return list, work, calls, reason
end

--- The peer's row: the fastest that is right.
local function fastest(rows)
  local best
  for i = 2, #rows do
    if rows[i].status == "ok" and (not best or rows[i].value < best.value) then best = rows[i] end
  end
  return best
end

--- What identifies a line, and what it must reach and is meant to by itself.
local function heading(group, line)
  local from = group.each and group or line
  return { group = group.title, line = label(line), against = line.against or group.against, must = from.must,
    goal = from.goal, is_nest = group.operation == "loops" or nil }
end

--- Adds to our row the peer's, and how they stand to each other.
local function add_peer(row, peer, calls, share)
  for _, key in ipairs { "value", "q1", "q3" } do row["peer_" .. key] = peer[key] and peer[key] / calls end
  row.peer_gflops, row.peer_gbs = peer.gflops, peer.gbs
  if row.status ~= "ok" then return end
  row.times = share * row.peer_value / row.value
  row.reached = not row.must and "" or row.times >= row.goal and "goal" or row.times >= row.must and "must" or "missed"
end

--- One row: ours, with the peer and the limits beside it.
local function measure_line(group, line, device, settings)
  local list, work, calls, reason = candidates_of(group, line, device, settings.threads)
  local rows = bench.compare(list, { rounds = line.rounds or settings.rounds, seconds = 0.001, peak = false,
    progress = settings.progress })
  local row, peer = rows[1], fastest(rows)
  for key, value in pairs(heading(group, line)) do row[key] = value end
  row.against = peer and peer.name or row.against
  row.launches = work.launches and work.launches()
  for _, key in ipairs { "value", "min", "q1", "q3" } do row[key] = row[key] and row[key] / calls end
  if peer then
    add_peer(row, peer, calls, line.share or 1)
  else
    row.reason = row.reason or reason or (rows[2] and rows[2].reason)
  end
  return row
end

--- A line that cannot be measured is a row too, and the table goes on.
local function attempt_line(group, line, device, settings)
  local ok, result = pcall(measure_line, group, line, device, settings)
  if ok then return result end
  interrupt.pass_on(result)
  local row = heading(group, line)
  row.status, row.reason, row.params = "failed", interrupt.text(result), {}
  return row
end

-- --- groups ---------------------------------------------------------------------

--- The row of a group's mean.
local function mean_row(group, rows)
  local sum, count, least = 0.0, 0, math.huge
  for _, row in ipairs(rows) do
    if row.times then sum, count, least = sum + math.log(row.times), count + 1, math.min(least, row.times) end
  end
  local mean = count == #rows and math.exp(sum / count) or nil
  local function meets(limit, floor) return mean and mean >= limit and least >= floor end
  return { group = group.title, line = ("geometric mean; least %.2f"):format(least), status = mean and "ok" or "failed",
    times = mean, must = group.must, goal = group.goal, params = {},
    reached = meets(group.goal, group.floor[2]) and "goal" or meets(group.must, group.floor[1]) and "must" or "missed" }
end

local function wanted(group, options)
  if not options.groups then return true end
  for _, name in ipairs(options.groups) do
    if group.title:find(name, 1, true) then return true end
  end
  return false
end

local function check_groups(options)
  local titles = {}
  for i, group in ipairs(limits) do titles[i] = group.title end
  for _, name in ipairs(options.groups or {}) do
    if not table.concat(titles, "\n"):find(name, 1, true) then
      error(("peers: no group with '%s' in its title; there are: %s"):format(name, table.concat(titles, "; ")), 0)
    end
  end
end

local function measure_groups(options, settings)
  local all = {}
  for index, group in ipairs(limits) do
    if wanted(group, options) then
      settings.progress = function(state)
        if not options.progress then return end
        options.progress { name = ("%s: %s"):format(group.title, state.name), done = index - 1, total = #limits }
      end
      local rows = {}
      for i, line in ipairs(group.lines) do
        line = settings.quick and line.quick or line
        rows[i] = attempt_line(group, line, options.devices[1], settings)
        collectgarbage()
      end
      table.move(rows, 1, #rows, #all + 1, all)
      if group.floor then all[#all + 1] = mean_row(group, rows) end
    end
  end
  return all
end

--- Measures and reports.
-- @tparam table options `devices`, of which the first is measured; `quick`: seven rounds, else nine, and smaller loop
--  nests; `groups`: parts of titles of `clcompute.peers.limits`; `rows`, a folder that keeps what was measured, in
--  peers.jsonl; `progress`
-- @treturn table a document for `clcompute.report`
-- @raise for a group that there is not
function peers.measure(options)
  check_groups(options)
  local device = options.devices[1]
  local library = blas.openblas() -- as many threads as it takes by itself
  local settings = { threads = library and library.threads or 0, quick = options.quick,
    rounds = options.quick and ROUNDS.quick or ROUNDS.full }
  local all = measure_groups(options, settings)
  if options.rows then keep(options.rows .. "/peers.jsonl", all) end
  return { title = "Operations and the libraries of others", subtitle = "Measured in one run on the same data",
    facts = { { "version", cl._VERSION }, { "device", tostring(device) },
      { "OpenBLAS", library and ("%s, kernels for %s, %d threads"):format(library.version, library.core,
        settings.threads) or "not installed" } },
    sections = sections(all, device) }
end

return peers
