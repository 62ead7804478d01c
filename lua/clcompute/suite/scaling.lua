-- SPDX-License-Identifier: MIT
--- `clcompute report scaling`: what more devices are worth. The same work on more of them (strong scaling), and work
-- that grows with them (weak), of devices of this process or of the ranks of a job; and how many bytes went from one to
-- another, beside what theory has.
--
-- One device is the device itself, with its own operations. Under mpirun that is the first rank's, while others wait.

local cl = require "clcompute"
local groups = require "clcompute.groups"
local data = require "clcompute.suite.data"
local model = require "clcompute.suite.scaling_model"
local statistics = require("clcompute.base").statistics

local scaling = {}

local ROUNDS = { full = 7, quick = 3 }
local FEWEST = 3 -- rounds, however long they take
local LIMIT = 20 -- seconds of an operation at a size

-- n of matrices and of vectors, by the type of the device, each from the smallest: one that would take longer than the
-- limit, as the one before it tells, is skipped.
local SIZES = {
  full = { cpu = { matrices = { 2048, 4096 }, vectors = { 1 << 25 } },
    gpu = { matrices = { 4096, 8192, 16384, 32768 }, vectors = { 1 << 26, 1 << 30 } } },
  quick = { cpu = { matrices = { 512 }, vectors = { 1 << 20 } },
    gpu = { matrices = { 4096 }, vectors = { 1 << 26 } } },
}

local UNIT = data.UNIT.float

-- --- what is measured -------------------------------------------------------------------------------------

local function matrix(g, n, seed) return g:random("float", n, n, { seed = seed, low = -1 }) end

--- How far a is from b, in units of the error that n terms of magnitudes |factors| may have.
local function distance(a, b, n, ...)
  local scale = n * UNIT
  for _, x in ipairs { ... } do scale = scale * cl.norm2(x) end
  return cl.norm2(a - b) / scale
end

local CASES = {
  { name = "gemm", is_matrix = true,
    prepare = function(g, n) return { a = matrix(g, n, 1), b = matrix(g, n, 2), c = g:empty("float", n, n) } end,
    run = function(o) cl.gemm(o.a, o.b, { c = o.c }) end,
    check = function(o, g, n) -- (A B) v beside A (B v)
      local v = g:random("float", n, 1, { seed = 4, low = -1 })
      return distance(cl.gemm(o.c, v), cl.gemm(o.a, cl.gemm(o.b, v)), n, o.a, o.b, v)
    end },
  { name = "lu and solve", is_matrix = true,
    prepare = function(g, n)
      return { a = matrix(g, n, 1), b = g:random("float", n, 1, { seed = 3, low = -1 }) }
    end,
    run = function(o)
      local f <close> = cl.lu(o.a)
      o.x = f:solve(o.b)
    end,
    check = function(o, _, n) return distance(cl.gemm(o.a, o.x), o.b, n, o.a, o.x) end },
  { name = "saxpy",
    prepare = function(g, n)
      return { x = g:random("float", n, { seed = 1 }), y = g:random("float", n, { seed = 2 }),
        out = g:empty("float", n) }
    end,
    run = function(o) cl.saxpy(1.5, o.x, o.y, { out = o.out }) end,
    check = function(o, _, n) return distance(o.out, 1.5 * o.x + o.y, n, o.x) end },
  { name = "sum",
    prepare = function(g, n) return { x = g:random("float", n, { seed = 1 }) } end,
    run = function(o) o.sum = cl.sum(o.x) end,
    check = function(o, _, n) return math.abs(o.sum / n - 0.5) * math.sqrt(n) / 6 end }, -- six standard deviations
}

--- n for so many devices: of matrices the work of each stays, which grows as its third power.
local function grown(case, n, count)
  if not case.is_matrix then return n * count end
  return math.floor(n * count ^ (1 / 3) / 64 + 0.5) * 64
end

-- --- who computes -----------------------------------------------------------------------------------------

--- Teams of this process: the first 1, 2, 4 ... of the devices.
local function teams_here(devices)
  local teams = {}
  for count = 1, #devices do
    if count & (count - 1) == 0 or count == #devices then
      local g = cl.group(table.move(devices, 1, count, 1, {}))
      teams[#teams + 1] = { count = count, group = g, start = function() g:wait() end,
        slowest = function(seconds) return seconds end, bytes = function() return g.bytes end }
    end
  end
  return teams
end

--- Teams of a job: the first rank's device alone, and all. The slowest rank counts.
local function teams_of_ranks(world, selector)
  local g = cl.group(selector)
  local own = world.rank == 0 and cl.group { g.devices[world.rank + 1] or require "clcompute.mpi".device(selector) }
  local function start()
    g:wait()
    world:barrier()
  end
  local function slowest(seconds) return world:allreduce(seconds, "max") end
  local function all_bytes() return world:allreduce(g.bytes) end
  return { { count = 1, group = own, start = start, slowest = slowest, bytes = function() return 0 end },
    { count = #g, group = g, start = start, slowest = slowest, bytes = all_bytes } }
end

-- --- measuring --------------------------------------------------------------------------------------------

--- One run of a trial, in seconds; the first one also builds, and is checked.
local function run_once(trial)
  local team, case = trial.team, trial.case
  team.start()
  local start = cl.clock()
  if team.group then
    case.run(trial.operands)
    team.group:wait()
  end
  return team.slowest(cl.clock() - start)
end

--- A case on a team, ready to run: its first run is checked and counted.
local function begin(team, case, n, kind)
  local trial = { team = team, case = case, n = n, kind = kind, times = {} }
  if team.group then trial.operands = case.prepare(team.group, n) end
  local before = team.bytes()
  run_once(trial)
  trial.bytes = team.bytes() - before
  if team.group then trial.distance = case.check(trial.operands, team.group, n) end
  return trial
end

local function finish(trial)
  for _, buffer in pairs(trial.operands or {}) do
    if type(buffer) ~= "number" then buffer:release() end
  end
end

--- Bytes that should have gone from rank to rank: a system that one device solves alone is gathered there, unless it
-- has all of it, as small matrices.
local function theory_of(trial)
  local name, g, n = trial.case.name, trial.team.group, trial.n
  local p, q = g.grid[1], g.grid[2]
  if groups.is_alone(g, n) then return 0 end
  if name == "lu and solve" and groups.gathers(g, n) then return model.gathered(n, p, q, g.block) end
  return model.bytes(name, n, p, q)
end

local function row_of(trial, one, settings)
  local team, found = trial.team, statistics.summary(trial.times)
  local is_right = not trial.distance or trial.distance <= 1
  local row = { name = trial.case.name, scaling = trial.kind, count = team.count, by = settings.by,
    params = { n = trial.n }, device = settings.device, driver = settings.driver, date = settings.date,
    status = is_right and "ok" or "failed", value = found.median, unit = "s", min = found.min, q1 = found.q1,
    q3 = found.q3, runs = #trial.times, bytes = trial.bytes }
  if not is_right then row.reason = ("wrong result: %g times the bound"):format(trial.distance) end
  if team.group then
    local grid = team.group.grid
    row.grid = ("%dx%d"):format(grid[1], grid[2])
    row.theory = theory_of(trial)
  end
  if one and one ~= trial then
    local alone = statistics.median(one.times)
    row.speedup = alone / found.median * (trial.n / one.n) ^ (trial.case.is_matrix and 3 or 1)
    row.efficiency = row.speedup / team.count
  end
  return row
end

--- Trials in turns, until they are as many as wanted or the time is over, which all ranks agree on.
local function take_turns(trials, settings)
  local start = cl.clock()
  for round = 1, settings.rounds do
    if round > FEWEST and settings.agree(cl.clock() - start) > settings.limit / 2 then return end
    for _, trial in ipairs(trials) do trial.times[#trial.times + 1] = run_once(trial) end
  end
end

--- A case on all teams; rows of those with more than one device are related to the one device.
local function measure_case(rows, teams, case, size, settings)
  for _, kind in ipairs { "strong", "weak" } do
    local trials = {}
    for k, team in ipairs(teams) do
      local n = kind == "weak" and grown(case, size, team.count) or size
      if kind == "strong" or k > 1 or #teams > 1 then trials[#trials + 1] = begin(team, case, n, kind) end
    end
    take_turns(trials, settings)
    for k, trial in ipairs(trials) do
      if kind == "strong" or k > 1 then rows[#rows + 1] = row_of(trial, trials[1], settings) end
      finish(trial)
    end
    collectgarbage()
    if #teams == 1 then return end
  end
end

--- A case by its sizes, up to those that would take too long.
local function measure_sizes(rows, teams, case, sizes, settings)
  local before, took
  for _, n in ipairs(sizes) do
    local expected = before and took * (n / before) ^ (case.is_matrix and 3 or 1) or 0
    if expected > settings.limit then
      rows[#rows + 1] = { name = case.name, scaling = "strong", params = { n = n }, status = "skipped",
        reason = ("it would take %.0f s, and may take %g (--limit)"):format(expected, settings.limit) }
    else
      settings.announce(case, n)
      local start = cl.clock()
      measure_case(rows, teams, case, n, settings)
      before, took = n, settings.agree(cl.clock() - start)
    end
  end
end

--- All devices of the first one's kind and platform.
local function alike(devices)
  local list = {}
  for _, device in ipairs(devices) do
    if device.type == devices[1].type and device.platform == devices[1].platform then list[#list + 1] = device end
  end
  return list
end

-- --- the report -------------------------------------------------------------------------------------------

local COLUMNS = {
  { key = "name", title = "operation" }, { key = "scaling", title = "scaling" }, { key = "params.n", title = "n" },
  { key = "count", title = "devices" }, { key = "grid", title = "grid" }, { key = "value", title = "median" },
  { key = { "q1", "q3" }, title = "quartiles" }, { key = "speedup", title = "speed-up" },
  { key = "efficiency", title = "efficiency", format = "percent" }, { key = "bytes", title = "bytes moved" },
  { key = "theory", title = "in theory" },
}

local TEXT = "Strong: the same work on more devices. Weak: work that grows with them, n of matrices as the third root. "
  .. "The speed-up is over the device alone, the efficiency its share of ideal. Bytes went from device to device."

function scaling.document(rows)
  local where = rows[1] and ("%s, %s"):format(rows[1].device, rows[1].by) or ""
  return { title = "Scaling", subtitle = where, sections = { { title = "More devices", text = TEXT, rows = rows,
    columns = COLUMNS, chart = { kind = "line", x = "count", y = "efficiency",
      series = { "name", "scaling", "params.n" }, xtitle = "devices", ytitle = "efficiency", xlog = 2 } } } }
end

--- Measures, on the devices or, under mpirun, on the ranks of the job.
-- @tparam table options `devices`, `selector`, `quick`, `sizes` (n of matrices), `limit` (seconds of an operation at a
-- size), `progress`
-- @treturn ?table a document; nil on ranks other than the first
-- @treturn ?table its rows
function scaling.measure(options)
  local world = require "clcompute.mpi".world
  local devices = alike(options.selector and cl.devices(options.selector) or options.devices)
  local how = options.quick and "quick" or "full"
  local sizes = SIZES[how][devices[1].type == "cpu" and "cpu" or "gpu"]
  local teams = world.launcher and teams_of_ranks(world, options.selector) or teams_here(devices)
  local rows, progress, done = {}, options.progress or function() end, 0
  local settings = { rounds = ROUNDS[how], limit = options.limit or LIMIT,
    by = world.launcher and "ranks" or "devices of a process", device = devices[1].name, driver = devices[1].driver,
    date = os.date "!%Y-%m-%dT%H:%M:%SZ",
    agree = function(seconds) return world.launcher and world:allreduce(seconds, "max") or seconds end,
    announce = function(case, n)
      if world.rank > 0 then return end
      progress { name = ("%s, n = %d"):format(case.name, n), done = done, total = #CASES }
    end }
  for _, case in ipairs(CASES) do
    measure_sizes(rows, teams, case, case.is_matrix and (options.sizes or sizes.matrices) or sizes.vectors, settings)
    done = done + 1
  end
  if world.rank > 0 then return nil end
  return scaling.document(rows), rows
end

return scaling
