-- SPDX-License-Identifier: MIT

--- The plan: what becomes of a tree's statements. Every kind of part and what hangs on it, with its fields, their
-- types, and the pass that sets them.
--
-- A plan is a list of parts in the order in which they run. The whole one has `kernels`, the list of its kernel nests,
-- and, since round_kernels, `rounds`.

local record = require "clcompute.loops.tree.record"

local plan = {}

local PARTS = record.family("part of a plan", {
  -- A loop on the host.
  loop = {
    { "node", "ref", "partition" }, { "body", "nodes", "partition" },
    { "round", "node?", "round_kernels", "if it can go in rounds" },
  },
  -- A condition on the host.
  ["if"] = {
    { "node", "ref", "partition" }, { "arms", "nodes", "partition" }, { "otherwise", "nodes?", "partition" },
    { "reads", "refs", "partition", "of the conditions" }, { "writes", "refs", "partition", "none" },
  },
  arm = { { "condition", "ref", "partition" }, { "body", "nodes", "partition" } },
  -- Statements that run in Lua.
  lua = {
    { "nodes", "refs", "partition" }, { "reads", "refs?", "partition" }, { "writes", "refs?", "partition" },
  },
  -- Two plans of which a run takes one.
  either = {
    { "node", "ref", "partition" }, { "condition", "string", "partition", "Lua, under which it is `few`" },
    { "words", "string", "partition", "the condition for people" },
    { "few", "nodes", "partition" }, { "many", "nodes", "partition" },
  },
  -- A nest that runs on the device or in Lua.
  kernel = {
    { "node", "ref", "partition" }, { "index", "integer", "partition", "in `kernels`" },
    { "name", "string", "partition" },
    { "reads", "refs", "partition" }, { "writes", "refs", "partition" },
    { "scalars", "refs", "partition", "numbers from outside" },
    { "nonzero", "refs", "partition", "divisors: if one is 0 it runs in Lua, which raises an error" },
    { "host_loops", "refs", "partition", "loops on the host around it" },
    { "is_task", "boolean?", "partition", "for one work-item" },
    { "is_shared", "boolean?", "partition", "a task of which groups share the parallel loops" },
    { "in_group", "boolean?", "tiling", "of a shared one: the work-items of one group do" },
    { "team", "node?", "tiling", "of one in a group, what its sums need" },
    { "spread", "integer?", "tiling", "of one without sums: passes of a loop from which on all groups share it" },
    { "instead", "nodes?", "partition", "of a task: the plan of a run that does without; nil: its statements in Lua" },
    { "accumulators", "nodes?", "partition", "of a nest that reduces" },
    { "has_result", "boolean?", "partition", "reduces into elements of arrays" },
    { "scattered", "node?", "partition", "of a nest whose sums are put together in copies of arrays" },
    { "logged", "node?", "partition", "of a nest whose sums are written down, and then added in order" },
    { "wavefront", "node?", "partition", "if it goes in such" },
    { "behind", "integer?", "partition", "if its rows overlap: how many passes each is behind the one before" },
    { "band", "refs?", "partition", "the loops of the range, outermost first" },
    { "counts", "list?", "partition", "Lua: how many passes each of these has at most" },
    { "mapping", "table?", "partition", "{ dimension, shared, outermost } by loop" },
    { "group", "list?", "partition", "the size of work-groups" },
    { "needed", "table?", "coverage", "by array written, when its values are needed: Lua, true or false" },
    { "undecided", "table?", "coverage", "by array written, whether data decide what is" },
    { "tiles", "node?", "tiling" }, { "grouped", "node?", "tiling", "if a pass may be a group's" },
    { "pair", "ref?", "tiling", "the loop of which a work-item may have two passes" },
    { "body", "refs?", "tiling", "of a task, lanes of vectors innermost; of a GPU's work-item" },
    { "has_lane", "boolean?", "tiling", "of a task: whether there are such" },
    { "depth", "integer?", "parameters", "how deep its loops are nested" },
    { "parameters", "nodes?", "parameters", "of the OpenCL kernel" },
    { "largest", "integer?", "indices", "up to which numbers 32 bits hold its indices" },
  },
  -- A nest whose work-items go through blocks of its band.
  tiles = {
    { "class", "string", "tiling", '"flat", "sunk", "masked", "loops", "jumps", "steps", "registers", "rows", '
      .. '"pipelined", "wide"' },
    { "order", "refs", "tiling", "the loops that are shared out, the innermost last" },
    { "lane", "ref?", "tiling", "the loop that becomes vectors" },
    { "body", "refs", "tiling", "with the loops of the lane in it" },
    { "ends", "list?", "tiling", "of \"steps\": variables of where the innermost loop begins and ends" },
    { "places", "refs", "tiling", "locals that need a place for each pass of the lane" },
    { "registers", "table?", "tiling", "a tile of `register_nests`" },
    { "is_wide", "boolean?", "tiling", "a tile is a work-item of a GPU" },
    { "frames", "table?", "tiling", "{ first, count } by loop, Lua" },
    { "size", "table?", "tiling", "numbers of a class" },
    { "slices", "table?", "tiling", "what groups copy to local memory, of `local_slices`" },
    { "small", "table?", "tiling", "other `size` and `slices`, for nests of few passes" },
    { "jams", "list?", "jamming", "{ loop, passes, obstacle }" },
  },
  -- A nest whose passes may be a group's, which shares loops in them.
  grouped = {
    { "loops", "refs", "tiling", "that are shared" }, { "counts", "list", "tiling", "Lua: their passes, at most" },
    { "by_rows", "boolean", "tiling", "whether a group has one pass, else passes side by side" },
    { "neighbours", "ref", "tiling", "the loop of dimension 0" },
    { "room", "table?", "tiling", "local memory for the terms of sums in Lua's order, of `chains`" },
  },
  -- A task whose work-items share sums.
  team = {
    { "room", "table?", "tiling", "local memory for the terms of sums in Lua's order, of `chains`" },
    { "lanes", "list", "tiling", "{ int, float }: how many sums a loop has at most that go in any order" },
    { "by_rows", "boolean", "tiling", "true: a loop has the same passes for each work-item" },
    { "loops", "refs", "tiling", "with sums" },
  },
  -- A nest that goes in wavefronts, a launch for each.
  wavefront = {
    { "band", "refs", "partition", "the loops of the range, outermost first" },
    { "follower", "ref", "partition", "the other one, whose variable follows from theirs" },
    { "terms", "list", "partition", "{ node, coefficient }: their sum is the wavefront's number" },
    { "first", "string", "partition", "Lua: the number of the first one" }, { "last", "string", "partition" },
    { "body", "refs", "partition" },
  },
  -- What a work-item keeps of a reduction x = x op e: a variable of its own in place of x.
  accumulator = {
    { "id", "string", "partition" }, { "type", "string", "partition", '"int" or "float"' },
    { "operation", "string", "partition", '"sum", "product", "min" or "max"' },
    { "target", "ref", "partition", "x" }, { "is_local", "boolean", "partition", "whether x is one" },
    { "has_order", "boolean", "partition", "whether its result depends on the order" },
    { "node", "ref", "partition", "the assignment" }, { "instead", "ref", "partition", "that of the work-item" },
    { "identity", "number", "partition", "what it begins with" },
    { "helper", "string", "partition", "in C, of two values" },
    { "result", "ref", "partition", "x and the variable, put together" },
    { "found", "ref", "partition", "x and a variable `found`, put together" },
  },
  -- Sums in elements of which data say where they are: each work-item has copies of these arrays.
  scattered = { { "arrays", "refs", "partition" },
    { "statements", "string", "partition", "Lua: how many run, about" } },
  -- Sums in elements of which data say where they are: what passes add goes through a log for each of these arrays.
  logged = { { "arrays", "refs", "partition" },
    { "statements", "string", "partition", "Lua: how many run, about" } },
  -- Several passes of a loop on the host in two launches.
  round = {
    { "index", "integer", "round_kernels", "in `rounds`" }, { "name", "string", "round_kernels" },
    { "node", "ref", "round_kernels" }, { "parts", "refs", "round_kernels", "the kernels in it" },
    { "nests", "list", "round_kernels", "for each of these what `round_shapes` needs, and `frames`, `tiles`" },
    { "in_groups", "boolean?", "round_kernels", "a piece is for a group, whose work-items share passes" },
    { "largest", "integer?", "indices", "as of a kernel" },
    { "reads", "refs", "round_kernels" }, { "writes", "refs", "round_kernels" },
    { "scalars", "refs", "round_kernels" }, { "most", "integer", "round_kernels", "passes" },
    { "bytes", "string", "round_kernels", "Lua: of all arrays, for one place of the line" },
    { "places", "list", "round_kernels", "of `round_shapes`, as what follows" },
    { "at", "integer", "round_kernels", "which subscript is on the line" },
    { "slope", "integer", "round_kernels" }, { "is_front", "boolean?", "round_kernels" },
    { "steps", "list?", "round_kernels" }, { "reach", "integer?", "round_kernels" },
    { "parameters", "nodes?", "parameters", "of the OpenCL kernel" },
  },
  -- What a kernel is given at each launch, by the kind of argument.
  array = { { "variable", "ref", "parameters" }, { "id", "string", "parameters" },
    { "is_written", "boolean?", "parameters" } },
  size = { { "variable", "ref", "parameters" }, { "dimension", "integer", "parameters" },
    { "id", "string", "parameters" } },
  scalar = { { "variable", "ref", "parameters" }, { "id", "string", "parameters" } },
  place = { { "id", "string", "parameters" } }, -- where a block or a shared dimension begins, how long it is
  faults = { { "id", "string", "parameters" } }, -- where a place that fails is noted, or was
  front = { { "id", "string", "parameters" } }, -- the number of the wavefront
  progress = { { "id", "string", "parameters" } }, -- how far groups that wait for each other are
  parts = { { "id", "string", "parameters" }, { "accumulator", "ref", "parameters" },
    { "number", "integer", "parameters", "of the accumulator" } },
  count = { { "id", "string", "parameters" } }, -- how many parts the groups left
  copies = { { "id", "string", "parameters" }, { "variable", "ref", "parameters", "of what" },
    { "number", "integer", "parameters", "among the arrays of a nest" } },
  log = { { "id", "string", "parameters" }, { "field", "string", "parameters", "of `runtime/scattered`" },
    { "number", "integer", "parameters", "among the arrays of a nest" },
    { "type", "string?", "parameters", "of values; nil: places" } },
})

--- A part of a plan, or what hangs on one.
-- @string kind
-- @tparam table fields becomes the part
function plan.part(kind, fields)
  return PARTS:new(kind, fields)
end

--- The statements of a nest.
function plan.statements(kernel)
  return kernel.node.kind == "do" and kernel.node.body or { kernel.node }
end

--- The plans in a part.
function plan.bodies(part)
  if part.kind == "loop" then return { part.body } end
  if part.kind == "either" then return { part.few, part.many } end
  if part.kind == "kernel" then return { part.instead } end
  local list = {}
  for i, arm in ipairs(part.kind == "if" and part.arms or {}) do list[i] = arm.body end
  list[#list + 1] = part.otherwise
  return list
end

--- A plan as text: a part a line, with the fields that it has by now.
function plan.show(parts)
  return PARTS:show(parts)
end

return plan
