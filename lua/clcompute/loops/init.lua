-- SPDX-License-Identifier: MIT

--- Loop nests of Lua functions as OpenCL kernels: what is parallel is proved, what pays is decided at each call, and
-- results are those of the same function in Lua.

local arity = require("clcompute.base").arity
local compiler = require "clcompute.loops.compiler"
local explain = require "clcompute.loops.explain"
local failure = require("clcompute.loops.tree").failure
local front = require "clcompute.loops.front"
local interrupt = require("clcompute.base").interrupt
local options = require("clcompute.base").options
local reasons = require("clcompute.base").reasons
local runtime = require "clcompute.loops.runtime"
local spelling = require("clcompute.base").spelling
local walk = require("clcompute.loops.tree").walk

local loops = {}

local OPTIONS = { base = "integer", mode = "string", reduce = "string", force = "boolean", heuristics = "string",
  device = "Device", name = "string", target = "string", tiles = "table" }
local TILES = { kernel = "string", vector = "integer", rows = "integer", columns = "integer", lane = "integer",
  block = "integer", least = "integer", small = "integer", blocks = "integer", passes = "integer",
  cache = "integer", jam = "integer", group = "integer", depth = "integer",
  few = "integer", slices = "integer", terms = "integer", together = "integer",
  spread = "integer", paired = "integer" }
local CHOICES = {
  mode = { exact = true, fast = true },
  heuristics = { model = true, paper = true, none = true },
  reduce = { sequential = true, tree = true },
  target = { cpu = true, gpu = true },
}

local Compiled = { __name = "clcompute.loops.Compiled" }

-- --- compiling ----------------------------------------------------------------------------

local function check_options(given)
  local checked = options.check("loops.compile", given or {}, OPTIONS)
  for key, allowed in pairs(CHOICES) do options.one_of("loops.compile", checked, key, allowed) end
  if checked.base and checked.base ~= 0 and checked.base ~= 1 then
    error(("loops.compile: option 'base': 0 or 1 expected, got %d"):format(checked.base), 0)
  end
  local tiles = checked.tiles
  if tiles then tiles = options.merge(options.check("loops.compile: option 'tiles'", tiles, TILES)) end
  checked = options.merge({ base = 1, mode = "exact", heuristics = "model", reduce = "sequential" }, checked,
    { tiles = tiles })
  local fault = tiles and runtime.kernel_target.fault(checked)
  if fault then error("loops.compile: " .. fault, 0) end
  return checked
end

local function check_isl(from)
  local is_there, message = pcall(require, "clcompute.poly")
  if is_there then return end
  interrupt.pass_on(message)
  failure.raise(from, nil, "the analysis needs the module clcompute.poly, which is not there: install the package "
    .. "libisl-dev and build again, or install the rock clcompute-poly")
end

--- With a base of 0 Lua's length of a table is not the number of its elements.
local function check_lengths(tree, base)
  if base == 1 then return end
  walk.nodes(tree.body, function(node)
    if node.kind ~= "length" then return end
    failure.raise(tree.origin, node, ("with base = 0 the length of '%s' is not known: pass it as a number")
      :format(node.array.name))
  end)
end

local MOST_SUBSCRIPTS = 4 -- dimensions of a buffer

local function check_ranks(tree, variables)
  for _, variable in ipairs(variables) do
    if variable.rank and variable.rank > MOST_SUBSCRIPTS then
      failure.raise(tree.origin, variable.indexed, ("'%s' has %d subscripts: an array has at most %d dimensions")
        :format(variable.name, variable.rank, MOST_SUBSCRIPTS))
    end
  end
end

--- What messages call a value.
local function label_of(tree, variables, i)
  local variable = variables[i]
  if variable.computed then return ("'%s'"):format(variable.name) end
  if i > #tree.parameters then return ("upvalue '%s'"):format(variable.name) end
  return ("argument #%d '%s'"):format(i, variable.name)
end

--- What `clcompute.loops.runtime.arguments` is to know of each value.
local function rows_of(tree, variables)
  local rows = {}
  for i, variable in ipairs(variables) do
    local is_array = variable.role == "array"
    variable.rank = variable.rank or is_array and variable.longest.dimension or nil
    rows[i] = { variable = variable, name = variable.name, is_array = is_array, is_index = variable.is_index,
      is_operand = variable.is_operand, is_argument = i <= #tree.parameters,
      is_unused = not is_array and not variable.number, is_computed = variable.computed ~= nil,
      label = label_of(tree, variables, i) }
  end
  return rows
end

local function written(tree)
  local set = {}
  for _, variable in ipairs(walk.uses(tree.body).writes) do set[variable] = true end
  return set
end

--- What there is to know of a function between calls; of a cautious one no number is computed before a call. `left_out`
-- has the places of parameters that calls leave out, as keys.
local function new_state(parsed, from, checked, is_cautious, left_out)
  local tree = front.resolve(parsed, checked.base, is_cautious, left_out)
  check_lengths(tree, checked.base)
  local variables = compiler.variables(tree)
  check_ranks(tree, variables)
  check_ranks(tree, tree.scratch or {})
  local state = { parsed = parsed, tree = tree, variables = variables, options = checked,
    rows = rows_of(tree, variables), is_written = written(tree), specialisations = {}, variants = {},
    left_out = left_out, compute = runtime.computed_numbers.compile(variables), counters = runtime.storage.counters(),
    name = tree.name or "loops", from = from, fn = from.fn, fixed = from.fixed or {} }
  function state.specialise(taken, target, is_flat)
    return compiler.run { tree = tree, variables = variables, taken = taken, options = checked, target = target,
      is_flat = is_flat }
  end
  compiler.check { tree = tree, variables = variables, options = checked,
    taken = { kinds = explain.kinds(state, {}, "int"), twins = {} } }
  return state
end

local function compile(source, given)
  local checked = check_options(given)
  local from = front.origin(source, checked)
  check_isl(from)
  return setmetatable({ state = new_state(front.parse(from), from, checked) }, Compiled)
end

function loops.compile(source, given)
  local ok, result = pcall(compile, source, given)
  if ok then return result end
  if not failure.is(result) then error(result, 2) end
  reasons.note("loops.compile", result)
  return nil, result
end

-- --- what is compiled ---------------------------------------------------------------------

--- The values of a call, those that the captures have now, and those that are computed from them; whether all of
-- those are numbers.
local function values_of(state, ...)
  local values = { ... }
  for i, variable in ipairs(state.tree.captures) do
    local value, _
    if variable.is_result then
      value = { [state.options.base] = 0 }
    elseif variable.fn then
      _, value = debug.getupvalue(variable.fn, variable.index)
    end
    values[#state.tree.parameters + i] = value
  end
  return values, not state.compute or state.compute(values)
end

--- The same function for other calls, which is made at the first of them; false where that is refused.
local function variant(state, key, is_cautious, left_out)
  local kept = state.variants[key]
  if kept == nil then
    local ok, other = pcall(new_state, state.parsed, state.from, state.options, is_cautious, left_out)
    if not ok and not failure.is(other) then error(other, 0) end
    kept = ok and other
    if ok then other.counters = state.counters end
    state.variants[key] = kept
  end
  return kept
end

--- The function for a call that leaves numbers out, which have defaults in it then; nil for other calls.
local function with_defaults(state, values)
  local left_out, key = nil, ""
  for i, row in ipairs(state.rows) do
    if values[i] == nil and row.is_argument and not row.is_array and not row.is_unused then
      left_out = left_out or {}
      left_out[i], key = true, key .. " " .. i
    end
  end
  return left_out and variant(state, key, nil, left_out)
end

--- The function for a call in which a number cannot be computed before, as `n // z` where z is 0: Lua may not come to
-- it, or stores something before.
local function cautious(state)
  return variant(state, "cautious", true, state.left_out)
end

--- A table of numbers, with tables in it or without, as one of booleans; a buffer has numbers.
local function as_booleans(made)
  for key, item in pairs(type(made) == "table" and made or {}) do
    if type(item) == "table" then as_booleans(item) else made[key] = item ~= 0 end
  end
  return made
end

--- What a function returns: arrays of the call, tables that it has made, and numbers, of arrays that stand for them.
local function results_of(state, values, made)
  local function value_of(array)
    for position, variable in ipairs(state.variables) do
      if variable == array then return values[position] end
    end
    return made[array]
  end
  for array in pairs(made or {}) do
    if array.is_flags then made[array] = as_booleans(made[array]) end
  end
  local results = {}
  for i, result in ipairs(state.tree.results) do
    local value = value_of(result)
    if result.is_result then value = value[state.options.base] end
    if result.is_result and result.is_flags then value = value ~= 0 end
    results[i] = result.arrays and value_of(result.arrays[value]) or value
  end
  return table.unpack(results)
end

--- Whether a call returns a float of which only Lua knows that it is no integer: the sum of nothing is 0, not 0.0.
local function is_doubtful(state, values)
  for position, variable in ipairs(state.variables) do
    local doubt = variable.is_result and state.latest.spec.own[variable].doubt
    local value = doubt and values[position][state.options.base]
    if math.type(value) == "float" and value >= doubt[1] and value <= doubt[2] and value % 1 == 0 then return true end
  end
  return false
end

--- A call that is all in Lua, of a function that stores nothing.
local function run_in_lua(state, values)
  local given = state.options
  state.options = setmetatable({ force = false }, { __index = given })
  local ok, made = pcall(runtime.call.run, state, values)
  state.options = given
  if not ok then error(made, 0) end
  return made
end

local function run(state, ...)
  front.check_fixed(state.fixed)
  local values, is_whole = values_of(state, ...)
  local other = with_defaults(state, values) or not is_whole and cautious(state)
  state.called = other or nil
  if other then return run(other, ...) end
  local made = runtime.call.run(state, values)
  if is_doubtful(state, values) then
    values = values_of(state, ...)
    made = run_in_lua(state, values)
  end
  return results_of(state, values, made)
end

--- A message without its place in the text of `clcompute.loops.generation.host`, or in a file that called the core.
local function without_place(message)
  if type(message) ~= "string" then return message end
  local rest = message:match "^loops:%d+: (.*)$" or message:match "^%S-clcompute/loops/[%w_/]+%.lua:%d+: (.*)$"
  return rest and (message:find "^loops:" or not rest:find "^attempt to ") and rest or message
end

local function check_self(self, level)
  if type(self) ~= "table" or getmetatable(self) ~= Compiled then
    error(("compiled function expected, got %s; a method is called with a colon"):format(type(self)), level + 1)
  end
end

local function state_of(self, level)
  level = level or 3
  check_self(self, level)
  return rawget(self, "state") or error("this compiled function is closed", level)
end

--- What a call returns, or its error at the caller: it is the last that a call does, and so in its place.
local function finished(state, ok, ...)
  if not ok then
    local message = ...
    error(failure.is(message) and tostring(message) or without_place(message), 2)
  end
  if not state.is_short and state.latest then state.is_short = runtime.call.shortcut(state) end
  return ...
end

function Compiled:__call(...)
  local state = state_of(self)
  local most, is_short = #state.tree.parameters, state.is_short
  if select("#", ...) > most then arity.check(state.name, most, 2, ...) end
  if is_short and is_short(...) then return state.fn(...) end
  return finished(state, pcall(run, state, ...))
end

function Compiled:__tostring()
  check_self(self, 2)
  if not rawget(self, "state") then return "compiled loops (closed)" end
  return ("compiled loops '%s' of %s"):format(self.state.name, self.state.tree.origin.file)
end

local methods = {}

--- The function as the latest call had it.
local function called(state)
  return state.called and called(state.called) or state
end

--- What a function of `explain` has to say, errors at the caller.
local function shown(f, self)
  local ok, result = pcall(f, called(state_of(self, 4)))
  if not ok then error(failure.is(result) and tostring(result) or result, 3) end
  return result
end

function methods:explain()
  return (shown(explain.text, self)) -- no tail call, for the level of its errors
end

function methods:source()
  local spec = shown(explain.specialisation, self)
  return spec.no_kernel and ("// no kernel: %s\n"):format(spec.no_kernel) or spec.text
end

function methods:stats()
  return options.merge(state_of(self).counters)
end

function methods:close()
  check_self(self, 2)
  rawset(self, "state", nil)
end

Compiled.__close = methods.close
Compiled.__index = spelling.refuse_others(arity.methods(methods, "Compiled"), "compiled function")

return arity.functions(loops)
