-- SPDX-License-Identifier: MIT

--- What the compiler found and chose, in words.

local arithmetic = require "clcompute.loops.explain.arithmetic"
local ast = require("clcompute.loops.tree").ast
local decision = require("clcompute.loops.runtime").decision
local dependences = require("clcompute.loops.analysis").dependences
local loop_reductions = require("clcompute.loops.analysis").loop_reductions
local lua_text = require("clcompute.loops.tree").lua_text
local plan_words = require "clcompute.loops.explain.plan_words"
local plans = require("clcompute.loops.tree").plan
local presumption = require "clcompute.loops.explain.presumption"
local profitability = require("clcompute.loops.runtime").profitability
local static_copies = require "clcompute.loops.explain.static_copies"
local walk = require("clcompute.loops.tree").walk

local explain = { inexact = arithmetic.inexact, shared_out = arithmetic.shared_out, presume = presumption.of,
  kinds = presumption.kinds }

local function add(lines, text, ...)
  lines[#lines + 1] = text:format(...)
end

local names = plan_words.names
local NAMES = { name = function(variable) return variable.name end,
  length = function(node) return "#" .. node.array.name end }

-- --- loops --------------------------------------------------------------------------------

local MOST_REASONS = 3 -- of a loop

-- Where a loop that is a reduction runs.
local PLACES = {
  shared = "shared out",
  ["work-item"] = "sequential in a work-item, as loops around are shared out",
  group = "sequential in a work-item, or shared out in a work-group where loops around have few passes",
  either = "sequential in a work-item, or shared out where the loop around has few passes",
}

--- What `reduce = "tree"` would change at a loop that keeps its order, in words.
local function advice_on_order(spec, node)
  for _, around in ipairs(node.variable.loops) do
    if around.parallel then return "" end
  end
  local list = not spec.given_up and loop_reductions.of(spec.scop, node)
  return list and ('; reduce = "tree" shares it out: %s'):format(loop_reductions.describe(spec.scop, list)) or ""
end

local function explain_loop(spec, node, role, lines)
  if node.strips then role = ("%s; its strips (line %d) are one loop"):format(role, node.strips) end
  local place = ("%4d: %s%s"):format(node.line, ("  "):rep(#node.variable.loops),
    node.word or "for " .. node.variable.name)
  if node.irregular and (node.parallel or node.is_broken) then
    return add(lines, "  %-20s in its order: %s -> %s", place, node.irregular, role)
  end
  local atomic = node.parallel and walk.find(node.body, function(part) return part.atomic ~= nil end)
  if atomic then
    return add(lines, "  %-20s parallel, %s (line %d) is added to in one step -> %s", place, dependences.source_of(
      spec.scop, atomic.target), atomic.line, role)
  end
  if node.parallel then
    return add(lines, "  %-20s parallel%s%s -> %s", place, node.is_turned and ", within a column" or "",
      node.obstacle and ", but no kernel: " .. node.obstacle or "", role)
  end
  if node.scattered or node.logged then
    return add(lines, "  %-20s %s%s -> %s", place, plan_words.scattered(spec.scop, node.scattered or node.logged),
      node.obstacle and ", but no kernel: " .. node.obstacle or "", role)
  end
  if node.reductions then
    return add(lines, "  %-20s reduction: %s; %s", place, loop_reductions.describe(spec.scop, node.reductions),
      node.obstacle and "no kernel: " .. node.obstacle or PLACES[node.place]
        or "sequential, as loops in it are parallel")
  end
  local reasons = {}
  for i, dependence in ipairs(node.carried) do
    if i <= MOST_REASONS then reasons[i] = dependences.describe(spec.scop, dependence) end
  end
  if #node.carried > MOST_REASONS then reasons[#reasons + 1] = ("%d more"):format(#node.carried - MOST_REASONS) end
  if #reasons == 0 then reasons[1] = spec.given_up or "not analysed" end
  add(lines, "  %-20s sequential: %s%s -> %s%s", place, table.concat(reasons, "; "),
    node.is_moved and "; moved inwards" or "", role, advice_on_order(spec, node))
end

-- --- copies -------------------------------------------------------------------------------

local NOWHERE = {}

local program_of

--- The names of arrays but those that a call makes for itself.
local function copied(arrays)
  local list = {}
  for _, array in ipairs(arrays) do
    if not ast.is_scratch(array) then list[#list + 1] = array end
  end
  return names(list)
end

local function block_of(part, line, is_kernel)
  return { kind = "block", on = is_kernel and "device" or "host", reads = copied(part.reads),
    writes = copied(part.writes), name = part.name or ("line %d"):format(line) }
end

--- The paper has no conditions: what may not run is a loop that may run no time.
local function add_bodies(bodies, on_device, operators, name, line)
  for _, body in ipairs(bodies) do
    operators[#operators + 1] = { kind = "loop", body = program_of(body, on_device), name = name:format(line) }
  end
end

local OPERATORS = {
  loop = function(part, on_device, operators)
    operators[#operators + 1] = { kind = "loop", body = program_of(part.body, on_device),
      name = ("over %s, line %d"):format(part.node.variable.name, part.node.line) }
  end,
  kernel = function(part, on_device, operators)
    if part.instead and not on_device[part.index] then
      local others = program_of(part.instead, on_device)
      return table.move(others, 1, #others, #operators + 1, operators)
    end
    operators[#operators + 1] = block_of(part, part.node.line, on_device == NOWHERE or on_device[part.index])
  end,
  ["if"] = function(part, on_device, operators)
    operators[#operators + 1] = block_of(part, part.node.line, false)
    add_bodies(plans.bodies(part), on_device, operators, "of at most one pass, `if` of line %d", part.node.line)
  end,
  either = function(part, on_device, operators)
    add_bodies({ part.many, part.few }, on_device, operators, "of at most one pass, line %d", part.node.line)
  end,
  lua = function(part, _, operators) operators[#operators + 1] = block_of(part, part.nodes[1].line, false) end,
}

--- A plan as the program of loops and blocks that `clcompute.loops.explain.static_copies` takes.
function program_of(plan, on_device)
  local operators = {}
  for _, part in ipairs(plan) do OPERATORS[part.kind](part, on_device, operators) end
  return operators
end

local function has_table(spec)
  for _, own in pairs(spec.own) do
    if own.role == "array" and not own.is_buffer then return true end
  end
  return false
end

--- Where the paper's algorithm, which knows nothing of a call but its verdict, would copy.
local function explain_copies(spec, latest, lines)
  if #spec.plan.kernels == 0 or not has_table(spec) then return end
  local program = program_of(spec.plan, latest and latest.verdict.on_device or NOWHERE)
  add(lines, "copies if all arrays are tables, as Belevantsev et al. 2012 place them (a call makes no more):")
  for line in static_copies.show(static_copies.place(program, { initial = "host" })):gmatch "[^\n]+" do
    if not line:find "^%s*%-%-" then add(lines, "  %s", line) end
  end
end

-- --- the latest call ------------------------------------------------------------------------

--- Adds the nests of a plan in whose place a task runs on the device, with its name.
local function add_replaced(plan, on_device, by, list)
  for _, part in ipairs(plan) do
    list[part] = by
    local task = by or part.instead and on_device[part.index] and part.name
    for _, body in ipairs(plans.bodies(part)) do add_replaced(body, on_device, task, list) end
  end
  return list
end

--- The reason that several nests, all of them, have for where they run; nil where they have others.
local function common_reason(verdict, count)
  local first = verdict.reasons[1]
  for i = 2, count do
    if verdict.reasons[i] ~= first then return nil end
  end
  return count > 1 and first or nil
end

local function add_nests(latest, figures, lines)
  local verdict, plan = latest.verdict, latest.spec.plan
  local replaced = add_replaced(plan, verdict.on_device, nil, {})
  local common = figures and common_reason(verdict, #plan.kernels)
  if common then add(lines, "  all nests: %s", common) end
  for i, nest in ipairs(plan.kernels) do
    local told = { not common and verdict.reasons[i] or nil }
    told[#told + 1] = figures and profitability.sides(figures, i)
    local place = verdict.on_device[i] and "device" or "Lua"
    if replaced[nest] then place = ("not run, %s took its place"):format(replaced[nest]) end
    add(lines, "  %s: %s: %s", nest.name, place, table.concat(told, "; "))
  end
end

--- Adds the lines of the latest call.
local function add_latest(latest, lines)
  local verdict, spec = latest.verdict, latest.spec
  local figures = verdict.figures or #spec.plan.kernels > 0 and decision.figures(spec, latest.values, latest.place)
  add_nests(latest, figures, lines)
  if figures then add(lines, "  costs: those of %s (%s)", figures.row.name, figures.row.measured) end
  if verdict.lua_seconds then
    local function told(seconds, place, copies, bytes)
      return ("%s %s with %s copies of %s bytes"):format(profitability.time(seconds), place,
        profitability.count(copies), profitability.count(bytes))
    end
    add(lines, "  estimated: %s, %s", told(verdict.device_seconds, "on the device", verdict.copies, verdict.all_bytes),
      told(verdict.lua_seconds, "in Lua", verdict.in_lua.copies, verdict.in_lua.bytes))
  end
  if verdict.all_in_lua then add(lines, "  all in Lua: %s", verdict.all_in_lua) end
  local in_lua = names(latest.buffers_in_lua or {})
  if #in_lua > 0 then
    add(lines, "  buffers that Lua works on are copied as a whole at each call, which tables are not: %s",
      table.concat(in_lua, ", "))
  end
end

local function explain_counters(counters, lines)
  add(lines, "until now: %d launches, %d uploads of %d bytes, %d downloads of %d bytes", counters.launches,
    counters.uploads, counters.bytes_up, counters.downloads, counters.bytes_down)
end

-- --- in a sentence ------------------------------------------------------------------------

--- Why the latest call ran nothing on the device.
local function why_in_lua(verdict)
  if verdict.all_in_lua then return verdict.all_in_lua end
  if not verdict.lua_seconds then return verdict.reasons[1] end
  return ("it takes about %s there, and %s on the device"):format(profitability.time(verdict.lua_seconds),
    profitability.time(verdict.device_seconds))
end

local function nests_of(count)
  return count == 1 and "1 nest" or ("%d nests"):format(count)
end

local count_nests

--- The same for a part. What runs in place of others stands for them.
local function count_of(part, on_device)
  if part.kind == "either" then
    local count, there = count_nests(part.many, on_device)
    return count, math.min(count, math.max(there, (select(2, count_nests(part.few, on_device)))))
  end
  local count, there = 0, 0
  for _, body in ipairs(plans.bodies(part)) do
    local inner, inner_there = count_nests(body, on_device)
    count, there = count + inner, there + inner_there
  end
  if part.kind ~= "kernel" then return count, there end
  count = math.max(count, 1)
  return count, on_device[part.index] and count or there
end

--- How many nests a plan has, and how many of them are on the device: ways to run the same ones are counted once.
function count_nests(plan, on_device)
  local count, there = 0, 0
  for _, part in ipairs(plan) do
    local inner, inner_there = count_of(part, on_device)
    count, there = count + inner, there + inner_there
  end
  return count, there
end

--- What becomes of the function, for who reads no further.
local function summary(spec, latest)
  if spec.no_kernel then return "stays in Lua with such arguments: " .. spec.no_kernel end
  local count, there = count_nests(spec.plan, latest and latest.verdict.on_device or NOWHERE)
  if not latest then return ("%s may run on a device; each call decides"):format(nests_of(count)) end
  if there == 0 then return "the latest call stayed in Lua: " .. why_in_lua(latest.verdict) end
  return ("the latest call ran %s of %d on %s"):format(nests_of(there), count, latest.place.name)
end

-- --- all ----------------------------------------------------------------------------------

--- What is presumed before the first call.
local function presumed(state)
  state.presumed = state.presumed or presumption.of(state)
  return state.presumed.spec
end

--- The specialisation of the latest call, or what one on tables would have.
function explain.specialisation(state)
  return state.latest and state.latest.spec or presumed(state)
end

--- The lengths of a flat array's rows, in words; of a variable that has rows in other calls, that it has none here.
local function rows_of(array, variable)
  local texts = {}
  for d, pitch in ipairs(array.pitches or {}) do texts[d] = lua_text.expression(pitch, NAMES) end
  if #texts == 0 then return variable.pitches and ", flat: its rows are left" or "" end
  return " in rows of " .. table.concat(texts, " x ")
end

local function kinds_of(state, spec)
  local texts = {}
  for _, variable in ipairs(state.variables) do
    local own = spec.own[variable]
    local kind = own.type or "unused"
    if own.is_result then
      kind = own.element == "long" and "int" or "float"
    elseif own.role == "array" then
      kind = ("%s of %s, rank %d%s"):format(own.is_buffer and "buffer" or "table", own.element or "?", variable.rank,
        rows_of(own, variable))
    end
    texts[#texts + 1] = ("%s: %s"):format(own.name, kind)
  end
  return table.concat(texts, "; ")
end

local function add_loops(state, spec, lines)
  add(lines, "%s of %s: %s", state.name, state.tree.origin.file, summary(spec, state.latest))
  add(lines, "for %s%s", kinds_of(state, spec), state.latest and "" or " (presumed: it was not called yet)")
  add(lines, "loops:")
  local role_of = plan_words.roles(spec.plan)
  for _, node in ipairs(spec.scop.loops) do explain_loop(spec, node, role_of[node], lines) end
  if spec.given_up then add(lines, "  %s", spec.given_up) end
  add(lines, "plan:")
  plan_words.explain(spec.plan, "  ", lines)
end

--- The lines as a text. In a source of one line no place needs its number.
local function joined(state, lines)
  local text = table.concat(lines, "\n")
  return state.tree.origin.text:find "\n" and text or (text:gsub(" %(line 1%)", ""))
end

--- What the loops are, and what is made of them: the part of the explanation that no call changes.
-- @tparam table state of `clcompute.loops`
-- @treturn string
function explain.loops(state)
  local lines = {}
  add_loops(state, explain.specialisation(state), lines)
  return joined(state, lines)
end

--- Where the nests of the latest call ran, and why.
-- @tparam table state of `clcompute.loops`, of a function that was called
-- @treturn string
function explain.latest(state)
  local lines = {}
  add_latest(state.latest, lines)
  return table.concat(lines, "\n")
end

--- The explanation.
-- @tparam table state of `clcompute.loops`
-- @treturn string
function explain.text(state)
  local spec, latest, lines = explain.specialisation(state), state.latest, {}
  add_loops(state, spec, lines)
  explain_copies(spec, latest, lines)
  arithmetic.explain(spec, state.options.mode, lines)
  if latest then
    add(lines, "the latest call, on %s:", latest.place.name)
    add_latest(latest, lines)
    explain_counters(state.counters, lines)
  end
  return joined(state, lines)
end

return explain
