-- SPDX-License-Identifier: MIT

--- From a kernel nest to tiles: each work-item goes through a block of the band's passes. On a processor, where a
-- work-item is a task of its own, that is what makes it fast: the loop that goes through memory element by element is
-- innermost and becomes vectors, and sums stay in registers.

local affine = require("clcompute.loops.tree").affine
local ast = require("clcompute.loops.tree").ast
local clone = require("clcompute.loops.tree").clone
local cutting = require "clcompute.loops.generation.cutting"
local keeping = require "clcompute.loops.generation.keeping"
local local_slices = require "clcompute.loops.generation.local_slices"
local lockstep = require "clcompute.loops.generation.lockstep"
local faults = require "clcompute.loops.generation.faults"
local fission = require "clcompute.loops.generation.fission"
local gathering = require "clcompute.loops.generation.gathering"
local lua_text = require("clcompute.loops.tree").lua_text
local options = require("clcompute.base").options
local masking = require "clcompute.loops.generation.masking"
local pipelining = require "clcompute.loops.generation.pipelining"
local plan = require("clcompute.loops.tree").plan
local register_nests = require "clcompute.loops.generation.register_nests"
local sinking = require "clcompute.loops.generation.sinking"
local strided_loops = require "clcompute.loops.generation.strided_loops"
local trip_counts = require("clcompute.loops.analysis").trip_counts
local unrolling = require "clcompute.loops.generation.unrolling"
local vector_counts = require "clcompute.loops.generation.vector_counts"
local walk = require("clcompute.loops.tree").walk

local tiling = {}

-- --- sizes -----------------------------------------------------------------------------------
--
-- How large the tiles of nests are, by what the nests are like, from the numbers of a device (`loops` in
-- `clcompute.tuning.known`).
--
-- Of each class: `lane` and `rows`, of the innermost loop that is shared out and of the others, `most` passes at a
-- time, in multiples of `multiple`, not below `least`; `small`, passes of a tile that is not made smaller;
-- `rows_at_once` and `columns_at_once`, the vectors of a tile in registers; `group` and `depth`, of groups on a GPU,
-- and `few`, passes below which tiles are smaller.

local MANY = 1 << 16
local LINES = 32 -- of each of two arrays in a tile: 16 KB of doubles
local LANES_TO_WAIT = 16

local function limit(most, least, multiple)
  return { most = most, least = least, multiple = multiple }
end

local function round_up(n, multiple)
  return -(-n // multiple) * multiple
end

local CLASSES = {
  -- no loop within: rows of neighbours
  flat = function(row)
    return { small = row.small, lane = limit(MANY, row.least, 1), rows = limit(MANY, 1, 1) }
  end,
  -- loops within, the lane moved into them: what it touches stays in the first level cache
  sunk = function(row)
    return { small = row.vector, lane = limit(row.lane, math.min(4 * row.vector, row.lane), 1),
      rows = limit(row.block, 1, 1) }
  end,
  -- a loop without an end within, in which lanes wait for each other
  masked = function(row)
    return { small = row.vector, lane = limit(LANES_TO_WAIT, 1, 1), rows = limit(MANY, 1, 1) }
  end,
  -- loops within, none of which is a lane
  loops = function(row)
    return { small = 1, lane = limit(row.block, 1, 1), rows = limit(row.block, 1, 1) }
  end,
  -- no loop within, and none whose elements all lie side by side: what a tile reads and writes stays in the first cache
  jumps = function(row)
    return { small = row.vector, lane = limit(LINES, 1, 1), rows = limit(LINES, 1, 1) }
  end,
  -- loops within, and rows go through them side by side
  steps = function(row)
    local most = limit(round_up(row.block, lockstep.rows), lockstep.rows, lockstep.rows)
    return { small = lockstep.rows, lane = most, rows = limit(row.block, 1, 1) }
  end,
  -- tiles in registers
  registers = function(row)
    local width = row.columns * row.vector
    return { small = 8 * row.rows * row.vector, rows_at_once = row.rows, columns_at_once = row.columns,
      lane = limit(round_up(row.lane, width), width, width), rows = limit(round_up(row.block, row.rows), row.rows,
      row.rows) }
  end,
  -- rows that overlap: those of a tile go side by side where that pays
  pipelined = function(row)
    return { small = 4 * row.lane, lane = limit(row.lane, 32, 1), rows = limit(32, 8, 8) }
  end,
  -- the same with loops within
  deep = function(row)
    return { small = row.vector, lane = limit(32, 8, 1), rows = limit(8, 1, 1) }
  end,
  -- rows side by side, whose sums do not wait for each other: half as many as in a tile, as each may be another stream
  rows = function(row)
    local count = math.max(row.rows // 2, 1)
    return { small = count, rows_at_once = count, columns_at_once = 1,
      lane = limit(round_up(row.block, count), count, count), rows = limit(row.block, 1, 1) }
  end,
  -- tiles in registers on a GPU, a work-item each: its columns are a group's width apart, so that neighbours read
  -- neighbours
  wide = function(row)
    return { rows_at_once = row.rows, columns_at_once = row.columns, group = row.group, depth = row.depth or 1,
      few = row.few or 0 }
  end,
}

--- The sizes of a class.
-- @string class of `clcompute.loops.generation.tiling`
-- @tparam table row numbers of a device
-- @treturn table with `vector`, the elements of a vector, and `blocks`, how many tiles a compute unit gets at least
local function sizes_of(class, row)
  local size = CLASSES[class](row)
  size.vector, size.blocks = row.vector, row.blocks
  return size
end

-- --- what all passes read -------------------------------------------------------------------
--
-- What a parallel loop reads from one place in all its passes, although it writes the array, is read before it: no
-- pass writes what another one reads, so the place keeps its value, which compilers cannot know.

local function written_by(nodes)
  local is_written = {}
  for _, node in ipairs(nodes) do
    if node.kind == "assign" and node.target.array then is_written[node.target.array] = true end
  end
  return is_written
end

--- Whether all that an expression reads is read whenever it is evaluated.
local function is_unconditional(node)
  return not walk.find({ node }, function(part) return part.op == "and" or part.op == "or" end)
end

--- The body of a loop with variables in place of such reads. A loop of one pass may write such a place itself: what is
-- read after that is left as it is.
-- @tparam {table,...} body statements without loops or conditions in them
-- @tparam table variable of the loop
-- @treturn {table,...} the body
-- @treturn {table,...} `{ variable=, value=, nodes= }`: what each new variable is, before the loop, and the reads that
-- it stands for
local function hoist(body, variable)
  local is_written, is_past, result, list, by_text = written_by(body), {}, {}, {}, {}
  local function replace(node)
    if node.kind ~= "index" or node.checked or not is_written[node.array] or is_past[node.array]
      or affine.stride(node, variable) ~= 0 or walk.mentions_local { node } then return nil end
    local text = lua_text.expression(node)
    if not by_text[text] then
      local name = ast.made_up(("%s_%s_at%d"):format(node.array.id, variable.id, #list + 1), node.type)
      by_text[text] = { value = node, nodes = {}, name = name, variable = name.variable }
      list[#list + 1] = by_text[text]
    end
    table.insert(by_text[text].nodes, node)
    return by_text[text].name
  end
  for i, node in ipairs(body) do
    if node.kind ~= "assign" and node.kind ~= "local" then return body, {} end
    local value = is_unconditional(node.value) and walk.replaced(node.value, replace) or node.value
    result[i] = value ~= node.value and ast.changed(node, { value = value }) or node
    if node.kind == "assign" and node.target.array then is_past[node.target.array] = true end
  end
  return result, list
end

-- --- loops in a body -------------------------------------------------------------------------

local function has_loop(nodes)
  return walk.find(nodes, function(part) return part.kind == "for" end) ~= nil
end

local function has_control(nodes)
  return walk.find(nodes, function(part) return part.kind == "for" or part.kind == "if" end) ~= nil
end

--- An innermost loop as vectors, if its passes do not depend on each other and go through memory element by element, or
-- through rows of which they read all.
local function vectorised(node)
  local units = node.parallel and math.abs(node.step) == 1
    and (node.reads_rows and 1 or affine.units(node.body, node.variable))
  if not units or units == 0 and not node.is_lane then return node end -- locals of a lane lie side by side too
  local body, common, is_plain = node.body, {}, not has_control(node.body)
  local vectors, operations
  if is_plain then
    body, common = hoist(body, node.variable)
    vectors, operations = vector_counts.of(body)
  end
  return ast.changed(node, { body = body, common = common, is_independent = true, is_plain = is_plain,
    vectors = vectors, operations = operations })
end

--- A loop that is cut where its condition changes, both parts as vectors; nil where it cannot be.
local function in_two(node)
  local cut = node.parallel and cutting.of(node)
  if not cut then return nil end
  cut.before, cut.from = vectorised(ast.changed(node, { body = cut.before })),
    vectorised(ast.changed(node, { body = cut.from }))
  return cut.from.is_plain and ast.changed(node, { cut = cut }) or nil
end

--- An innermost loop, as vectors where it can be, or a part of it.
local function innermost(node)
  if not node.is_lane and strided_loops.is_one(node) then return ast.changed(node, { is_strided = true }) end
  local cut = in_two(node)
  if cut then return cut end
  local first, rest = fission.of(node)
  if not first then return node.parallel and vectorised(node) or node.is_lane and node or keeping.apply(node) end
  return ast.node("do", { body = { vectorised(first), rest } }, node)
end

--- Statements whose innermost loops are vectors where they can be.
local function finish(nodes)
  return walk.replaced_statements(nodes, function(node)
    return node.kind == "for" and not has_loop(node.body) and innermost(node) or nil
  end)
end

-- --- the band --------------------------------------------------------------------------------

--- Whether the bounds of the loops of a band from one on speak of its variable.
local function bounds_others(band, i)
  for later = i + 1, #band do
    if walk.is_bounded_by(band[later], band[i].variable) then return true end
  end
  return false
end

--- The loop that is to be innermost: the one with most accesses element by element, none that jump; of equals the
-- innermost. nil where there is none.
local function lane_of(band)
  local best, most = nil, 0
  for i = #band, 1, -1 do
    local units = math.abs(band[i].step) == 1 and affine.units(band[#band].body, band[i].variable)
    if units and units > most and not bounds_others(band, i) then best, most = i, units end
  end
  return best
end

--- The band with that loop last.
local function ordered(band, lane)
  local order = {}
  for i, node in ipairs(band) do
    if i ~= lane then order[#order + 1] = node end
  end
  order[#order + 1] = band[lane]
  return order
end

--- Whether frames are no larger than the most passes that loops have: the frame of a skewed loop would be mostly empty.
local function are_tight(frames, counts)
  for i, frame in ipairs(frames) do
    if frame.count ~= counts[i] then return false end
  end
  return true
end

local MOST_DIMENSIONS = 3

--- The loops that are shared out: as many as have frames, three at most.
local function framed(band)
  for count = math.min(#band, MOST_DIMENSIONS), 1, -1 do
    local some = table.move(band, 1, count, 1, {})
    local frames = trip_counts.frames(some)
    if frames and are_tight(frames, trip_counts.counts(some)) then return some, frames end
  end
end

--- A tile of registers for the innermost loops of an order, or nil.
local function registers_of(order, lane, body, real, remedy)
  for _, node in ipairs(order) do
    if node.step ~= 1 then return nil end
  end
  local rows = order[#order - (lane and 1 or 0)]
  return rows and register_nests.of(rows, lane, body, real, remedy)
end

--- A block whose lane is innermost, or nil.
local function with_lane(band, body, real, has_masks)
  local lane = lane_of(band)
  if not lane then return nil end
  local masked = has_masks and masking.of(band[lane], body)
  local sunk, places = sinking.sink(band[lane], masked or body)
  if not sunk then return nil end
  local order = ordered(band, lane)
  local registers = registers_of(order, band[lane], body, real)
  local class = registers and "registers" or masked and "masked" or has_loop(body) and "sunk" or "flat"
  return plan.part("tiles", { class = class, order = order, lane = band[lane], body = finish(sunk), places = places,
    registers = registers })
end

--- A block whose lane is innermost and stores every other element, or nil.
local function with_strides(band, body)
  local lane = band[#band]
  local loop = ast.changed(lane, { body = body, is_lane = true, is_strided = true })
  if not strided_loops.is_one(loop) then return nil end
  return plan.part("tiles", { class = "flat", order = band, lane = lane, body = { loop }, places = {} })
end

--- Loops that are vectors in one part: no text for what few calls do.
local function in_one_part(nodes)
  local list = {}
  for i, node in ipairs(nodes) do list[i] = ast.changed(node, { operations = 0 }) end
  return list
end

--- The statements of a block with gathers. Where rows have no other elements than these, nothing is gathered before:
-- vectors of neighbours are read and taken apart.
local function gathers_of(lane, rest, before, sunk)
  local condition = not has_loop(rest) and gathering.whole_rows(before)
  if not condition then return finish(sunk) end
  local body = table.move(rest, 1, #rest, #before + 1, table.move(before, 1, #before, 1, {}))
  local own = clone.statements(body, {}, function(variable) return variable.id .. "_read" end)
  local loop = ast.changed(lane, { body = own, is_lane = true, reads_rows = true })
  return { ast.node("if", { arms = { ast.node("arm", { condition = condition, body = finish { loop } }) },
    otherwise = in_one_part(finish(sunk)) }) }
end

--- A block whose lane is innermost although elements lie apart, which are gathered before; or nil.
local function with_gathers(band, body)
  local lane = band[#band]
  local rest, before = gathering.of(lane, body)
  if not rest then return nil end
  local sunk, places = sinking.sink(lane, rest, before)
  if not sunk then return nil end
  return plan.part("tiles", { class = "sunk", order = band, lane = lane, places = places,
    body = gathers_of(lane, rest, before, sunk) })
end

--- A block whose rows go through their loops side by side, or nil. Two variables, its `ends`, hold the bounds of its
-- innermost loop.
local function in_steps(band, body, real)
  local loop = ast.changed(band[#band], { body = body })
  if not lockstep.pays(loop, real) then return nil end
  local from = ast.made_up(loop.variable.id .. "_from", "int")
  local to = ast.made_up(loop.variable.id .. "_to", "int")
  local rows = lockstep.apply(ast.changed(loop, { from = from, to = to }), real)
  return plan.part("tiles", { class = "steps", order = band, places = {}, body = finish { rows },
    ends = { from.variable, to.variable } })
end

--- A tile in registers whose columns lie apart, as they are packed before; or nil.
local function with_panels(band, body, real)
  for lane = #band, 1, -1 do
    local order = ordered(band, lane)
    local registers = #band > 1 and not bounds_others(band, lane)
      and registers_of(order, band[lane], body, real, "panels")
    if registers and registers.panels then
      local steps = in_steps(order, body, real)
      return plan.part("tiles", { class = "registers", order = order, places = {}, registers = registers,
        body = steps and steps.body or finish(body), ends = steps and steps.ends })
    end
  end
end

--- A block in the order of the source.
local function without_lane(band, body, real)
  local registers, last = registers_of(band, nil, body, real), band[#band]
  local steps = not registers and in_steps(band, body, real)
  if steps then return steps end
  local sunk = not registers and sinking.sink_around(last, body) or nil
  local class = registers and "rows" or #band > 1 and not has_loop(body) and "jumps" or "loops"
  return plan.part("tiles", { class = class, order = band, lane = sunk and last, body = finish(sunk or body),
    places = {}, registers = registers })
end

-- --- one work-item ---------------------------------------------------------------------------

--- The parallel loops nested in each other with nothing in between, the outermost first.
local function nested(node)
  local band = { node }
  while #node.body == 1 and node.body[1].kind == "for" and node.body[1].parallel and not node.body[1].irregular do
    node = node.body[1]
    band[#band + 1] = node
  end
  return band
end

--- The lane's loops in strips, whose locals have a place for each pass; nil where it does not go in steps of one.
local function in_strips(loop, body, places, most)
  if loop.step ~= 1 then return nil end
  local strip = ast.made_up(loop.variable.id .. "_strip", "int").variable
  local top = ast.node("text", { text = ("%s + %d"):format(strip.id, most - 1), type = "int" })
  local from = ast.node("text", { text = strip.id, type = "int" })
  local lanes = walk.replaced_statements(body, function(node)
    if not node.is_lane then return nil end
    local to = ast.node("call", { name = "min", arguments = { loop.to, top }, type = "int" })
    return ast.changed(node, { from = from, to = to })
  end)
  return ast.changed(loop, { variable = strip, step = most, body = lanes, places = places, is_lane = false })
end

--- Loops of vectors that have all passes, not those of a tile.
local function all_passes(nodes)
  return walk.replaced_statements(nodes, function(node)
    return node.kind == "for" and node.is_plain and ast.changed(node, { has_all = true }) or nil
  end)
end

--- Parallel loops with their lane innermost, or nil.
local function sunk_in_task(node, most)
  if node.kind ~= "for" or not node.parallel or node.irregular then return nil end
  local band = nested(node)
  local lane = lane_of(band)
  if not lane or faults.are_in { node } and (lane < #band or has_loop(band[lane].body)) then return nil end
  local body, places = sinking.sink(band[lane], unrolling.apply(band[#band].body))
  if not body then return nil end
  local order = ordered(band, lane)
  body = finish(body)
  body = #places > 0 and { in_strips(band[lane], body, places, most) } or all_passes(body)
  if #body == 0 then return nil end
  for i = #order - 1, 1, -1 do body = { ast.changed(order[i], { body = body }) } end
  return #body == 1 and body[1] or ast.node("do", { body = body }, node)
end

--- The statements of a task: parallel loops in it are the lanes of vectors.
-- @tparam {table,...} nodes
-- @tparam table row numbers of a device
-- @string real the type of floats in C
-- @tparam table scop of `clcompute.loops.analysis.scop`
-- @treturn {table,...}
-- @treturn boolean whether there are such
function tiling.of_task(nodes, row, real, scop)
  local has_lane = false
  return walk.replaced_statements(nodes, function(node)
    local sunk = sunk_in_task(node, row.lane)
    has_lane = has_lane or sunk ~= nil
    if sunk or node.kind ~= "for" then return sunk end
    if not lockstep.pays(node, real, scop) then
      local kept = keeping.with_locals(node, scop, real)
      return kept ~= node and kept or nil
    end
    local rows, has_own = tiling.of_task({ lockstep.apply(node, real) }, row, real, scop)
    has_lane = has_lane or has_own
    return rows[1]
  end), has_lane
end

local UNEVEN = 4 -- times as many tiles where data decide what is to do in each

local function is_uneven(nodes)
  return walk.find(nodes, function(part) return part.kind == "for" and part.irregular ~= nil end) ~= nil
end

--- The tiles of a nest whose rows may overlap.
-- @tparam table node its outer loop
-- @tparam table scop of `clcompute.loops.analysis.scop`
-- @tparam table row numbers of a device
-- @string real the type of floats that are computed
-- @treturn table a part "tiles" of the plan
-- @treturn integer how many passes each row is behind the one before
function tiling.of_pipeline(node, scop, row, real)
  return pipelining.of(node, scop, real, function(class) return sizes_of(class, row) end)
end

--- Tiles of a quarter of the passes for a nest of few, with slices of about as much memory. nil where there are none:
-- then each pass of such a nest has a work-item.
local function small_of(tiles, real, memory)
  local size, slices = tiles.size, tiles.slices
  local is_large = math.min(size.rows_at_once, size.columns_at_once) > 1
  if not slices or not slices.may_clamp or size.few == 0 or not is_large then return nil end
  local small = options.merge(size, { depth = 2 * size.depth, rows_at_once = size.rows_at_once // 2,
    columns_at_once = size.columns_at_once // 2 })
  local own = local_slices.of(tiles.registers, small, real, memory)
  return own and { size = small, slices = own }
end

--- The loop whose passes are side by side in a group of a GPU although what they read may lie apart; nil where there is
-- none.
local function columns_of(band, body)
  for i = #band, 1, -1 do
    if not bounds_others(band, i) and register_nests.may_be_columns(band[i], body) then return i end
  end
end

--- The tiles of a GPU's work-items, in registers; or nil.
local function wide(band, body, real, row)
  local lane = lane_of(band) or columns_of(band, body)
  local order = lane and ordered(band, lane)
  local registers = lane and registers_of(order, band[lane], body, real, "slices")
  if not registers then return nil end
  local size, memory = sizes_of("wide", row), row.local_memory
  local slices = local_slices.of(registers, size, real, memory)
  if registers.needs_slices and not (slices and slices.suffice) then return nil end
  local tiles = plan.part("tiles", { class = "wide", is_wide = true, order = order, lane = band[lane], body = body,
    places = {}, registers = registers, size = size, slices = slices })
  tiles.small = small_of(tiles, real, memory)
  return tiles
end

--- The tiles of a processor's work-items.
local function narrow(band, body, real, target)
  local unrolled = unrolling.apply(body)
  local tiles = with_lane(band, unrolled, real, target.has_masks) or with_strides(band, unrolled)
    or with_gathers(band, unrolled) or with_panels(band, unrolled, real) or without_lane(band, unrolled, real)
  tiles.size = sizes_of(tiles.class, target[real])
  if is_uneven(unrolled) then tiles.size.blocks = UNEVEN * tiles.size.blocks end
  return tiles
end

--- The tiles of a kernel nest.
-- @tparam {table,...} band its parallel loops that are nested perfectly, the outermost first
-- @string real the type of floats in C
-- @tparam table target of `clcompute.loops.runtime.kernel_target`; if it is wide, there are tiles only in registers,
-- each of a work-item
-- @treturn ?table a part "tiles" of the plan; nil where a bound has no frame
function tiling.of(band, real, target)
  local some, frames = framed(band)
  if not some then return nil end
  local body = some[#some].body
  local tiles = target.is_wide and wide(some, body, real, target[real])
    or not target.is_wide and narrow(some, body, real, target) or nil
  if not tiles then return nil end
  tiles.frames = {}
  for i, node in ipairs(some) do tiles.frames[node] = frames[i] end
  return tiles
end

return tiling
