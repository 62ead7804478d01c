-- SPDX-License-Identifier: MIT

--- All passes from a parsed function to what runs, for one set of kinds of arguments.
-- @module clcompute.loops.compiler

local bounds = require "clcompute.loops.analysis.bounds"
local coverage = require "clcompute.loops.analysis.coverage"
local dependences = require "clcompute.loops.analysis.dependences"
local extremes = require "clcompute.loops.analysis.extremes"
local estimate = require "clcompute.loops.generation.estimate"
local failure = require "clcompute.loops.tree.failure"
local host = require "clcompute.loops.generation.host"
local indices = require "clcompute.loops.generation.indices"
local interchange = require "clcompute.loops.analysis.interchange"
local jamming = require "clcompute.loops.generation.jamming"
local kernels = require "clcompute.loops.generation.kernels"
local nests = require "clcompute.loops.generation.nests"
local reductions = require "clcompute.loops.analysis.reductions"
local resolve = require "clcompute.loops.front.resolve"
local restrictions = require "clcompute.loops.front.restrictions"
local rounds = require "clcompute.loops.generation.rounds"
local scop = require "clcompute.loops.analysis.scop"
local size_of = require "clcompute.loops.tree.variables".size
local tiling = require "clcompute.loops.generation.tiling"
local types = require "clcompute.loops.front.types"
local walk = require "clcompute.loops.tree.walk"
local wavefronts = require "clcompute.loops.analysis.wavefronts"

local specialise = {}

--- What a function takes: its parameters, then its captures.
function specialise.variables(tree)
  local list = table.move(tree.parameters, 1, #tree.parameters, 1, {})
  return table.move(tree.captures, 1, #tree.captures, #list + 1, list)
end

--- Where two arguments are one array, one variable stands for both.
local function unify(tree, twins)
  walk.nodes(tree.body, function(node)
    if node.array and twins[node.array] then node.array = twins[node.array] end
  end)
end

--- The tree with types for the kinds of `taken`, whose variables are those of an earlier tree.
local function typed_tree(parsed, variables, taken, options)
  local tree = restrictions.check(resolve.run(parsed))
  tree.base = options.base
  local kinds, twins, own = {}, {}, {}
  for i, variable in ipairs(specialise.variables(tree)) do own[variables[i]] = variable end
  for variable, kind in pairs(taken.kinds) do kinds[own[variable]] = kind end
  for variable, twin in pairs(taken.twins) do twins[own[variable]] = own[twin] end
  unify(tree, twins)
  types.infer(tree, kinds)
  if options.reduce == "tree" then extremes.rewrite(tree) end
  return tree, own
end

--- The names of a call's numbers and sizes, in the order of the arguments, each with the position of its own.
local function names_of(variables, own)
  local names = {}
  for i, variable in ipairs(variables) do
    local new = own[variable]
    if new.role ~= "array" and new.type then
      names[#names + 1] = { id = new.id, argument = i }
    elseif new.role == "array" then
      for d = 1, new.rank do
        names[#names + 1] = { id = size_of(new, d), argument = i, dimension = d }
      end
    end
  end
  return names
end

--- The arrays of a call, each once, and the positions of their arguments.
local function arrays_of(variables, own, twins)
  local arrays, positions = {}, {}
  for i, variable in ipairs(variables) do
    if variable.role == "array" and not twins[variable] then
      arrays[#arrays + 1], positions[#positions + 1] = own[variable], i
    end
  end
  return arrays, positions
end

--- The names of what verdicts depend on: sizes, and the numbers in bounds and conditions.
local function deciding_of(names, numbers)
  local deciding = table.move(numbers, 1, #numbers, 1, {})
  for _, name in ipairs(names) do
    if name.dimension then deciding[#deciding + 1] = name.id end
  end
  return deciding
end

local function ids_of(names)
  local ids = {}
  for i, name in ipairs(names) do ids[i] = name.id end
  return ids
end

--- Notes for each nest which of the arrays that it writes need their values before, and for which data decide what is
-- written.
local function cover(spec)
  for _, kernel in ipairs(spec.plan.kernels) do
    kernel.needed, kernel.undecided = {}, {}
    for _, array in ipairs(kernel.writes) do
      kernel.needed[array] = coverage.needed(spec.scop, kernel.node, array)
      kernel.undecided[array] = coverage.is_undecided(spec.scop, kernel.node, array)
    end
  end
end

--- What was generated, unless Lua refuses it: a function may have 200 locals.
local function fitting(tree, result, message)
  if result then return result end
  failure.raise(tree.origin, tree, "too many arrays and locals for one function: " .. message:gsub("^%a+:%d+: ", ""))
end

--- The checks whose accesses happen for certain, and those of which data decide.
local function divide(tree, checks)
  local certain, uncertain = {}, {}
  for _, check in ipairs(checks) do table.insert(check.certain and certain or uncertain, check) end
  return fitting(tree, bounds.compile(certain)), fitting(tree, bounds.compile(uncertain))
end

--- Analyses dependences and bounds. Where that takes too long, no loop is parallel, and all runs in Lua.
local function analyse(spec, options, target)
  local ok, reason = dependences.analyse(spec.scop)
  if ok and options.heuristics ~= "paper" then -- whose rules are for the order as it is written
    interchange.apply(spec.tree, function()
      spec.scop = scop.extract(spec.tree)
      ok, reason = dependences.analyse(spec.scop)
    end, target.is_wide)
  end
  if ok and options.reduce == "tree" then reductions.mark(spec.scop) end
  if ok and options.heuristics ~= "paper" and target.is_wide then wavefronts.mark(spec.scop) end
  local checks
  if ok then checks, reason = bounds.analyse(spec.scop) end
  if not checks then
    for _, loop in ipairs(spec.scop.loops) do loop.parallel, loop.reductions, loop.wavefront = false, nil, nil end
    spec.given_up = reason
  end
  spec.fails, spec.may_fail = divide(spec.tree, checks or {})
end

--- Why nothing of a function becomes a kernel, or nil.
local function no_kernel(spec)
  if #spec.plan.kernels > 0 then return nil end
  if spec.given_up then return "the analysis was given up: " .. spec.given_up end
  for _, loop in ipairs(spec.scop.loops) do
    if loop.obstacle then return loop.obstacle end
  end
  return "no loop is parallel"
end

--- The most accumulators that a nest has.
local function accumulators_of(plan)
  local most = 0
  for _, kernel in ipairs(plan.kernels) do most = math.max(most, kernel.accumulators and #kernel.accumulators or 0) end
  return most
end

--- Whether sequential loops may become kernels of one work-item: where the model decides, and a work-item is as fast as
-- a core of the host.
local function takes_tasks(options, target)
  return options.force == nil and options.heuristics == "model" and not target.is_wide
end

--- The passes, one after the other; where nothing becomes a kernel, `no_kernel` says why.
-- @tparam table parsed of `clcompute.loops.front.parser`
-- @tparam table variables what the arguments are to `taken`
-- @tparam table taken `kinds` and `twins` of `clcompute.loops.runtime.arguments`
-- @tparam table options `base`, `mode`, `reduce`, `heuristics`, `force`
-- @tparam table target of `clcompute.loops.runtime.target`
-- @treturn table what each pass made: `tree`, `scop`, `plan`, `text` (OpenCL C), `host_text` (Lua);
-- `real`, the dtype of floats; `accumulators`, the most that a nest has; `fails` and
-- `may_fail`, checks of a call; `estimate` and `run`, functions; `names` of the numbers and sizes of a call, and
-- `deciding`, of those that verdicts depend on; `arrays`, the variables of its arrays, each once, and `positions`,
-- those of their arguments; `has_twins`, whether an array was given twice; `own`, the variables of this tree by those
-- of the arguments; `largest`, up to which numbers have indices of 32 bits, or nil
function specialise.run(parsed, variables, taken, options, target)
  local spec = {}
  spec.tree, spec.own = typed_tree(parsed, variables, taken, options)
  spec.scop = scop.extract(spec.tree)
  analyse(spec, options, target)
  spec.plan = nests.plan(spec.tree, takes_tasks(options, target) and not spec.given_up)
  spec.no_kernel = no_kernel(spec)
  cover(spec)
  spec.needs_double = kernels.need_double(spec.plan.kernels, options.mode)
  spec.real = spec.needs_double and "double" or "float"
  for _, kernel in ipairs(spec.plan.kernels) do
    if not kernel.accumulators and not kernel.is_task and not kernel.wavefront then
      kernel.tiles = tiling.of(kernel.band, spec.real, target)
      if kernel.tiles then jamming.apply(kernel.tiles, spec.scop, target[spec.real].jam) end
    end
    kernel.depth, kernel.parameters = walk.depth(kernel.node), kernels.parameters(kernel)
    kernel.largest = target.is_wide and indices.largest(kernel) or nil
  end
  rounds.mark(spec.plan, spec.scop, options.heuristics ~= "paper" and target[spec.real].passes or 1)
  spec.largest = indices.least(spec.plan.kernels)
  spec.accumulators, spec.row = accumulators_of(spec.plan), target[spec.real]
  spec.text = kernels.text(spec.plan.kernels, spec.plan.rounds,
    { mode = options.mode, base = options.base, origin = spec.tree.origin, vector = spec.row.vector })
  spec.names = names_of(variables, spec.own)
  spec.deciding = deciding_of(spec.names, spec.scop.numbers)
  spec.arrays, spec.positions = arrays_of(variables, spec.own, taken.twins)
  spec.has_twins = next(taken.twins) ~= nil
  local ids = ids_of(spec.names)
  spec.estimate = fitting(spec.tree, estimate.compile(spec.plan, ids))
  spec.host_text = host.text(spec.plan, ids, spec.arrays)
  spec.run = fitting(spec.tree, host.compile(spec.host_text, spec.plan))
  return spec
end

return specialise
