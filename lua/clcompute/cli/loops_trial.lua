-- SPDX-License-Identifier: MIT

--- The arguments with which `clcompute loops` looks at a function, read from `--arguments` and filled up; and its trial
-- with them: called in Lua and compiled, for times, and for whether the results are the same.

local command_line = require "clcompute.cli.command_line"
local data = require("clcompute.suite").data
local interrupt = require("clcompute.base").interrupt
local output = require "clcompute.cli.output"

local loops_trial = {}

local COLUMNS = {
  { key = "name", title = "" }, { key = "first", title = "call 1 s" }, { key = "second", title = "call 2 s" },
  { key = "launches", detail = true }, { key = "bytes", title = "bytes copied", detail = true },
  { key = "result", wrap = true },
}
local SUMMARY = {
  { key = "name", title = "call 2, s" }, { key = "lua", title = "Lua" }, { key = "pays", title = "where it pays" },
  { key = "device", title = "all on device" }, { key = "result", wrap = true },
}
local CALLS = 2 -- the first one analyses, and builds
local LUA_HAS = { double = true, long = true } -- of the dtypes of buffers
local MOST_ELEMENTS <const> = 1 << 26 -- of a table: 1 GiB
local DEFAULT_FLOAT <const>, DEFAULT_INTEGER <const> = 1.5, 3 -- of numbers that are no bound and no subscript
local AS_IN_LUA <const> = "as in Lua"
local NUMBER_WORDS = { integer = "int", float = "float" }

-- --- arguments ----------------------------------------------------------------------------

--- "100x50" as a list, or nil.
local function sizes_of(text)
  local sizes = {}
  for word in (text .. "x"):gmatch "([^x]*)x" do
    local size = command_line.positive_integer(word)
    if not size then return nil end
    sizes[#sizes + 1] = size
  end
  return sizes
end

--- Reads "A=floats:100x50,B=double,n=100,alpha=float".
-- @string text
-- @treturn[1] table by name `{ word=, sizes=, value= }`: the kind, the sizes of an array, the value of a number
-- @treturn[2] nil
-- @treturn[2] string what was expected
function loops_trial.parse(text)
  local given = {}
  for part in (text .. ","):gmatch "([^,]*)," do
    local name, word, sizes = part:match "^%s*([%a_][%w_]*)=([^:%s]+)(:?%S*)%s*$"
    local value = tonumber(word)
    local row = { word = value and NUMBER_WORDS[math.type(value)] or word, value = value,
      sizes = name and sizes_of(sizes:sub(2)) }
    if not name or given[name] or (sizes ~= "" and not row.sizes) then
      return nil, ("NAME=KIND, NAME=KIND:100x50 or NAME=NUMBER with commas expected, each name once, got '%s'")
        :format(part)
    end
    given[name] = row
  end
  return given
end

local function check(row, given)
  if row.is_array and given.value then
    error(("'%s' is an array: floats, integers or a dtype expected, got %s"):format(row.name, given.value), 0)
  elseif not row.is_array and given.sizes then
    error(("'%s' is a number and has no sizes"):format(row.name), 0)
  end
end

--- The words for `clcompute.loops.explain.presumption`.
-- @tparam table rows of `clcompute.loops`: what each argument is
-- @tparam table given of `parse`
-- @treturn table by name
-- @raise that an array is given a number, or a number sizes
function loops_trial.words(rows, given)
  local words = {}
  for _, row in ipairs(rows) do check(row, given[row.name] or {}) end
  for name, row in pairs(given) do words[name] = row.word end
  return words
end

--- The sizes of an array; a flat one that is a matrix has as many elements as that.
local function extents_of(row, given, size)
  local extents, elements = given.sizes or {}, 1
  if given.sizes and #extents ~= row.variable.rank then
    error(("'%s' has rank %d, but %d sizes were given"):format(row.name, row.variable.rank, #extents), 0)
  end
  for d = 1, row.variable.rank do
    extents[d] = extents[d] or math.tointeger(size ^ (1 + #(row.variable.pitches or {}))) or math.maxinteger
    elements = elements * (extents[d] + 0.0)
    if elements > MOST_ELEMENTS then
      error(("'%s' would have more than %d elements: give a smaller --size"):format(row.name, MOST_ELEMENTS), 0)
    end
  end
  return extents
end

local function is_integral(kind)
  return kind.element == "int" or kind.dtype == "long"
end

local function new_array(row, kind, given, size, random)
  local extents = extents_of(row, given, size)
  if row.variable.is_pointer then -- indices of other arrays
    return data.array(extents, function() return 1 + random() * size // 1 | 0 end, 0, 1)
  end
  if not is_integral(kind) then return data.array(extents, random) end
  return data.array(extents, function() return random() * 10 // 1 | 0 end, 0, 1)
end

local function new_number(row, kind, given, size)
  if given.value then return given.value end
  if row.is_index then return size end
  return kind.type == "int" and DEFAULT_INTEGER or DEFAULT_FLOAT
end

--- Makes values: arrays as nested tables of random numbers, the same each time. `size`: of each dimension, and of
-- numbers in bounds and subscripts, unless given.
local function new_values(rows, kinds, given, size)
  local values, random = {}, data.generator(1)
  for i, row in ipairs(rows) do
    local new = row.is_array and new_array or new_number
    values[i] = new(row, kinds[row.variable], given[row.name] or {}, size, random)
  end
  return values
end

local function shape_of(value)
  local sizes = {}
  while type(value) == "table" do
    sizes[#sizes + 1] = #value
    value = value[1]
  end
  return table.concat(sizes, " x ")
end

--- Values in words: "A: floats, 64 x 64; n = 64".
local function arguments_text(rows, kinds, values)
  local texts = {}
  for i, row in ipairs(rows) do
    local kind = kinds[row.variable]
    if row.is_array then
      local noun = kind.dtype and "buffer of " .. kind.dtype or kind.element == "float" and "table of floats"
        or "table of integers"
      texts[i] = ("%s: %s, %s"):format(row.name, noun, shape_of(values[i]))
    else
      texts[i] = ("%s = %s"):format(row.name, values[i])
    end
  end
  return #texts > 0 and table.concat(texts, "; ") or "no arguments"
end

-- --- calls --------------------------------------------------------------------------------

--- Lua computes in doubles and 64-bit integers, so other buffers have other results.
local function check_dtypes(rows, kinds)
  for _, row in ipairs(rows) do
    local dtype = kinds[row.variable].dtype
    if dtype and not LUA_HAS[dtype] then
      error(("'%s' is a buffer of %s, which Lua has not: --run compares tables and buffers of double and long")
        :format(row.name, dtype), 0)
    end
  end
end

--- The values as a call takes them: buffers where the kinds say so.
local function passed(trial, device)
  local list = data.copies(trial.values)
  for i, row in ipairs(trial.rows) do
    local dtype = trial.kinds[row.variable].dtype
    if dtype then list[i] = device:buffer(list[i], dtype) end
  end
  return list
end

--- Sets arrays back to the values before a call.
local function restore(list, values)
  for i, value in ipairs(values) do
    if type(list[i]) == "table" then data.restore(list[i], value) end
    if type(list[i]) == "userdata" then list[i]:write(value) end
  end
end

local function seconds_of(f, list, device)
  device:wait()
  local clock = command_line.library().clock
  local start = clock()
  local returned = table.pack(pcall(f, table.unpack(list)))
  if not returned[1] then error(returned[2], 0) end
  list.returned = table.move(returned, 2, returned.n, 1, {})
  device:wait()
  return clock() - start
end

-- --- results ------------------------------------------------------------------------------

--- Counts numbers that differ, and finds the largest relative difference; NaN is NaN, and 0 is not -0.
local function count_numbers(expected, got, found)
  if data.equal(expected, got) then return end
  local relative = math.abs(got - expected) / math.abs(expected)
  found.count = found.count + 1
  found.largest = math.max(found.largest, relative == relative and relative or math.huge)
end

local NUMBER_OF = { [true] = 1, [false] = 0 } -- in buffers

--- Counts the elements that differ; where one side has no number in a place, the other one may have a row there.
local function count_differences(expected, got, found)
  if type(got) == "userdata" then got = got:read() end
  if type(expected) == "table" and type(got) == "table" then
    for key, item in pairs(expected) do count_differences(item, got[key], found) end
    for key in pairs(got) do
      if expected[key] == nil then found.alone = found.alone + 1 end
    end
    return
  end
  if type(got) == "number" and type(expected) == "boolean" then expected = NUMBER_OF[expected] end
  if type(expected) == "number" and type(got) == "number" then
    count_numbers(expected, got, found)
  elseif expected ~= got then
    found.alone = found.alone + 1
  end
end

--- What differs after a call; what did after the one before it, if that is no less.
local function compare(expected, list, before)
  local found = { count = 0, alone = 0, largest = 0.0 }
  for i, value in ipairs(list) do count_differences(expected[i], value, found) end
  count_differences(expected.returned, list.returned, found)
  return before and before.count + before.alone >= found.count + found.alone and before or found
end

local function difference_text(found)
  local texts = {}
  if found.count > 0 then texts[1] = ("%d elements differ, by %.2g at most"):format(found.count, found.largest) end
  if found.alone > 0 then
    texts[#texts + 1] = ("%d elements or rows are in one result alone, or of another type"):format(found.alone)
  end
  return #texts > 0 and table.concat(texts, "; ") or AS_IN_LUA
end

-- --- the table ----------------------------------------------------------------------------

local function time_text(seconds)
  return ("%.6f"):format(seconds)
end

--- Raises what fails in a line of the function, as the values that nobody gave do not fit.
local function raise_misfit(trial, name, message)
  local names = {}
  for _, row in ipairs(trial.rows) do
    local given = trial.given[row.name]
    if not (given and given.value) then names[#names + 1] = row.name end
  end
  error(("%s: %s%s"):format(name, message, #names > 0 and ("; the values made up for %s do not fit; --arguments says "
    .. "others"):format(table.concat(names, ", ")) or ""), 0)
end

--- The seconds of a compiled call.
local function compiled_seconds(trial, compiled, list, device)
  local ok, result = pcall(seconds_of, compiled, list, device)
  if ok then return result end
  interrupt.pass_on(result)
  if not result:find "line %d" then error(result, 0) end
  raise_misfit(trial, compiled.state.name, result)
end

--- Runs the function itself, and keeps its results. Where it fails, the compiled one says in words what it fails at.
local function lua_row(trial, fn, compiled, device)
  local list, times = data.copies(trial.values), {}
  for i = 1, CALLS do
    restore(list, trial.values)
    local ok, message = pcall(function() times[i] = time_text(seconds_of(fn, list, device)) end)
    if not ok then
      interrupt.pass_on(message)
      compiled_seconds(trial, compiled, passed(trial, device), device)
      raise_misfit(trial, compiled.state.name, message)
    end
  end
  trial.expected = list
  return { name = "Lua", first = times[1], second = times[2], launches = "", bytes = "", result = "" }
end

local function compiled_row(trial, name, compiled, device)
  local list, times = passed(trial, device), {}
  local found, before
  for i = 1, CALLS do
    restore(list, trial.values)
    before = compiled:stats()
    times[i] = time_text(compiled_seconds(trial, compiled, list, device))
    found = compare(trial.expected, list, found)
  end
  local after = compiled:stats()
  trial.has_failed = trial.has_failed or found.count + found.alone > 0 and trial.is_exact
  return { name = name, first = times[1], second = times[2], launches = tostring(after.launches - before.launches),
    bytes = ("%d"):format(after.bytes_up + after.bytes_down - before.bytes_up - before.bytes_down),
    result = difference_text(found) }
end

--- Why results may differ from Lua's, lines; none where they must not.
local function allowances(spec)
  local explain = require "clcompute.loops.explain"
  local lines, inexact = {}, explain.inexact(spec.tree)
  local reorders, swaps, has_copies = explain.shared_out(spec.plan)
  if #inexact > 0 then
    lines[1] = table.concat(inexact, ", ") .. ": the last digits may differ, as OpenCL allows\n"
  end
  if reorders or has_copies then
    lines[#lines + 1] = "sums and products that are shared out: the last digits may differ, as another order rounds "
      .. "otherwise\n"
  end
  if swaps then
    lines[#lines + 1] = "minima and maxima that are shared out: NaN is left out, of 0.0 and -0.0 either may be left\n"
  end
  return lines
end

--- What lies below the table.
local function remarks(allowed, state)
  local explain = require "clcompute.loops.explain"
  return ("%swhere it pays, the second call:\n%s"):format(table.concat(allowed), explain.latest(state))
end

local function has_parallel(plan)
  for _, kernel in ipairs(plan.kernels) do
    if not kernel.is_task then return true end
  end
  return false
end

--- The rows of what a call is given.
local function arguments_of(state)
  local rows = {}
  for _, row in ipairs(state.rows) do
    if not row.variable.is_result and not row.is_computed then rows[#rows + 1] = row end
  end
  return rows
end

--- The times of the second calls in a row, and the result that is farthest from Lua's.
local function summary_row(name, lines)
  local row = { name = name, lua = lines[1].second, pays = lines[2].second, device = "", result = lines[2].result }
  if lines[3] then row.device = lines[3].second end
  if lines[3] and row.result == AS_IN_LUA then row.result = lines[3].result end
  return row
end

--- Calls a function in Lua, compiled as profitability decides, and compiled with all parallel nests on the device.
-- @tparam function fn
-- @tparam table compiled of `loops.compile`
-- @tparam table forced the same with `force = true`
-- @tparam table request `device`; `given` and `size`, as the command line has them; `presumed`, of
-- `clcompute.loops.explain.presumption`
-- @treturn string a table and, below it, where each nest ran
-- @treturn boolean whether results differ that should not
-- @treturn table the function's row for `summary`
function loops_trial.run(fn, compiled, forced, request)
  local rows, presumed, device = arguments_of(compiled.state), request.presumed, request.device
  check_dtypes(rows, presumed.kinds)
  local allowed = allowances(presumed.spec)
  local trial = { rows = rows, kinds = presumed.kinds, is_exact = #allowed == 0, has_failed = false,
    given = request.given,
    values = new_values(rows, presumed.kinds, request.given, request.size) }
  local lines = { lua_row(trial, fn, compiled, device),
    compiled_row(trial, "where it pays", compiled, device) }
  if has_parallel(presumed.spec.plan) then
    lines[3] = compiled_row(trial, "all on device", forced, device)
  end
  local arguments = output.fitted(arguments_text(rows, presumed.kinds, trial.values))
  return ("%s\non %s\n\n%s\n\n%s"):format(arguments, device.name, output.table(COLUMNS, lines),
    output.fitted(remarks(allowed, compiled.state))), trial.has_failed, summary_row(compiled.state.name, lines)
end

--- The second calls of functions, a row each.
-- @tparam {table,...} rows of `run`, or with a `name` and a `result` alone
-- @treturn string
function loops_trial.summary(rows)
  return output.table(SUMMARY, rows)
end

return loops_trial
