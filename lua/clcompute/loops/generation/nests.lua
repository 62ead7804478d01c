-- SPDX-License-Identifier: MIT

--- From a tree whose loops are known to be parallel or not to a plan: which loops and conditions stay on the host,
-- which nests become kernels, what runs in Lua.
--
-- A plan is a list of { kind="loop", node=, body=plan }, { kind="if", node=, arms={ { condition=, body=plan } },
-- otherwise=plan or nil, reads=, writes={} }, where reads are those of the conditions, { kind="kernel", node=, reads=,
-- writes=, scalars=, name=, index= and what `clcompute.loops.generation.mapping` adds; accumulators= and
-- has_result= (for arrays) if it reduces; is_task= if it is for one work-item; wavefront= if it goes in such, which
-- `clcompute.loops.generation.wavefront` describes }, { kind="lua", nodes=, reads=, writes= } and { kind="either",
-- node=, condition=, few=plan, many=plan }, of which a launch takes one: `few` where its condition holds. What cannot
-- be a kernel keeps the order that it has in the source.
-- @module clcompute.loops.generation.nests

local accumulators_of = require "clcompute.loops.generation.accumulators".of
local mapping = require "clcompute.loops.generation.mapping"
local set_of = require "clcompute.loops.tree.uses".set
local uses_of = require "clcompute.loops.tree.uses".of
local walk = require "clcompute.loops.tree.walk"
local wavefront = require "clcompute.loops.generation.wavefront"

local nests = {}

-- --- what cannot be a kernel --------------------------------------------------------------

--- Integer divisions whose divisor is not known: Lua raises an error where it is 0. Divisors that are one of the
-- `scalars` can be looked at before the launch; they become keys of `checked`.
local function dividing(node, is_scalar, checked)
  local fault
  walk.node(node, function(part)
    local divisor
    if part.kind == "binary" and (part.op == "//" or part.op == "%") then divisor = part.right end
    if part.kind == "call" and part.name == "fmod" then divisor = part.arguments[2] end
    if not divisor or part.type ~= "int" then return end
    if divisor.kind == "number" and divisor.value ~= 0 then return end
    if divisor.kind == "unary" and divisor.op == "-" and divisor.operand.kind == "number"
      and divisor.operand.value ~= 0 then return end
    if divisor.kind == "name" and is_scalar[divisor.variable] then
      checked[divisor.variable] = true
    else
      fault = fault or part
    end
  end)
  return fault
end

--- The first value of which data decide whether it is an integer, where that makes a difference.
local function ambiguous(node)
  local found
  walk.node(node, function(part)
    if part.is_ambiguous then found = found or part end
  end)
  return found
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

--- Why a loop that is parallel, but for accumulators, cannot be a kernel, or nil.
local function obstacle(node, uses, checked)
  local shared = uses.assigned[1]
  if shared then return ("line %d: the loop assigns '%s', which outlives it"):format(node.line, shared.name) end
  local fault = dividing(node, set_of(uses.scalars), checked)
  if fault then
    return ("line %d: the integer divisor may be 0, which is an error in Lua"):format(fault.line)
  end
  fault = ambiguous(node)
  if fault then
    return ("line %d: whether this is computed in integers depends on data (0.0 instead of 0 makes it floats)")
      :format(fault.line)
  end
end

--- Whether loops in a list are kernels, or may be.
local function has_kernel(nodes)
  local found = false
  walk.nodes(nodes, function(node)
    if node.kind == "for" and (node.parallel or node.reductions or node.wavefront) then found = true end
    return not found
  end)
  return found
end

-- --- the plan -----------------------------------------------------------------------------

local function new_kernel(node, uses, checked, special, state)
  local index = #state.kernels + 1
  local kernel = { kind = "kernel", node = node, index = index, name = "nest_" .. index, reads = uses.reads,
    writes = uses.writes, scalars = uses.scalars, nonzero = {}, accumulators = special.accumulators,
    wavefront = special.wavefront, is_task = special.is_task,
    host_loops = table.move(state.loops, 1, #state.loops, 1, {}) }
  for _, accumulator in ipairs(kernel.accumulators or {}) do
    kernel.has_result = kernel.has_result or not accumulator.is_local
  end
  mapping.add(kernel)
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
    last = { kind = "lua", nodes = {} }
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
  return #state.kernels > kernels and { kind = "loop", node = node, body = body } or nil
end

--- An `if` that stays on the host, or nil if nothing inside becomes a kernel.
local function build_if(node, state)
  local kernels, arms, conditions = #state.kernels, {}, {}
  for i, arm in ipairs(node.arms) do
    arms[i], conditions[i] = { condition = arm.condition, body = build(arm.body, state) }, arm.condition
  end
  local otherwise = node.otherwise and build(node.otherwise, state)
  if #state.kernels == kernels then return nil end
  return { kind = "if", node = node, arms = arms, otherwise = otherwise, reads = uses_of(conditions).reads,
    writes = {} }
end

--- A kernel nest, or nil where a loop is none; then `obstacle` tells what else than dependences is in the way.
local function build_kernel(node, state)
  if not node.parallel and not mapping.reduces(node) then return nil end
  local accumulators = not node.parallel and accumulators_of(node.reductions) or nil
  local uses, checked = uses_of { node }, {}
  uses.scalars = without_accumulators(uses.scalars, accumulators)
  uses.assigned = without_accumulators(uses.assigned, accumulators)
  node.obstacle = obstacle(node, uses, checked)
  return not node.obstacle and new_kernel(node, uses, checked, { accumulators = accumulators }, state) or nil
end

--- A loop that has none in it that is parallel. On a processor it is for one work-item: there it takes what it takes in
-- C, and what it works on need not be copied to Lua. On other devices it goes in wavefronts.
local function build_sequential(node, state)
  local special = { is_task = state.takes_tasks, wavefront = node.wavefront and wavefront.of(node.wavefront) }
  if not special.is_task and not special.wavefront then return nil end
  local uses, checked = uses_of { node }, {}
  if #uses.writes == 0 or obstacle(node, uses, checked) then return nil end
  return new_kernel(node, uses, checked, special, state)
end

--- A kernel nest, beside it what a call does instead where the nest has few passes.
local function build_nest(node, state)
  local many = build_kernel(node, state)
  local few = many and node.parallel and mapping.few(node)
  local loop = few and build_loop(node, state)
  if not loop then return many end
  few.node.place = "either"
  return { kind = "either", node = node, condition = few.condition, words = few.words, many = { many },
    few = { loop } }
end

function build(nodes, state)
  local plan = {}
  for _, node in ipairs(nodes) do
    local part
    if node.kind == "for" then
      part = build_nest(node, state) or has_kernel(node.body) and build_loop(node, state)
        or build_sequential(node, state)
    elseif node.kind == "if" then
      part = build_if(node, state)
    end
    if part then plan[#plan + 1] = part else add_lua(plan, node) end
  end
  for _, part in ipairs(plan) do
    if part.kind == "lua" then
      local uses = uses_of(part.nodes)
      part.reads, part.writes = uses.reads, uses.writes
    end
  end
  return plan
end

--- Locals that are declared in one part of a plan and used in another need not concern its parts: they are Lua's.
-- @tparam table tree of a function whose loops have `parallel`
-- @tparam boolean takes_tasks whether sequential loops become kernels of one work-item
-- @treturn table the plan; its field `kernels` lists its kernel nests
function nests.plan(tree, takes_tasks)
  local state = { kernels = {}, loops = {}, takes_tasks = takes_tasks }
  local plan = build(tree.body, state)
  plan.kernels = state.kernels
  return plan
end

return nests
