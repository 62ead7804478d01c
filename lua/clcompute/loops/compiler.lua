-- SPDX-License-Identifier: MIT

--- All passes from a resolved tree to what runs, in their order, for one set of kinds of arguments.

local analysis = require "clcompute.loops.analysis"
local ast = require("clcompute.loops.tree").ast
local failure = require("clcompute.loops.tree").failure
local front = require "clcompute.loops.front"
local generation = require "clcompute.loops.generation"
local lua_text = require("clcompute.loops.tree").lua_text
local plans = require("clcompute.loops.tree").plan
local storage = require("clcompute.loops.runtime").storage
local walk = require("clcompute.loops.tree").walk

local compiler = {}

-- --- the tree -------------------------------------------------------------------------------

--- A copy of the tree for passes to change, in which one variable stands for two arguments that are one array.
local function copy(unit, job)
  local copies
  unit.tree, copies = ast.copy(job.tree)
  unit.own, unit.gaps = {}, {}
  for _, list in ipairs { job.variables, job.tree.scratch or {} } do
    for _, variable in ipairs(list) do unit.own[variable] = copies[variable] end
  end
  local twins = {}
  for variable, twin in pairs(job.taken.twins) do twins[unit.own[variable]] = unit.own[twin] end
  front.as_matrices(unit.tree, twins, job.is_flat)
  unit.is_flat = job.is_flat
  walk.nodes(unit.tree.body, function(node)
    if node.array and twins[node.array] then node.array = twins[node.array] end
  end)
end

--- The dtype of floats that a function computes: double where an array is.
local function real_of(unit, job)
  local real = job.options.mode == "exact" and "double" or "float"
  for _, variable in pairs(unit.own) do
    real = variable.element == "double" and not variable.is_made and "double" or real
  end
  return real
end

local function types(unit, job)
  local kinds = {}
  for variable, kind in pairs(job.taken.kinds) do
    local own = unit.own[variable]
    kinds[own] = own.pitches and setmetatable({ rank = own.rank }, { __index = kind }) or kind
  end
  front.infer_types(unit.tree, kinds)
  if job.options.mode == "exact" or real_of(unit, job) == "double" then return end
  for _, array in ipairs(unit.tree.scratch or {}) do
    if array.element == "double" then array.element = "float" end
  end
end

local function subscripts(unit)
  front.simplify_subscripts(unit.tree)
end

local function selections(unit)
  analysis.selections.rewrite(unit.tree)
end

local function extremes(unit)
  analysis.loop_reductions.normalise(unit.tree)
end

-- --- analysis -------------------------------------------------------------------------------
-- Where it takes too long, no loop is parallel, and all runs in Lua.

local function scop(unit)
  unit.scop = analysis.scop.extract(unit.tree)
end

local function dependences(unit)
  unit.examples = unit.examples or {}
  local _, reason = analysis.dependences.analyse(unit.scop, nil, unit.examples)
  unit.given_up = reason
end

--- Once more, after a pass that changed loops.
local function analyse(unit)
  scop(unit)
  dependences(unit)
  return unit.scop
end

--- What passes call after they changed loops.
local function anew(unit)
  return function() return analyse(unit) end
end

--- Whether a call may make arrays for itself, so much it is to spare memory.
local function may_take_memory(unit, job, thrift)
  return not unit.given_up and job.options.heuristics ~= "paper" and (job.target.thrift or 0) <= thrift
end

--- How large tables get that the function makes.
local function measure(unit)
  local vague = analysis.local_tables.measure(unit.tree, unit.scop)
  if not vague then return end
  failure.raise(unit.tree.origin, vague.node, ("how long '%s' gets is not found%s: fill it before, by "
    .. "'for i = 1, most do t[i] = 0 end', and count"):format(vague.name, vague.cursor
    and ", as data say how often a loop around its appends goes round" or ""))
end

--- Tables that the function makes. One of which elements are read that nothing was stored in has nil there: such calls
-- run in Lua. There a table of each pass would have what other passes stored: such a call is refused (runtime/call).
local function local_tables(unit, job)
  if not unit.tree.scratch then return end
  if may_take_memory(unit, job, 0) then analysis.local_tables.expand(unit.tree, anew(unit)) end
  analyse(unit)
  measure(unit)
  for i, gap in ipairs(analysis.local_tables.gaps(unit.tree, unit.scop)) do
    unit.gaps[i] = { array = gap.array, holds = analysis.bounds.evaluator(gap.condition),
      is_of_pass = #gap.array.loops > 0,
      reason = ("elements of '%s', which it makes, may be read or returned without a value"):format(gap.array.name) }
  end
end

--- Locals that begin as integers. Calls run in Lua in which no float comes to one that is returned, or which may add
-- integers beyond what floats hold.
local function beginnings(unit)
  if unit.given_up then return end
  for _, row in ipairs(analysis.beginnings.find(unit.tree, unit.scop)) do
    table.insert(unit.gaps, { holds = analysis.bounds.evaluator(row.condition),
      reason = ("'%s' is returned as the integer that it begins with"):format(row.variable.name) })
  end
  local condition, node = analysis.beginnings.sums(unit.tree, unit.scop, front.MOST_ADDED)
  if condition then
    table.insert(unit.gaps, { holds = analysis.bounds.evaluator(condition),
      reason = ("line %d: the sum may be an integer in Lua, and with so many passes beyond 2^53"):format(node.line) })
  end
  front.settle_mixtures(unit.tree)
end

--- The rules of the paper are for the order as it is written.
local function triangles(unit, job)
  if unit.given_up or job.options.heuristics == "paper" then return end
  analysis.triangles.apply(unit.tree, anew(unit), unit.scop)
end

local function separation(unit, job)
  if unit.given_up or job.options.heuristics == "paper" then return end
  analysis.separation.apply(unit.tree, anew(unit), unit.scop, job.target.is_wide)
end

--- On GPUs: on a processor a launch for each pass of a loop takes longer.
local function peeling(unit, job)
  if unit.given_up or job.options.heuristics == "paper" or not job.target.is_wide then return end
  analysis.peeling.apply(unit.tree, anew(unit))
end

--- On GPUs: a processor had better have sums in registers.
local function right_looking(unit, job)
  if unit.given_up or job.options.heuristics == "paper" or not job.target.is_wide then return end
  analysis.right_looking.apply(unit.tree, anew(unit), unit.scop, real_of(unit, job))
end

--- On GPUs: on processors few work-items do.
local function privatising(unit, job)
  if not may_take_memory(unit, job, 0) or not job.target.is_wide then return end
  analysis.privatising.apply(unit.tree, anew(unit), unit.scop)
end

--- On GPUs: a processor goes through memory once, not twice.
local function preserving(unit, job)
  if not may_take_memory(unit, job, 1) or not job.target.is_wide then return end
  analysis.preserving.apply(unit.tree, anew(unit), unit.scop)
end

--- Where there are groups to share what gets parallel.
local function expansion(unit, job)
  if not may_take_memory(unit, job, 1) or not (job.target.is_wide or job.target.may_wait) then return end
  analysis.expansion.apply(unit.tree, anew(unit), unit.scop, real_of(unit, job), job.target.is_wide)
end

local function interchange(unit, job)
  if unit.given_up or job.options.heuristics == "paper" then return end
  repeat -- until no loops come together that were strips
    analysis.interchange.apply(unit.tree, anew(unit), job.target.is_wide)
    local has_changed = analysis.unblocking.apply(unit.tree, unit.scop, real_of(unit, job))
    if has_changed then analyse(unit) end
  until not has_changed
end

--- On GPUs: for one launch, where there would be some.
local function recomputing(unit, job)
  if not may_take_memory(unit, job, 1) or not job.target.is_wide then return end
  analysis.recomputing.apply(unit.tree, anew(unit), real_of(unit, job))
end

local function splitting(unit, job)
  if unit.given_up or job.options.heuristics == "paper" then return end
  analysis.splitting.apply(unit.tree, anew(unit), unit.scop)
end

--- On processors, where loops go in rounds.
local function unrolling(unit, job)
  if unit.given_up or job.options.heuristics == "paper" or job.target.is_wide then return end
  if generation.unrolling.apply_to_tree(unit.tree) then analyse(unit) end
end

local function distribution(unit, job)
  if unit.given_up or job.options.heuristics == "paper" then return end
  if not analysis.distribution.apply(unit.tree, job.target.is_wide) then return end
  analyse(unit)
  if job.target.is_wide then interchange(unit, job) end
end

--- On GPUs: on processors rows overlap.
local function diagonals(unit, job)
  if unit.given_up or job.options.heuristics == "paper" or not job.target.is_wide then return end
  analysis.diagonals.apply(unit.tree, anew(unit), unit.scop)
end

local function loop_reductions(unit, job)
  if not unit.given_up and job.options.reduce == "tree" then analysis.loop_reductions.mark(unit.scop) end
end

--- On GPUs, where the work-items of a group may share a pass.
local function recurrences(unit, job)
  if unit.given_up or not job.target.is_wide or job.options.heuristics == "paper" then return end
  analysis.recurrences.mark(unit.scop)
end

--- The order of integers is no matter, whatever `reduce` says.
local function scattered_updates(unit, job)
  local is_tree, is_wide = job.options.reduce == "tree", job.target.is_wide
  if unit.given_up or job.options.heuristics == "paper" and not is_tree then return end
  analysis.scattered_updates.mark(unit.scop, { widest = is_wide and (job.target.has_long_atomics and 8 or 4) or nil,
    has_copies = job.options.heuristics ~= "paper", takes_floats = is_tree,
    has_logs = is_wide and job.options.heuristics ~= "paper" })
end

local function wavefronts(unit, job)
  if unit.given_up or job.options.heuristics == "paper" or not job.target.is_wide then return end
  analysis.wavefronts.mark(unit.scop)
end

local function pipelines(unit, job)
  if unit.given_up or job.options.heuristics == "paper" or not job.target.may_wait then return end
  analysis.pipelines.mark(unit.scop)
end

local function orderless_reductions(unit, job)
  if unit.given_up or job.options.heuristics == "paper" or job.options.reduce == "tree" then return end
  analysis.loop_reductions.mark_orderless(unit.scop)
end

--- What was generated, unless Lua refuses it: a function may have 200 locals.
local function fitting(unit, result, message)
  if result then return result end
  failure.raise(unit.tree.origin, unit.tree, "too many arrays and locals for one function: "
    .. message:gsub("^%a+:%d+: ", ""))
end

--- Whether elements are looked at only as they are used.
local function leaves_arrays(tree)
  return walk.find(tree.body, function(node) return node.kind == "index" and node.checked ~= nil end) ~= nil
end

--- Whether an access may make an array longer, whose length the function takes: to that the length is a number of the
-- call.
local function may_grow(check)
  return check.access.write and check.side == "above" and check.array.longest ~= nil
end

--- Whether flat arrays are matrices: loops may have changed places since, for that.
local function has_matrices(unit)
  for _, variable in pairs(unit.own) do
    if variable.pitches then return true end
  end
  return false
end

--- Whether a check is one of a row of a flat array. Where data say which row it is, it may be the last one, of which
-- passes that copy arrays copy all.
local function leaves_row(check, tree)
  if not check.array.pitches or check.dimension == 1 then return false end
  return not check.is_last or check.access.node.checked ~= nil or tree.scratch ~= nil
end

--- The sizes of the rows of flat arrays that a call is given.
local function sizes_of_rows(unit)
  local ids = {}
  for _, variable in pairs(unit.own) do
    local is_given = variable.pitches and not variable.is_made
    for d = 2, is_given and variable.rank or 1 do ids[#ids + 1] = ast.size(variable, d) end
  end
  return ids
end

--- Whether a row of a flat array is left, or none has an element: the matrix has none then, but the array has.
local function leaving_rows(unit, checks)
  local find, ids = fitting(unit, analysis.bounds.compile(checks)), sizes_of_rows(unit)
  return function(values)
    for _, id in ipairs(ids) do
      if values[id] < 1 then return true end
    end
    return find(values)
  end
end

--- The checks of accesses that happen for certain, of accesses that happen where data say so, and of those that leave
-- the rows of a flat array.
local function bounds(unit)
  local checks, certain, uncertain, inner = nil, {}, {}, {}
  if not unit.given_up then checks, unit.given_up = analysis.bounds.analyse(unit.scop) end
  if not checks then
    for _, loop in ipairs(unit.scop.loops) do
      loop.parallel, loop.reductions, loop.wavefront, loop.behind = false, nil, nil, nil
      loop.recurrences, loop.scattered, loop.logged = nil, nil, nil
    end
  end
  for _, check in ipairs(checks or {}) do
    local is_inner = leaves_row(check, unit.tree)
    local is_certain = check.certain and not check.access.node.may_miss -- its gap says that the call runs in Lua
    table.insert(is_inner and inner or is_certain and certain or uncertain, check)
    if not check.certain and may_grow(check) then check.access.node.is_stored = true end -- Lua looks at it then
  end
  unit.leaves_rows = leaving_rows(unit, inner)
  unit.has_rows = has_matrices(unit)
  if not checks and unit.has_rows then unit.leaves_rows = function() return true end end -- nobody knows
  unit.fails = fitting(unit, analysis.bounds.compile(certain))
  unit.may_fail = fitting(unit, analysis.bounds.compile(uncertain))
  unit.is_fenced = #uncertain > 0 or unit.given_up ~= nil or leaves_arrays(unit.tree)
end

-- --- the plan -------------------------------------------------------------------------------

--- Why nothing of a function becomes a kernel, or nil.
local function no_kernel(unit)
  if #unit.plan.kernels > 0 then return nil end
  if unit.given_up then return "the analysis was given up: " .. unit.given_up end
  for _, loop in ipairs(unit.scop.loops) do
    if loop.obstacle then return loop.obstacle end
  end
  return #unit.scop.loops > 0 and generation.partition.ambiguity(unit.tree.body) or "no loop is parallel"
end

--- Sequential loops become kernels of one work-item where the model decides: on a GPU that is slow, but data stay
-- there.
local function partition(unit, job)
  local options = job.options
  local takes_tasks = options.force == nil and options.heuristics == "model"
  unit.plan = generation.partition.plan(unit.tree, takes_tasks and not unit.given_up, job.target)
  unit.no_kernel = no_kernel(unit)
end

local function coverage(unit)
  for _, kernel in ipairs(unit.plan.kernels) do
    kernel.needed, kernel.undecided = {}, {}
    local may_fail = generation.faults.are_in { kernel.node } -- and then leave elements unwritten
    for _, array in ipairs(kernel.writes) do
      kernel.needed[array] = may_fail or analysis.bounds.needed(unit.scop, kernel.node, array)
      kernel.undecided[array] = analysis.bounds.is_undecided(unit.scop, kernel.node, array)
    end
  end
end

--- The type of floats in kernels, and the device's numbers for it.
local function real(unit, job)
  unit.needs_double = generation.kernel_text.need_double(unit.plan.kernels, job.options.mode)
  unit.real = unit.needs_double and "double" or "float"
  unit.row, unit.accumulators = job.target[unit.real], 0
  for _, kernel in ipairs(unit.plan.kernels) do
    unit.accumulators = math.max(unit.accumulators, kernel.accumulators and #kernel.accumulators or 0)
  end
end

local function tiling(unit, job)
  for _, kernel in ipairs(unit.plan.kernels) do
    if kernel.is_shared and job.target.is_wide then
      kernel.body = generation.sharing.apply(plans.statements(kernel), true, function(nodes)
        return generation.keeping.all_with_locals(nodes, unit.scop, unit.real)
      end)
      kernel.team, kernel.in_group, unit.has_groups = generation.group_sums.of(kernel.body), true, true
    elseif kernel.is_shared then
      local task = kernel.instead[1]
      kernel.body, kernel.has_lane = generation.sharing.apply(task.body), task.has_lane
    elseif kernel.is_task then
      local body = generation.skewing.apply(plans.statements(kernel), unit.scop, unit.real)
      kernel.body, kernel.has_lane = generation.tiling.of_task(body, unit.row, unit.real, unit.scop)
    elseif kernel.behind then
      kernel.tiles, kernel.behind = generation.tiling.of_pipeline(kernel.node, unit.scop, unit.row, unit.real)
    elseif kernel.scattered then
      local body = kernel.band[#kernel.band].body
      kernel.body = job.target.is_wide and generation.keeping.all_with_locals(body, unit.scop, unit.real)
        or generation.tiling.of_task(body, unit.row, unit.real, unit.scop)
      unit.has_groups = unit.has_groups or job.target.is_wide
    elseif not kernel.accumulators and not kernel.wavefront and not kernel.logged then
      kernel.tiles = generation.tiling.of(kernel.band, unit.real, job.target)
      if job.target.is_wide and not kernel.tiles then
        kernel.body = generation.keeping.all_with_locals(kernel.band[#kernel.band].body, unit.scop, unit.real)
        local may_group = job.options.reduce == "tree" or job.options.heuristics ~= "paper"
        kernel.grouped = may_group and (unit.row.slices or 1) > 1 and generation.group_passes.of(kernel) or nil
        kernel.pair = not kernel.grouped and generation.pairing.of(kernel) or nil
        unit.has_groups = unit.has_groups or kernel.grouped ~= nil
      end
    end
  end
end

local function jamming(unit)
  for _, kernel in ipairs(unit.plan.kernels) do
    if kernel.tiles then generation.jamming.apply(kernel.tiles, unit.scop, unit.row.jam) end
  end
end

local function round_kernels(unit, job)
  local most = job.options.heuristics ~= "paper" and unit.row.passes or 1
  generation.round_kernels.mark(unit.plan, unit.scop, most, job.target.is_wide)
  unit.has_groups = unit.has_groups or job.target.is_wide and #unit.plan.rounds > 0
  generation.meetings.mark(unit.plan, job.target.spread)
end

-- --- texts ----------------------------------------------------------------------------------

local function parameters(unit)
  local function add(part)
    part.parameters = generation.kernel_text.parameters(part)
    for _, row in ipairs(part.parameters) do unit.has_faults = unit.has_faults or row.kind == "faults" end
  end
  for _, kernel in ipairs(unit.plan.kernels) do
    kernel.depth = walk.depth(kernel.node)
    add(kernel)
  end
  for _, round in ipairs(unit.plan.rounds) do add(round) end
end

local function indices(unit, job)
  for _, kernel in ipairs(job.target.is_wide and unit.plan.kernels or {}) do
    kernel.largest = generation.indices.largest(kernel)
  end
  for _, round in ipairs(job.target.is_wide and unit.plan.rounds or {}) do
    round.largest = generation.indices.common(round.parts)
  end
  unit.largest = generation.indices.least(unit.plan.kernels)
end

local function kernel_text(unit, job)
  unit.text, unit.sites = generation.kernel_text.text(unit.plan.kernels, unit.plan.rounds, { mode = job.options.mode,
    base = job.options.base, origin = unit.tree.origin, vector = unit.row.vector, is_wide = job.target.is_wide })
end

local SIZES = { name = function(variable) return variable.id end,
  length = function(node) return ast.size(node.array, node.dimension) end }

--- A size that is computed from those of a call.
local function add_size(unit, id, text, is_last)
  table.insert(unit.own_sizes, { id = id, value = analysis.bounds.evaluator(text), is_last = is_last })
end

--- The sizes of the rows of a flat array; returns their names.
local function add_pitches(unit, array)
  local sizes = {}
  for d, pitch in ipairs(array.pitches or {}) do
    sizes[d] = ast.size(array, d + 1)
    add_size(unit, sizes[d], lua_text.expression(pitch, SIZES))
  end
  return sizes
end

--- The sizes of the rows of a flat array, how many it has, and how much of the last one there is.
local function add_rows(unit, array)
  local sizes, rest = add_pitches(unit, array), ast.size(array, 0)
  sizes[#sizes + 1] = "1"
  for d = 1, array.pitches and array.rank or 0 do
    local id, row = d == 1 and ast.size(array, 1) or ast.last(array, d), table.concat(sizes, " * ", d)
    add_size(unit, id, ("-(-(%s) // max(%s, 1))"):format(rest, row), d > 1)
    rest = ("%s - (%s - 1) * %s"):format(rest, id, row)
  end
end

--- The names of a call's numbers and sizes, in the order of the arguments, and its arrays, each once. Verdicts depend
-- on sizes, and on the numbers in bounds and conditions.
local function arguments(unit, job)
  unit.names, unit.arrays, unit.positions, unit.own_sizes = {}, {}, {}, {}
  unit.deciding = table.move(unit.scop.numbers, 1, #unit.scop.numbers, 1, {})
  for i, variable in ipairs(job.variables) do
    local own = unit.own[variable]
    if own.role ~= "array" and own.type then unit.names[#unit.names + 1] = { id = own.id, argument = i } end
    for d = own.pitches and 0 or 1, own.role == "array" and own.rank or 0 do
      unit.deciding[#unit.deciding + 1] = ast.size(own, d)
    end
    for d = 1, own.role == "array" and variable.rank or 0 do
      unit.names[#unit.names + 1] = { id = ast.size(own, own.pitches and 0 or d), argument = i, dimension = d }
    end
    add_rows(unit, own)
    if own.role == "array" and not job.taken.twins[variable] then
      unit.arrays[#unit.arrays + 1], unit.positions[#unit.positions + 1] = own, i
    end
  end
  unit.has_twins = next(job.taken.twins) ~= nil
  for _, array in ipairs(unit.tree.scratch or {}) do
    unit.arrays[#unit.arrays + 1] = array
    add_pitches(unit, array)
    for d, extent in ipairs(array.extents or array.sizes or {}) do
      add_size(unit, ast.size(array, d), array.sizes and extent or lua_text.expression(extent, SIZES))
    end
  end
end

--- The names of all numbers and sizes that are more than checked.
local function ids_of(unit)
  local ids = {}
  for _, list in ipairs { unit.names, unit.own_sizes } do
    for _, name in ipairs(list) do ids[#ids + 1] = not name.is_last and name.id or nil end
  end
  return ids
end

local function work_estimate(unit)
  unit.estimate = fitting(unit, generation.work_estimate.compile(unit.plan, ids_of(unit)))
end

local function host(unit)
  unit.host_text = generation.host.text(unit.plan, ids_of(unit), unit.arrays)
  unit.run = fitting(unit, generation.host.compile(unit.host_text, storage.memory, storage.blank))
end

-- --- all ------------------------------------------------------------------------------------

-- The passes with the fields of a unit that they set; what they set in the tree and the plan stands in
-- `clcompute.loops.tree.ast` and `clcompute.loops.tree.plan`.
local PASSES = {
  { "copy", copy }, -- tree; own, the variable of this tree by that of an argument; is_flat; gaps, none so far
  { "types", types },
  { "subscripts", subscripts },
  { "extremes", extremes },
  { "selections", selections },
  { "scop", scop }, -- scop
  { "dependences", dependences }, -- given_up, why the analysis was
  { "local_tables", local_tables }, -- gaps: where tables that it makes may be read, but have no elements
  { "beginnings", beginnings }, -- gaps: where it returns an integer, or sums get too large
  { "triangles", triangles },
  { "peeling", peeling },
  { "right_looking", right_looking },
  { "privatising", privatising },
  { "preserving", preserving },
  { "separation", separation },
  { "expansion", expansion },
  { "interchange", interchange },
  { "recomputing", recomputing },
  { "splitting", splitting },
  { "unrolling", unrolling },
  { "distribution", distribution },
  { "diagonals", diagonals },
  { "loop_reductions", loop_reductions },
  { "scattered_updates", scattered_updates },
  { "recurrences", recurrences },
  { "wavefronts", wavefronts },
  { "pipelines", pipelines },
  { "orderless_reductions", orderless_reductions },
  { "bounds", bounds }, -- fails, may_fail, leaves_rows: functions of a call's numbers; is_fenced; has_rows
  { "partition", partition }, -- plan; no_kernel, why it has no kernel
  { "coverage", coverage },
  { "real", real }, -- real, the dtype of floats; needs_double; row, numbers of the device; accumulators: how many
  { "tiling", tiling },
  { "jamming", jamming },
  { "round_kernels", round_kernels },
  { "parameters", parameters }, -- has_faults: whether a kernel notes what fails in it
  { "indices", indices }, -- largest, up to which numbers indices have 32 bits, or nil
  { "kernel_text", kernel_text }, -- text, OpenCL C; sites: what may fail in it
  { "arguments", arguments }, -- names, positions; arrays; own_sizes: of a call's own, of rows; deciding; has_twins
  { "work_estimate", work_estimate }, -- estimate, a function
  { "host", host }, -- host_text, Lua; run, its function
}

--- What a function takes: its parameters, then its captures.
function compiler.variables(tree)
  local list = table.move(tree.parameters, 1, #tree.parameters, 1, {})
  return table.move(tree.captures, 1, #tree.captures, #list + 1, list)
end

--- Runs the passes.
-- @tparam table job `tree`, resolved, which stays as it is; `variables` of it; `taken`, the `kinds` and `twins` of the
-- arguments (`clcompute.loops.runtime.arguments`); `options`: `base`, `mode`, `reduce`, `heuristics`, `force`;
-- `is_flat`: whether no flat array is to be a matrix;
-- `target` of `clcompute.loops.runtime.kernel_target`
-- @tparam[opt] string last the name of the pass to stop after
-- @treturn table a unit, with the fields that stand beside the passes
function compiler.run(job, last)
  local unit = {}
  for _, pass in ipairs(PASSES) do
    local name, run = table.unpack(pass)
    run(unit, job)
    if name == last then return unit end
  end
  return last == nil and unit or error(("no pass '%s'"):format(last), 2)
end

--- Raises what each call would: kinds that no operator refuses which takes others, and what data decide in any call.
-- @tparam table job of `compiler.run`, of which all kinds are integers; it needs no `target`
function compiler.check(job)
  local unit = compiler.run(job, job.tree.scratch and "scop" or "types")
  if not job.tree.scratch then return end
  measure(unit)
  for _, gap in ipairs(analysis.local_tables.gaps(unit.tree, unit.scop, true)) do
    if gap.condition == "true" then
      failure.raise(unit.tree.origin, gap.array.node, analysis.local_tables.UNSET:format(gap.array.name))
    end
  end
end

return compiler
