-- SPDX-License-Identifier: MIT

--- From a tree whose loops are known to be parallel or not to a plan: which loops and conditions stay on the host,
-- which nests become kernels, what runs in Lua. What cannot be a kernel keeps the order that it has in the source.

local ast = require("clcompute.loops.tree").ast
local faults = require "clcompute.loops.generation.faults"
local plans = require("clcompute.loops.tree").plan
local logged_sums = require "clcompute.loops.generation.logged_sums"
local loop_reductions = require("clcompute.loops.analysis").loop_reductions
local private_sums = require "clcompute.loops.generation.private_sums"
local ranges = require "clcompute.loops.generation.ranges"
local reduction_kernels = require "clcompute.loops.generation.reduction_kernels"
local sharing = require "clcompute.loops.generation.sharing"
local walk = require("clcompute.loops.tree").walk
local wavefronts = require("clcompute.loops.analysis").wavefronts

local partition = {}

-- --- what cannot be a kernel --------------------------------------------------------------

--- Marks integer divisions whose divisor is not known: Lua raises an error where it is 0. Divisors that are one of the
-- `scalars` can be looked at before the launch; they become keys of `checked`. Others are looked at in the kernel.
local function mark_divisions(node, is_scalar, checked)
  walk.node(node, function(part)
    local divisor = ast.zero_divisor(part)
    if not divisor then return end
    if divisor.kind == "name" and is_scalar[divisor.variable] then
      checked[divisor.variable] = true
    else
      part.is_guarded = true
    end
  end)
end

--- The locals of a list that a nest does not reduce into.
local function without_accumulators(list, accumulators)
  local is_reduced, others = {}, {}
  for _, accumulator in ipairs(accumulators or {}) do
    if accumulator.is_local then is_reduced[accumulator.target.variable] = true end
  end
  for _, variable in ipairs(list) do
    if not is_reduced[variable] then others[#others + 1] = variable end
  end
  return others
end

local function line_of(node)
  local line = ("line %d"):format(node.line)
  return node.inside and ("%s, called in %s"):format(node.inside, line) or line
end

--- What to write so that a number is a float from the start.
local function advice_for(fault)
  local name = walk.find({ fault }, function(part)
    local first = part.kind == "name" and part.is_mixed and part.variable.definition
    return first and first.kind == "number" and math.type(first.value) == "integer"
  end)
  if not name then return "0.0 instead of 0 makes it floats" end
  local first = name.variable.definition
  return ("'%s' begins with %d in %s: write %d.0"):format(name.variable.name, first.value,
    first.inside or ("line %d"):format(first.line), first.value)
end

--- That data decide whether a number is an integer, which makes a difference; nil where they do not.
-- @tparam {table,...} nodes
-- @treturn ?string
function partition.ambiguity(nodes)
  local fault = walk.find(nodes, function(part) return part.is_ambiguous end)
  return fault and ("%s: whether this is computed in integers depends on data (%s)")
    :format(line_of(fault), advice_for(fault)) or nil
end

--- The locals, as keys, that an ambiguous number is computed from: Lua needs them as integers where they are.
local function ambiguous_locals(nodes)
  local is_meant, has_more = {}, true
  local function add(part)
    if part.kind ~= "name" or not part.variable.is_mixed or is_meant[part.variable] then return end
    is_meant[part.variable], has_more = true, true
  end
  walk.nodes(nodes, function(node)
    if node.is_ambiguous then walk.node(node, add) end
  end)
  while has_more do
    has_more = false
    walk.nodes(nodes, function(node)
      local variable = node.kind == "local" and node.variable or node.kind == "assign" and node.target.variable
      if is_meant[variable] then walk.node(node.value, add) end
    end)
  end
  return is_meant
end

--- Why a loop cannot be shared out: it leaves a float in a local that has to stay an integer where it is one; or nil.
local function mixture(accumulators, state)
  for _, accumulator in ipairs(accumulators or {}) do
    if state.is_ambiguous[accumulator.target.variable] then return partition.ambiguity(state.nodes) end
  end
end

--- Why a loop that is parallel, but for accumulators, cannot be a kernel, or nil.
local function obstacle(node, uses, checked)
  local shared = uses.assigned[1]
  if shared then return ("line %d: the loop assigns '%s', which outlives it"):format(node.line, shared.name) end
  mark_divisions(node, walk.set(uses.scalars), checked)
  return partition.ambiguity { node }
end

--- Whether loops in a list are kernels, or may be.
local function has_kernel(nodes)
  return walk.find(nodes, function(node)
    return node.kind == "for" and not node.irregular
      and (node.parallel or node.reductions or node.scattered or node.logged or node.wavefront
        or node.behind)
  end) ~= nil
end

-- --- the plan -----------------------------------------------------------------------------

local function new_kernel(node, uses, checked, special, state)
  local index = #state.kernels + 1
  local kernel = plans.part("kernel", { node = node, index = index, name = "nest_" .. index, reads = uses.reads,
    writes = uses.writes, scalars = uses.scalars, nonzero = {}, accumulators = special.accumulators,
    wavefront = special.wavefront, behind = special.behind, is_task = special.is_task, is_shared = special.is_shared,
    instead = special.instead, scattered = special.scattered, logged = special.logged,
    host_loops = table.move(state.loops, 1, #state.loops, 1, {}) })
  for _, accumulator in ipairs(kernel.accumulators or {}) do
    kernel.has_result = kernel.has_result or not accumulator.is_local
  end
  ranges.add_mapping(kernel)
  for _, variable in ipairs(uses.scalars) do
    if checked[variable] then table.insert(kernel.nonzero, variable) end
  end
  state.kernels[index] = kernel
  return kernel
end

--- Adds statements to the plan's last part, if that is Lua, else as a new part.
local function add_lua(plan, node)
  local last = plan[#plan]
  if not last or last.kind ~= "lua" then
    last = plans.part("lua", { nodes = {} })
    plan[#plan + 1] = last
  end
  last.nodes[#last.nodes + 1] = node
end

local build

--- A loop that stays on the host, or nil if nothing inside becomes a kernel.
local function build_loop(node, state)
  local kernels = #state.kernels
  table.insert(state.loops, node)
  local body = build(node.body, state)
  table.remove(state.loops)
  return #state.kernels > kernels and plans.part("loop", { node = node, body = body }) or nil
end

--- An `if` that stays on the host, or nil if nothing inside becomes a kernel. Which of two orders of loops is better
-- was found before: one work-item is not, but a group may be.
local function build_if(node, state)
  local kernels, arms, conditions, is_choice = #state.kernels, {}, {}, state.is_choice
  state.is_choice = is_choice or node.is_choice
  for i, arm in ipairs(node.arms) do
    arms[i] = plans.part("arm", { condition = arm.condition, body = build(arm.body, state) })
    conditions[i] = arm.condition
  end
  local otherwise = node.otherwise and build(node.otherwise, state)
  state.is_choice = is_choice
  if #state.kernels == kernels then return nil end
  return plans.part("if", { node = node, arms = arms, otherwise = otherwise, reads = walk.uses(conditions).reads,
    writes = {} })
end

--- A kernel nest, or nil where a loop is none; then `obstacle` tells what else than dependences is in the way.
local function build_kernel(node, state)
  local is_one = node.parallel or node.scattered or node.logged or ranges.reduces(node)
  if node.irregular or not is_one then return nil end
  local accumulators = node.reductions and not node.parallel and reduction_kernels.accumulators(node.reductions) or nil
  local uses, checked = walk.uses { node }, {}
  uses.scalars = without_accumulators(uses.scalars, accumulators)
  uses.assigned = without_accumulators(uses.assigned, accumulators)
  node.obstacle = obstacle(node, uses, checked) or mixture(accumulators, state)
  if node.obstacle then return nil end
  local scattered = node.scattered and not node.parallel and private_sums.of(node) or nil
  local logged = node.logged and not node.parallel and logged_sums.of(node) or nil
  return new_kernel(node, uses, checked, { accumulators = accumulators, scattered = scattered, logged = logged }, state)
end

--- A loop that has none in it that is parallel, in wavefronts.
local function build_wavefronts(node, state)
  local wavefront = node.wavefront and wavefronts.of(node.wavefront)
  local uses, checked = walk.uses { node }, {}
  if not wavefront or #uses.writes == 0 or obstacle(node, uses, checked) then return nil end
  return new_kernel(node, uses, checked, { wavefront = wavefront }, state)
end

--- A loop whose rows may overlap.
local function build_pipeline(node, state)
  local uses, checked = walk.uses { node }, {}
  if not node.behind or #uses.writes == 0 or obstacle(node, uses, checked) or faults.are_in { node } then return nil end
  return new_kernel(node, uses, checked, { behind = node.behind }, state)
end

--- A kernel nest, beside it what a call does instead where the nest has few passes.
local function build_nest(node, state)
  local many = build_kernel(node, state)
  local may_be_few = many and (node.parallel or (node.scattered or node.logged) and state.is_wide)
  local few, is_few = may_be_few and ranges.few_passes(node, state.is_wide), state.is_few
  state.is_few = true
  local loop = few and build_loop(node, state)
  state.is_few = is_few
  if not loop then return many end
  if few.node.reductions then few.node.place = "either" end
  return plans.part("either", { node = node, condition = few.condition, words = few.words, many = { many },
    few = { loop } })
end

-- --- tasks --------------------------------------------------------------------------------
--
-- On a processor what would run in Lua is for one work-item: there it takes what it takes in C, and what it works on
-- need not be copied to Lua. So may be a loop with such statements among its nests, and a loop on the host whose nests
-- may be too small for a launch each: then a call chooses between one work-item for all of it and the nests
-- (`instead`).

--- Whether the order of a loop's sums, which changes as it is shared out, matters to their results.
local function order_matters(node)
  return node.reductions ~= nil and loop_reductions.have_order(node.reductions)
    or node.scattered ~= nil and private_sums.have_order(node)
end

--- Whether a part goes through arrays in one work-item or on the host, or may do so, or holds what does.
local function is_sequential(part)
  if part.is_task or (part.scattered or part.accumulators) and not order_matters(part.node) then return true end
  if part.kind == "lua" and #part.reads + #part.writes > 0 then return true end
  if part.kind == "if" and #part.reads > 0 then return true end
  if part.kind == "either" then return is_sequential(part.many[1]) end -- `few` may reduce beside a parallel loop
  for _, body in ipairs(plans.bodies(part)) do
    for _, inner in ipairs(body) do
      if is_sequential(inner) then return true end
    end
  end
  return false
end

--- Whether statements declare locals that later ones use.
local function outlive(nodes, later)
  local is_declared = {}
  for _, node in ipairs(nodes) do
    if node.kind == "local" then is_declared[node.variable] = true end
  end
  return next(is_declared) ~= nil
    and walk.find(later, function(part) return part.kind == "name" and is_declared[part.variable] end) ~= nil
end

--- Whether a loop is in statements, or around or beside them: without any, arrays are not on the device.
local function has_loop(nodes, state)
  return #state.loops > 0 or #state.kernels > 0 or walk.find(nodes, function(part) return part.kind == "for" end) ~= nil
end

local function is_reordered(node) return node.kind == "for" and order_matters(node) end

--- A task of statements, or nil where they are none: what it computes stays in arrays, and sums have Lua's order, but
-- for those that the work-items of a group share. `instead` makes the plan of a run without it, where there is one.
local function build_task(nodes, later, instead, state)
  local uses, checked = walk.uses(nodes), {}
  if #uses.writes == 0 or not has_loop(nodes, state) then return nil end
  if outlive(nodes, later) or walk.breaks_out(nodes) then return nil end
  local node = #nodes == 1 and nodes[1] or ast.node("do", { body = nodes }, nodes[1])
  if obstacle(node, uses, checked) then return nil end
  local is_shared, reduces = state.may_share(nodes, instead ~= nil), walk.find(nodes, is_reordered)
  if reduces and not (state.is_wide and is_shared and instead and state.shares_sums(nodes)) then return nil end
  if state.is_choice and not is_shared then return nil end
  local other = instead and instead()
  local function kernel(special) return new_kernel(node, uses, checked, special, state) end
  if reduces then return kernel { is_task = true, is_shared = true, instead = other } end
  local task = kernel { is_task = true, instead = other }
  return is_shared and kernel { is_task = true, is_shared = true, instead = { task } } or task
end

local MOST_STATEMENTS = 64 -- that are tried as one task

--- The parts of statements from one on, as a plan.
local function assemble(nodes, parts, first, last)
  local plan = {}
  for i = first, last do
    if parts[i] then plan[#plan + 1] = parts[i] else add_lua(plan, nodes[i]) end
  end
  for _, part in ipairs(plan) do
    if part.kind == "lua" then
      local uses = walk.uses(part.nodes)
      part.reads, part.writes = uses.reads, uses.writes
    end
  end
  return plan
end

local function may_be_left(part) return not part or is_sequential(part) end

--- Whether the host waits for what a nest sums up in a local, in each pass of a loop: a group does not.
local function is_awaited(part, state)
  if not state.is_wide or state.is_few or #state.loops == 0 then return false end
  for _, accumulator in ipairs(part.accumulators or {}) do
    if accumulator.is_local then return true end
  end
  return false
end

--- The last one of statements from one on, up to another one, that may be of one task.
local function reach_of(parts, first, most, belongs)
  local reach = first - 1
  while reach < math.min(most, first + MOST_STATEMENTS - 1) and belongs(parts[reach + 1]) do reach = reach + 1 end
  return reach
end

local with_tasks

--- Whether there are nests that reduce among parts from one on.
local function has_accumulators(parts, first, last)
  for i = first, last do
    if parts[i] and parts[i].accumulators then return true end
  end
  return false
end

local function is_none(part) return not part end

--- What a run without a task does. What is left beside nests that reduce is for tasks of its own, so that data stay
-- where they are, and on a GPU also what is beside loops on the host, such as those in rounds.
local function without_task(nodes, parts, first, last, state)
  local belongs = state.is_wide and may_be_left
  if reach_of(parts, first, last, may_be_left) == last then
    belongs = has_accumulators(parts, first, last) and is_none
  end
  if not belongs then return assemble(nodes, parts, first, last) end
  local places, kept = with_tasks(nodes, parts, first, last, belongs, state)
  return assemble(places, kept, 1, #places)
end

--- The longest task of statements from one on, up to another one, and the last one of them.
local function longest_task(nodes, parts, first, most, belongs, state)
  for last = reach_of(parts, first, most, belongs), first, -1 do
    local list, rest = table.move(nodes, first, last, 1, {}), table.move(nodes, last + 1, #nodes, 1, {})
    local is_plain = next(table.move(parts, first, last, 1, {})) == nil
    local function instead() return without_task(nodes, parts, first, last, state) end
    local task = build_task(list, rest, not is_plain and instead or nil, state)
    if task then return task, last end
  end
end

--- Whether loops are left to Lua beside kernels, as those are that compute a number which later ones use.
local function has_lua_loop(plan)
  local has_other, has_for = false, false
  for _, part in ipairs(plan) do
    has_other = has_other or part.kind ~= "lua"
    for _, node in ipairs(part.nodes or {}) do has_for = has_for or node.kind == "for" end
  end
  return has_other and has_for
end

--- Puts tasks in place of what would run in Lua, and of other parts that `belongs` accepts.
function with_tasks(nodes, parts, first, most, belongs, state)
  local kept, places = {}, {}
  while first <= most do
    local task, last = longest_task(nodes, parts, first, most, belongs, state)
    places[#places + 1], kept[#places + 1] = nodes[first], task or parts[first]
    first = (last or first) + 1
  end
  return places, kept
end

function build(nodes, state)
  local parts = {}
  for i, node in ipairs(nodes) do
    if node.kind == "for" then
      parts[i] = build_nest(node, state) or has_kernel(node.body) and build_loop(node, state)
        or build_wavefronts(node, state) or build_pipeline(node, state)
    elseif node.kind == "if" then
      parts[i] = build_if(node, state)
    end
  end
  if not state.takes_tasks then return assemble(nodes, parts, 1, #nodes) end
  local function belongs(part)
    return may_be_left(part) or part.kind == "loop" and #state.loops == 0 or is_awaited(part, state)
  end
  local places, kept = with_tasks(nodes, parts, 1, #nodes, belongs, state)
  local plan = assemble(places, kept, 1, #places)
  local task = #state.loops == 0 and has_lua_loop(plan)
    and build_task(nodes, {}, function() return plan end, state)
  return task and { task } or plan
end

--- Locals that are declared in one part of a plan and used in another need not concern its parts: they are Lua's.
-- @tparam table tree of a function whose loops have `parallel`
-- @tparam boolean takes_tasks whether sequential loops become kernels of one work-item
-- @tparam table target of `clcompute.loops.runtime.kernel_target`: which groups share these
-- @treturn table the plan; its field `kernels` lists its kernel nests
function partition.plan(tree, takes_tasks, target)
  local function may_share(nodes, has_kernels)
    if target.is_wide then
      return sharing.pays(nodes, true) and not (faults.are_in(nodes) and (not target.spread or sharing.has_sums(nodes)))
    end
    return has_kernels and target.may_wait and sharing.pays(nodes)
  end
  local state = { kernels = {}, loops = {}, takes_tasks = takes_tasks, may_share = may_share, nodes = tree.body,
    shares_sums = sharing.has_all_sums, is_wide = target.is_wide, is_ambiguous = ambiguous_locals(tree.body) }
  local plan = build(tree.body, state)
  plan.kernels = state.kernels
  return plan
end

return partition
