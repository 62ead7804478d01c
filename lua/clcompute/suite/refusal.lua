-- SPDX-License-Identifier: MIT

--- The refusal set, in place of the programs of tables 3 and 4: a program with six small loops in three functions that
-- it calls often, as it is, and with the functions compiled, with heuristics and without. In seconds of CPU time.

local bench = require "clcompute.bench"
local data = require "clcompute.suite.data"
local loops = require "clcompute.loops"
local polykernels = require "clcompute.suite.polykernels"
local workload = require "clcompute.suite.workload"

local HEURISTICS = { loops = "model", forced = "none" } -- by method

local function compile_all(functions, device, heuristics)
  local compiled = {}
  for name, f in pairs(functions) do
    local g, failure = loops.compile(f, { device = device, heuristics = heuristics })
    if not g then return nil, tostring(failure) end
    compiled[name] = g
  end
  return compiled
end

local function launches_of(compiled)
  local count = 0
  for _, f in pairs(compiled) do count = count + f:stats().launches end
  return count
end

--- The set as a workload (`clcompute.suite.workload`).
local function workload_of(program, sentences)
  local expected = program.run(program.functions, sentences)
  local work = { name = "refusal", timed = true, methods = { "loops", "forced" }, others = {} }

  --- Runs the program with these functions.
  local function run(functions)
    local start = os.clock()
    local result = program.run(functions, sentences)
    return os.clock() - start, result
  end
  function work.prepare(device, method)
    local functions, reason = compile_all(program.functions, device, HEURISTICS[method])
    if not functions then return nil, reason end
    return { functions = functions }
  end
  function work.run(o)
    local before = launches_of(o.functions)
    local seconds, result = run(o.functions)
    o.result, o.launches = result, launches_of(o.functions) - before
    return seconds
  end
  function work.result(o) return o.result end
  function work.check(result) return data.equal(expected, result) end
  function work.counts(o) return { launches = o.launches } end
  function work.others.Lua()
    return { timed = true, run = function() return (run(program.functions)) end }
  end
  return work
end

--- Measures the set.
-- @tparam table options `devices`, `quick`, `seconds`, `progress`
-- @treturn table a section
return function(options)
  local program = dofile(polykernels.path "refusal")
  local sentences = program.sizes[options.quick and "quick" or "full"]
  local work = workload_of(program, sentences)
  local list, operands = workload.methods(work, { "Lua" }, options.devices)
  local measured = bench.compare(list, { seconds = options.seconds, peak = false, baseline = "Lua",
    progress = options.progress })
  for i, row in ipairs(measured) do
    local own = operands[list[i]]
    row.launches = own and work.counts(own).launches
    row.speed_up = row.ratio and 1 / row.ratio
  end
  return {
    title = ("The refusal set: %d small loops in three functions, called %d times each")
      :format(program.loops, sentences),
    text = "\"forced\" is without heuristics. "
      .. "For the paper's \"parser\": x1 with heuristics, x0.47 without. The whole program in CPU time, in turns.",
    rows = measured,
    columns = { { key = "device" }, { key = "params.method", title = "method" }, { key = "value", title = "CPU time" },
      { key = { "q1", "q3" }, title = "quartiles" },
      { key = "speed_up", title = "speed-up", format = "x%.2f" }, { key = "launches" },
      { key = "checked", title = "as Lua" } },
    chart = { kind = "bar", x = "name", y = "value", low = "q1", high = "q3", ytitle = "CPU time of the program" },
  }
end
