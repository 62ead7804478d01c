-- SPDX-License-Identifier: MIT

--- One call of a compiled function: from its values to the copies, launches and loops.

local UNSET = require("clcompute.loops.analysis").local_tables.UNSET
local arguments = require "clcompute.loops.runtime.arguments"
local ast = require("clcompute.loops.tree").ast
local bounds = require("clcompute.loops.analysis").bounds
local costs = require "clcompute.loops.runtime.costs"
local decision = require "clcompute.loops.runtime.decision"
local faults = require("clcompute.loops.generation").faults
local host = require("clcompute.loops.generation").host
local indices = require("clcompute.loops.generation").indices
local interrupt = require("clcompute.base").interrupt
local kernel_target = require "clcompute.loops.runtime.kernel_target"
local launchers = require "clcompute.loops.runtime.launchers"
local lua_text = require("clcompute.loops.tree").lua_text
local repetition = require "clcompute.loops.runtime.repetition"
local scattered = require "clcompute.loops.runtime.scattered"
local storage = require "clcompute.loops.runtime.storage"

local call = {}

-- --- what fails in kernels ------------------------------------------------------------------

--- Waits for kernels that note what fails in them, and raises that.
local function check_faults(spec, kernels, numbers)
  local buffer = kernels and kernels.faults
  if not buffer then return end
  local found = buffer:read()
  if found[1] == 0 then return end
  buffer:write { 0, 0 }
  kernels.before:write { 0, 0 }
  for i, nest in ipairs(spec.plan.kernels) do
    if nest.is_shared and kernels[i].progress then kernels[i].progress:fill(0) end
  end
  error(faults.describe(spec.sites[found[1]], found[2], spec.tree, numbers), 0)
end

-- --- numbers of a call ---------------------------------------------------------------------

--- Adds the sizes that are computed from a call's numbers and sizes.
local function with_sizes(spec, values)
  for _, size in ipairs(spec.own_sizes) do -- no integer: more than there is memory for
    values[size.id] = math.max(math.tointeger(size.value(values)) or math.maxinteger, 0)
  end
  return values
end

-- --- calls that are too small to pay -------------------------------------------------------
--
-- Calls on tables that are too small, whatever is in the tables, are found in less time than it takes to look at them:
-- they run the Lua function itself. A function that is called often is mostly called with the same sizes, so the last
-- ones that were too small are remembered, and found again without a table being made. These calls are never measured,
-- so only those are taken that are too small even if each statement is a long one.

local function add(lines, text, ...)
  lines[#lines + 1] = text:format(...)
end

--- The conditions that rows from a dimension on be tables of its size: where one is not, the first look says which.
local function print_rows(lines, variable, d, list)
  if d > variable.rank then return end
  local row = ("%s_each%d"):format(variable.id, d)
  add(lines, "for i = 1, %s do", ast.size(variable, d - 1))
  add(lines, "local %s = %s[i]", row, list)
  add(lines, "if type(%s) ~= 'table' or #%s ~= %s then return false end", row, row, ast.size(variable, d))
  print_rows(lines, variable, d + 1, row)
  add(lines, "end")
end

--- The conditions that an array's value be a table of tables, and its sizes; of a flat one in rows, its length.
local function print_array(lines, variable, is_flat)
  add(lines, "if type(%s) ~= 'table' then return false end", variable.id)
  local row = variable.id
  for d = 1, variable.rank do
    add(lines, "local %s = #%s", ast.size(variable, is_flat and 0 or d), row)
    if d < variable.rank then
      add(lines, "local %s_row%d = %s[1]", variable.id, d, row)
      row = ("%s_row%d"):format(variable.id, d)
      add(lines, "if type(%s) ~= 'table' then return false end", row)
    end
  end
  print_rows(lines, variable, 2, variable.id)
end

--- The checks that a call's values can be judged, and locals for the sizes.
local function print_checks(lines, variables, own)
  for _, variable in ipairs(variables) do
    if variable.role == "array" then
      print_array(lines, variable, own[variable].pitches ~= nil)
    elseif variable.is_index then
      add(lines, "if integer(%s) ~= 'integer' then return false end", variable.id)
    elseif variable.number then -- its default has a function of its own
      add(lines, "if %s == nil then return false end", variable.id)
    end
  end
end

--- The judgement by the numbers and sizes of the call, and the memory of those that were short.
local function print_judgement(lines, ids, latest, further)
  local fields, known = {}, { "is_known" }
  for i, id in ipairs(ids) do
    fields[i] = ("%s = %s"):format(id, id)
    known[i + 1] = ("%s == %s"):format(id, latest[i])
  end
  add(lines, "if %s then return true end", table.concat(known, " and "))
  table.move(further, 1, #further, #fields + 1, fields)
  add(lines, "local values = with_sizes({ %s })", table.concat(fields, ", "))
  add(lines, "if fails(values) or may_fail(values) or leaves_rows(values) then return false end")
  add(lines, "if estimate(values).total >= limit then return false end")
  add(lines, "is_known = true")
  if #ids > 0 then add(lines, "%s = %s", table.concat(latest, ", "), table.concat(ids, ", ")) end
  add(lines, "return true")
end

--- Whether a function takes values from around it.
local function has_upvalues(tree)
  for _, variable in ipairs(tree.captures) do
    if not variable.is_result and not variable.computed then return true end
  end
  return false
end

--- Whether a function takes numbers that are computed of its arguments.
local function has_computed(state)
  for _, variable in ipairs(state.variables) do
    if variable.computed then return true end
  end
  return false
end

--- What else there is, as fields of a table: the sizes of what a function returns, which are 1, and computed numbers.
local function further_of(state, spec)
  local fields, names = {}, { name = function(variable) return variable.id end }
  function names.length(node) -- all of an array that is flat in this specialisation
    return ast.size(node.array, spec.own[node.array].pitches and 0 or node.dimension)
  end
  for _, name in ipairs(spec.names) do
    local computed = state.variables[name.argument].computed
    if name.argument > #state.tree.parameters then
      fields[#fields + 1] = ("%s = %s"):format(name.id, computed and lua_text.expression(computed, names) or 1)
    end
  end
  return fields
end

--- Makes the function that tells whether a call is one of these; of a function that has had its first call. One that
-- was given an array twice is no help: its checks know only one of the two arrays that other calls have. Nor is one
-- that has left the rows of a flat array.
-- @tparam table state of `clcompute.loops`
-- @treturn ?function of the values of the parameters; false where there is none
function call.shortcut(state)
  local options, spec = state.options, state.latest.spec
  if not state.fn or options.force ~= nil or options.heuristics ~= "model" or options.base ~= 1
    or has_upvalues(state.tree) or spec.has_twins or spec.is_flat then return false end
  local lines, parameters, ids, latest = {}, {}, {}, {}
  for i, variable in ipairs(state.tree.parameters) do parameters[i] = variable.id end
  for _, name in ipairs(spec.names) do
    if name.argument <= #parameters then
      ids[#ids + 1], latest[#latest + 1] = name.id, "latest_" .. name.id
    end
  end
  add(lines, "local fails, may_fail, leaves_rows, estimate, limit, with_sizes = ...")
  add(lines, "local %s", table.concat({ "is_known", table.unpack(latest) }, ", "))
  add(lines, "return function(%s)", table.concat(parameters, ", "))
  print_checks(lines, state.tree.parameters, spec.own)
  print_judgement(lines, ids, latest, further_of(state, spec))
  add(lines, "end")
  local row = state.latest.place.costs
  local limit = (row.launch + row.wait + row.copy) / costs.HOST.long_statement
  local environment = { type = type, integer = math.type, math = math }
  local chunk = assert(load(table.concat(lines, "\n"), "=shortcut", "t", environment))
  local is_short = chunk(spec.fails, spec.may_fail, spec.leaves_rows, spec.estimate, limit, function(values)
    return with_sizes(spec, values)
  end)
  if not has_computed(state) then return is_short end
  return function(...) -- a number that cannot be computed is told by the call
    local ok, is_one = pcall(is_short, ...)
    return ok and is_one
  end
end

-- --- what is kept between calls -----------------------------------------------------------

local WEAK = { __mode = "k" } -- a device, which may be one of many queues, is not kept for its kernels

--- The specialisation for the kinds of a call and of device.
local function specialisation(state, taken, device, thrift, is_flat)
  local shaped_for = kernel_target.kept(state, device)
  if thrift > 0 then shaped_for = kernel_target.thrifty(shaped_for, thrift) end
  local key = shaped_for.key .. " " .. taken.signature .. (is_flat and " flat" or "")
  local spec = state.specialisations[key]
  if not spec then
    spec = state.specialise(taken, shaped_for, is_flat)
    spec.programs, spec.places = setmetatable({}, WEAK), setmetatable({}, WEAK)
    state.specialisations[key] = spec
  end
  return spec
end

local function place_of(device) return device.place end

--- Raises for a device that was closed.
local function check_device(device)
  if not device then return end
  local ok, message = pcall(place_of, device)
  if ok then return end
  interrupt.pass_on(message)
  error("option 'device': the device is released", 0)
end

--- The device of a call: that of the options, else that of its buffers, else the best. Buffers of two queues of one
-- device are refused too: copies and launches would overtake each other.
local function device_of(state, taken)
  local device, first = state.options.device, nil
  check_device(device)
  for _, array in ipairs(taken.arrays) do
    local own = array.buffer and array.buffer.device
    if own and device and own ~= device then
      error(("%s: it is on %s, %s on %s"):format(array.row.label, own.name, first or "the option 'device'",
        own.isolated ~= device.isolated and "the same hardware, of which one is isolated and the other is not"
          or own.place == device.place and "another queue of it" or device.name), 0)
    end
    if own and not device then device, first = own, array.row.label end
  end
  return device or require "clcompute".device()
end

local BROAD = 256 -- work-items of a group of one dimension

local function build(spec, device, name, is_small)
  local shape = launchers.reduction_shape(device, spec.accumulators)
  local program = device:program(spec.text, decision.build_options(spec, device, name, is_small))
  local enqueue = require("clcompute.core.internal").enqueue
  local built = { launch = enqueue.call, cover = enqueue.cover, ranges = {},
    broad = math.min(BROAD, device.max_group_size), paired = spec.row.paired or math.huge }
  for i, nest in ipairs(spec.plan.kernels) do
    built[i] = nest.is_shared and launchers.team(nest, program, device, spec.row)
      or nest.accumulators and launchers.reduction(nest, program, device, shape, spec.real)
      or nest.scattered and scattered.copies(nest, program, device, spec.row)
      or nest.logged and scattered.logs(nest, program, device, spec.real)
      or nest.tiles and launchers.blocks(nest, program, device)
      or nest.grouped and launchers.grouped(nest, program, device, spec.row)
      or program:kernel(nest.name)
    built.ranges[i] = require "clcompute".range { global = nest.group, group = nest.group }
  end
  if spec.has_faults then built.faults, built.before = device:zeros("long", 2), device:zeros("long", 2) end
  built.rounds = {}
  for i, round in ipairs(spec.plan.rounds) do built.rounds[i] = launchers.rounds(round, program, device, spec.row) end
  return built
end

local function kernels_of(spec, device, name, is_small)
  local kernels = decision.kernels(spec, device, is_small) or build(spec, device, name, is_small)
  spec.programs[device] = spec.programs[device] or {}
  spec.programs[device][is_small] = kernels
  return kernels
end

--- The numbers and sizes of a call, by name.
local function values_of(spec, state, taken)
  local values, shapes = {}, {}
  for _, array in ipairs(taken.arrays) do shapes[array.variable] = array.shape end
  for _, name in ipairs(spec.names) do
    local variable = state.variables[name.argument]
    if name.dimension then
      values[name.id] = shapes[taken.twins[variable] or variable][name.dimension]
    else
      values[name.id] = taken.numbers[variable]
    end
  end
  return with_sizes(spec, values)
end

--- The shape of an array of a call's own.
local function shape_of(variable, numbers)
  local shape = {}
  for d = 1, variable.rank do shape[d] = numbers[ast.size(variable, d)] end
  if variable.pitches then shape = { arguments.count(shape) } end
  return shape
end

local MOST_OF_ITS_OWN = 1 / 4 -- of a device's memory that a call takes for arrays of its own
local MOST_THRIFT = 2 -- of `kernel_target.thrifty`

local function bytes_of(variable, shape)
  local bytes = ast.bytes(variable.element) * 1.0
  for _, extent in ipairs(shape) do bytes = bytes * extent end
  return bytes
end

--- Whether the arrays of a call's own are too large for what a device has beside the others.
local function is_lavish(spec, taken, numbers, device)
  local own, given = 0.0, 0.0
  for i, variable in ipairs(spec.arrays) do
    if taken.arrays[i] then
      given = given + bytes_of(variable, taken.arrays[i].shape)
    else
      own = own + bytes_of(variable, shape_of(variable, numbers))
    end
  end
  return own > 0 and own > (device.global_memory - given) * MOST_OF_ITS_OWN
end

-- --- running ------------------------------------------------------------------------------

--- The buffers that Lua worked on: they were copied to a table, as a whole.
local function buffers_in_lua(arrays)
  local list = {}
  for _, array in ipairs(arrays) do
    if array.home == "device" and array.table then list[#list + 1] = array.variable end
  end
  return list
end

--- Brings all arrays home, and then says what went wrong, if anything.
local function settle(arrays, ok, message)
  for _, array in ipairs(arrays) do
    local is_settled, fault = pcall(storage.settle, array)
    if ok and not is_settled then ok, message = false, fault end
  end
  if not ok then error(message, 0) end
end

--- Where a call has the tables that it makes and returns, by variable: where its arrays are.
local function homes_of(state, spec, taken)
  local home, homes = "host", {}
  for _, array in ipairs(taken.arrays) do
    if array.buffer then home = "device" end
  end
  for _, array in ipairs(state.tree.scratch or {}) do
    if array.is_returned then homes[spec.own[array]] = home end
  end
  return homes
end

local function open_arrays(state, spec, taken, numbers, device, is_fenced)
  local arrays, homes = {}, homes_of(state, spec, taken)
  for i, array in ipairs(taken.arrays) do
    arrays[i] = storage.new(array, spec.arrays[i].element, state.options.base, device, state.counters, is_fenced)
  end
  for i = #arrays + 1, #spec.arrays do
    local variable = spec.arrays[i]
    arrays[i] = storage.scratch(variable, shape_of(variable, numbers), state.options.base, device, state.counters,
      homes[variable])
  end
  return arrays
end

--- Runs a call's plan. Arrays go home whatever happens: what passes before a place that fails have stored stays. What a
-- kernel noted comes before what Lua raised, as Lua goes on while kernels run.
local function execute(state, spec, values, arrays, kernels, on_device, ...)
  local function check() check_faults(spec, kernels, values) end
  for _, array in ipairs(arrays) do array.check = check end
  local ok, message = pcall(spec.run, values, arrays, kernels, on_device, state.counters, ...)
  if ok or not interrupt.is(message) then -- Ctrl-C waits for no kernel
    local is_clean, fault = pcall(check)
    if not is_clean then ok, message = false, fault end
  end
  for _, array in ipairs(arrays) do array.check = nil end
  settle(arrays, ok, not ok and host.located(spec.host_text, message))
end

--- Executes a call and waits for it, so that later verdicts know what it took. What was queued before is waited for
-- first; a call that neither launches nor copies has nothing to wait for.
local function execute_timed(state, spec, values, arrays, kernels, verdict, device)
  local clock, spent = require "clcompute".clock, {}
  local is_waited = kernels or verdict.copy_seconds > 0
  for index = 0, #verdict.on_device do spent[index] = 0.0 end
  if is_waited then device:wait() end
  local launches, start = state.counters.launches, clock()
  execute(state, spec, values, arrays, kernels, verdict.on_device, clock, spent)
  if is_waited then device:wait() end
  decision.learn(spec, device, verdict, { seconds = clock() - start, spent = spent,
    launches = state.counters.launches - launches })
end

--- How long a list of a call got, nil of other arrays.
local function length_of(state, arrays, variable)
  for _, array in ipairs(variable.length and arrays or {}) do
    if array.variable == variable.length then return array.table[state.options.base] end
  end
end

--- The tables that a call has made and returns, by variable of the function; nil where there are none.
local function made_of(state, spec, arrays)
  local made
  for _, variable in ipairs(state.tree.scratch or {}) do
    for _, array in ipairs(variable.is_returned and arrays or {}) do
      if array.variable == spec.own[variable] then
        made = made or {}
        made[variable] = storage.value_of(array, length_of(state, arrays, variable))
      end
    end
  end
  return made
end

--- Refuses a call in which elements of a table of each pass may be read that have no value.
local function check_gaps(spec, numbers)
  for _, gap in ipairs(spec.gaps) do
    if gap.is_of_pass and gap.holds(numbers) then
      error(UNSET:format(gap.array.name), 0)
    end
  end
end

--- The specialisation for a call that its memory is enough for, the call's numbers and sizes, and which number wraps.
local function affordable(state, taken, device, is_flat)
  local spec, numbers
  for thrift = 0, MOST_THRIFT do
    spec = specialisation(state, taken, device, thrift, is_flat)
    numbers = values_of(spec, state, taken)
    if not is_lavish(spec, taken, numbers, device) then break end
  end
  return spec, numbers, decision.wrapping(spec, numbers)
end

--- Runs a compiled function. Raises a string without a place.
-- @tparam table state of `clcompute.loops`
-- @tparam table values of the parameters and captures
-- @treturn ?table what it returns of the tables that it makes, by variable
function call.run(state, values)
  if repetition.run(state, values, check_faults) then return end
  local taken = arguments.take(state.rows, values, state.options.base, state.is_written)
  local device = device_of(state, taken)
  local spec, numbers, vast = affordable(state, taken, device)
  if spec.has_rows and (vast or spec.leaves_rows(numbers)) then
    spec, numbers, vast = affordable(state, taken, device, true)
    if spec.leaves_rows(numbers) then
      error("the rows of a flat table that the function makes are left: pass it as an argument", 0)
    end
  end
  check_gaps(spec, numbers)
  local failed = not vast and spec.fails(numbers)
  if failed then error(bounds.describe(spec.scop, failed, numbers), 0) end
  numbers.wide = device.type ~= "cpu"
  local arrays = open_arrays(state, spec, taken, numbers, device, spec.is_fenced or vast ~= nil)
  numbers.is_small = indices.are_small(spec.largest, numbers, spec.names, arrays)
  local verdict = decision.make(state, spec, numbers, arrays, device, vast)
  state.latest = { spec = spec, verdict = verdict, place = decision.place(spec, device), values = numbers }
  local kernels, is_timed = nil, verdict.run and costs.is_due(verdict.run)
  if decision.is_any(verdict.on_device) then
    kernels = kernels_of(spec, device, state.name, numbers.is_small)
    launchers.spread(kernels, verdict.is_spread)
  end
  if is_timed then
    execute_timed(state, spec, numbers, arrays, kernels, verdict, device)
  else
    execute(state, spec, numbers, arrays, kernels, verdict.on_device)
  end
  state.latest.buffers_in_lua = buffers_in_lua(arrays)
  repetition.forget(state)
  local made = made_of(state, spec, arrays)
  if is_timed or decision.count(spec, verdict.run) or made then
    storage.let_go(arrays)
    return made
  end
  repetition.remember(state, values, arrays, { spec = spec, numbers = numbers, kernels = kernels,
    on_device = verdict.on_device, record = verdict.run, device = device })
end

return call
