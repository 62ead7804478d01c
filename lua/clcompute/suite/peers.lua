-- SPDX-License-Identifier: MIT
--- `clcompute report peers`: our operations and those of other libraries, measured in turns and checked: on a GPU of
-- NVIDIA's beside cuBLAS, cuSOLVER, CUB and CUDA, elsewhere beside OpenBLAS, CLBlast and C.
--
-- OpenBLAS counts with one thread and with as many as there are cores, and the faster one is the peer. Its idle threads
-- spin for a tenth of a second after a call and would take a core from whatever is measured next: every run waits for
-- their end.

local bench = require "clcompute.bench"
local blas = require "clcompute.blas"
local cl = require "clcompute"
local cuda = require "clcompute.suite.cuda"
local gpu_limits = require "clcompute.suite.gpu_limits"
local interrupt = require("clcompute.base").interrupt
local limits = require "clcompute.suite.limits"
local workload = require "clcompute.suite.workload"

local peers = {}

local ROUNDS = { cpu = { full = 9, quick = 7 }, gpu = { full = 7, quick = 5 } }
local SPIN = 0.2 -- seconds until OpenBLAS' idle threads sleep, and more
local SPIN_OF_NESTS = 0.05 -- seconds until those of OpenMP sleep, 8 ms or more; OpenBLAS does not run beside nests
local RUN = 0.03 -- seconds of a run, about; on a GPU
local RUN_ON_GPU = 0.01
local PACE = 50e9 -- operations or bytes a second, and
local LEAST = 20e-6 -- seconds of any call: to guess how many calls a run has

-- --- candidates -----------------------------------------------------------------

--- Waits until nobody spins any more.
local function quiet(seconds)
  local start = cl.clock()
  while cl.clock() - start < seconds do end
end

--- Makes a run of a candidate so many calls, each of which is waited for, after some seconds of rest. The first run,
-- whose result is checked, is one call: a second one would change an operand that is updated in place.
local function repeated(made, device, calls, spin)
  local call, reset, next_calls = made.fn, made.reset, 1
  made.flops, made.bytes = made.flops and made.flops * calls, made.bytes and made.bytes * calls
  function made.reset()
    quiet(spin)
    if reset then reset() end
  end
  made.fn = call and function()
    local seconds
    for _ = 1, next_calls do
      local took = call()
      if made.timed then seconds = (seconds or 0.0) + took else device:wait() end
    end
    next_calls = calls
    return seconds
  end
end

--- Makes a candidate wait for each of its calls, and for its data before.
local function waited(made, device)
  local call, reset = made.fn, made.reset
  made.split = false
  made.reset = reset and function()
    reset()
    device:wait()
  end
  made.fn = call and function()
    local seconds = call()
    if made.timed then return seconds end
    device:wait()
  end
end

--- The peer's candidates: OpenBLAS with one thread and with the most.
local function theirs(work, against, device, most)
  local list = {}
  local function add(name, threads)
    list[#list + 1] = workload.theirs(work, against, device, threads)
    list[#list].name = name
  end
  if against ~= "OpenBLAS" or most == 0 then
    add(against)
  else
    add("OpenBLAS, 1 thread", 1)
    if most > 1 then add(("OpenBLAS, %d threads"):format(most), most) end
  end
  return list
end

-- --- a line ---------------------------------------------------------------------

local function label(line)
  if line.label then return line.label end
  local text = line.m and ("%d x %d x %d"):format(line.m, line.k, line.n) or ("n = %d"):format(line.n)
  return line.batch and ("%d of %s"):format(line.batch, text) or text
end

--- How many calls a run has. A nest, whose operations are not counted, needs its data set back before each call.
local function calls_of(work)
  local amount = work.flops or work.bytes
  return amount and math.max(1, math.floor(RUN / (amount / PACE + LEAST))) or 1
end

--- The candidates, ours first; how many calls a run of each has, and what counts the kernels of our latest call. On a
-- GPU the bench finds how many calls a run has.
local function candidates_of(group, line, device, settings)
  local work = workload.new(group.workload, line, group.dtype)
  local calls = settings.on_gpu and 1 or calls_of(work)
  local spin = group.workload == "loops" and SPIN_OF_NESTS or SPIN
  local ours, operands = workload.ours(work, device, group.method)
  ours.name, ours.split = "clcompute", not work.reset -- else the copies that set data back would count as the call's
  local list = { ours, table.unpack(theirs(work, line.against or group.against, device, settings.threads)) }
  local also = group.also and theirs(work, group.also, device, settings.threads)[1]
  if also and not also.unsupported then list[#list + 1] = also end
  for _, made in ipairs(list) do
    if settings.on_gpu then waited(made, device) else repeated(made, device, calls, spin) end
  end
  return list, calls, work.counts and operands and function() return work.counts(operands).launches end
end

--- The peer's row: the fastest that is right, without the one that stands beside it.
local function fastest(rows, also)
  local best
  for i = 2, #rows do
    local is_peer = rows[i].status == "ok" and rows[i].name ~= also
    if is_peer and (not best or rows[i].value < best.value) then best = rows[i] end
  end
  return best
end

--- What identifies a line, and what it must reach and is meant to by itself.
local function heading(group, line)
  local from = group.each and group or line
  return { group = group.title, line = label(line), against = line.against or group.against, must = from.must,
    goal = from.goal, is_nest = group.workload == "loops" or nil }
end

--- Adds to our row the peer's, and how they stand to each other.
local function add_peer(row, peer, calls, share)
  for _, key in ipairs { "value", "q1", "q3" } do row["peer_" .. key] = peer[key] and peer[key] / calls end
  row.peer_gflops, row.peer_gbs = peer.gflops, peer.gbs
  if row.status ~= "ok" then return end
  row.times = share * row.peer_value / row.value
  row.reached = not row.must and "" or row.times >= row.goal and "goal" or row.times >= row.must and "must" or "missed"
end

--- Adds to our row how it stands to the peer beside, where there is one.
local function add_other(row, other, also, calls)
  if other.name ~= also or other.status ~= "ok" or row.status ~= "ok" then return end
  row.also_value = other.value / calls
  row.also_times = row.also_value / row.value
end

--- One row: ours, with the peer and the limits beside it.
local function measure_line(group, line, device, settings)
  local list, calls, launches = candidates_of(group, line, device, settings)
  local rounds = line.rounds or settings.rounds
  local rows = bench.compare(list, { rounds = rounds, seconds = settings.on_gpu and rounds * RUN_ON_GPU or 0.001,
    peak = false, progress = settings.progress })
  local row, peer = rows[1], fastest(rows, group.also)
  for key, value in pairs(heading(group, line)) do row[key] = value end
  row.against = peer and peer.name or row.against
  row.launches = launches and launches()
  row.clock_mhz = settings.on_gpu and cuda.clock(device) or nil
  for _, key in ipairs { "value", "min", "q1", "q3" } do row[key] = row[key] and row[key] / calls end
  add_other(row, rows[#rows], group.also, calls)
  if peer then
    add_peer(row, peer, calls, line.share or 1)
  else
    row.reason = row.reason or rows[2].reason
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
    if row.times then
      sum, count, least = sum + math.log(row.times), count + 1, math.min(least, row.times, row.also_times or math.huge)
    end
  end
  local mean = count == #rows and math.exp(sum / count) or nil
  local function meets(limit, floor) return mean and mean >= limit and least >= floor end
  return { group = group.title, line = ("geometric mean; least %.2f"):format(least), status = mean and "ok" or "failed",
    times = mean, must = group.must, goal = group.goal, params = {}, is_nest = group.workload == "loops" or nil,
    reached = meets(group.goal, group.floor[2]) and "goal" or meets(group.must, group.floor[1]) and "must" or "missed" }
end

local function wanted(group, options)
  if not options.groups then return true end
  for _, name in ipairs(options.groups) do
    if group.title:find(name, 1, true) then return true end
  end
  return false
end

local function check_groups(options, list)
  local titles = {}
  for i, group in ipairs(list) do titles[i] = group.title end
  for _, name in ipairs(options.groups or {}) do
    if not table.concat(titles, "\n"):find(name, 1, true) then
      error(("peers: no group with '%s' in its title; there are: %s"):format(name, table.concat(titles, "; ")), 0)
    end
  end
end

--- The lines of a group that are measured.
local function lines_of(group, settings)
  local lines = {}
  for _, line in ipairs(group.lines) do
    if not settings.quick then
      lines[#lines + 1] = line
    elseif line.quick ~= false then
      lines[#lines + 1] = line.quick or line
    end
  end
  return lines
end

--- The groups that are asked for, and the seconds that each of their lines takes, about, on two cores.
local function chosen(options, list, settings)
  local groups, weights = {}, {}
  for _, group in ipairs(list) do
    if wanted(group, options) then
      groups[#groups + 1] = group
      for _ = 1, #lines_of(group, settings) do weights[#weights + 1] = group.workload == "loops" and 7 or 13 end
    end
  end
  return groups, weights
end

local function measure_groups(options, list, settings)
  local groups, weights = chosen(options, list, settings)
  local all, done = {}, 0
  for _, group in ipairs(groups) do
    settings.progress = function(state)
      if not options.progress then return end
      options.progress { name = ("%s: %s"):format(group.title, state.name), done = done, weights = weights }
    end
    local rows = {}
    for i, line in ipairs(lines_of(group, settings)) do
      rows[i] = attempt_line(group, line, options.devices[1], settings)
      done = done + 1
      collectgarbage()
    end
    table.move(rows, 1, #rows, #all + 1, all)
    if group.floor then all[#all + 1] = mean_row(group, rows) end
  end
  return all
end

-- --- the report -----------------------------------------------------------------

local function ratio(value) return ("%.2f"):format(value) end
local function launches(count) return count == 0 and "in Lua" or ("%d"):format(count) end

-- What is shown beside the times: of operations their rates, of loop nests how many kernels they became.
local RATES = { { key = "gflops", title = "GFLOP/s" }, { key = "gbs", title = "GB/s" } }
local LAUNCHES = { { key = "launches", format = launches, align = "right" } }

local function columns(between)
  local list = { { key = "group" }, { key = "line" }, { key = "value", title = "ours" },
    { key = { "q1", "q3" }, title = "quartiles" } }
  table.move(between, 1, #between, #list + 1, list)
  local rest = { { key = "against" }, { key = "peer_value", title = "theirs", unit = "s" },
    { key = "times", title = "ratio", format = ratio, align = "right" },
    { key = "also_times", title = "OpenMP", format = ratio, align = "right" },
    { key = "must", format = ratio, align = "right" }, { key = "goal", format = ratio, align = "right" },
    { key = "reached" }, { key = "checked", title = "right" } }
  return table.move(rest, 1, #rest, #list + 1, list)
end

local TEXT = "Medians of a call, all that a line compares measured in turns. ratio: the peer's time over ours. "
  .. "must and goal: what it is to reach"
local OF_OPERATIONS = "; of a group with a mean the mean, and no line below a floor."
local OF_LOOPS = ". gcc: the same nest in C on one core, products and sums fused in floats, not in doubles. "
  .. "CUDA: its parallel loops by nvcc, a thread an iteration. "
  .. "Lua: where its sizes are given too, by the time of an inner iteration. launches: kernels of a call."

--- Sections of a document: of operations, and of loop nests.
local function sections_of(all, device)
  local of_operations, of_loops, list = {}, {}, {}
  for _, row in ipairs(all) do
    local rows = row.is_nest and of_loops or of_operations
    rows[#rows + 1] = row
  end
  local function add(title, rows, between, text)
    if #rows == 0 then return end
    list[#list + 1] = { title = ("%s on %s"):format(title, device.name), text = TEXT .. text, rows = rows,
      columns = columns(between) }
  end
  add("Ours and theirs", of_operations, RATES, OF_OPERATIONS)
  add("Loop nests on buffers", of_loops, LAUNCHES, OF_LOOPS)
  return list
end

--- What CUDA's libraries are; raises where they are missing.
local function cuda_version(device)
  local library, reason = cuda.open(device)
  return library and library.version or error("peers: " .. reason, 0)
end

local function openblas_version(library)
  return library and ("%s, kernels for %s, %d threads"):format(library.version, library.core, library.threads)
    or "not installed"
end

--- Measures and reports.
-- @tparam table options `devices`, of which the first is measured; `quick`: few rounds and small or few lines;
--  `groups`: parts of titles; `list`: groups to choose from, those of the kind of device unless given; `progress`
-- @treturn table a document for `clcompute.report`
-- @treturn table the rows, to be kept
-- @raise for a group that there is not, and on a GPU of NVIDIA's where CUDA's libraries are missing
function peers.measure(options)
  local device = options.devices[1]
  local on_gpu = device.type == "gpu" and device.platform:find "NVIDIA" ~= nil
  local list = options.list or on_gpu and gpu_limits or limits
  check_groups(options, list)
  local library = not on_gpu and blas.openblas() -- as many threads as it takes by itself
  local other = on_gpu and { "CUDA", cuda_version(device) } or { "OpenBLAS", openblas_version(library) }
  local rounds = ROUNDS[on_gpu and "gpu" or "cpu"]
  local all = measure_groups(options, list, { threads = library and library.threads or 0, quick = options.quick,
    on_gpu = on_gpu, rounds = options.quick and rounds.quick or rounds.full })
  return { title = "Operations and the libraries of others", subtitle = "Measured in one run on the same data",
    facts = { { "version", cl._VERSION }, { "device", tostring(device) }, other },
    sections = sections_of(all, device) }, all
end

return peers
