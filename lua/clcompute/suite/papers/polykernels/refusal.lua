-- SPDX-License-Identifier: MIT

--- The refusal set, in place of the programs of tables 3 and 4: a program with six small loops in three functions that
-- it calls often, as it is, and with the functions compiled, with heuristics and without. In seconds of CPU time.
-- @module clcompute.suite.papers.polykernels.refusal

local bench = require "clcompute.bench"
local data = require "clcompute.suite.papers.polykernels.data"
local loops = require "clcompute.loops"
local rows = require "clcompute.suite.papers.polykernels.rows"

--- A candidate that runs the program with these functions.
local function candidate(program, functions, sentences, fields)
  fields.timed = true
  function fields.fn()
    local start = os.clock()
    local result = program.run(functions, sentences)
    return os.clock() - start, result
  end
  return fields
end

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

--- Measures the set.
-- @tparam table options `devices`, `quick`, `seconds`, `progress`
-- @treturn table a section
return function(options)
  local program = dofile(rows.path "refusal")
  local sentences = program.sizes[options.quick and "quick" or "full"]
  local expected = program.run(program.functions, sentences)
  local list, launches = {}, {}
  list[1] = candidate(program, program.functions, sentences,
    { name = "Lua", params = { method = "Lua" }, device = "Lua" })
  for _, device in ipairs(options.devices) do
    for _, form in ipairs { { "loops", "model" }, { "forced", "none" } } do
      local functions, lack = compile_all(program.functions, device, form[2])
      local fields = { name = ("%s, %s"):format(form[1], device.place), params = { method = form[1] }, device = device,
        unsupported = lack }
      function fields.check(result)
        launches[fields] = launches_of(functions)
        return data.equal(expected, result)
      end
      list[#list + 1] = candidate(program, functions, sentences, fields)
    end
  end
  local measured = bench.compare(list, { seconds = options.seconds, peak = false, baseline = "Lua",
    progress = options.progress })
  for i, row in ipairs(measured) do
    row.launches = launches[list[i]]
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
