-- SPDX-License-Identifier: MIT

--- Nests of sequential loops on a processor as one launch, whose groups wait for each other: each group goes through a
-- block of rows, tile by tile, and before each tile until the group with the rows before has done what the tile needs.
--
--     for i do for j do d[i][j] = math.min(d[i - 1][j], d[i][j - 1]) + c[i][j] end end
--
--     group 1   0 1 2 3 4        the times at which tiles of rows are computed
--     group 2     1 2 3 4 5
--     group 3       2 3 4 5 6
--
-- A group takes its block as it begins, so it waits only for groups that run or have ended: the first of them for none.
-- Where rows must be some passes behind the one before, or are as lanes of vectors, tiles lean to the left by as many
-- in each row.

local ast = require("clcompute.loops.tree").ast
local bounds = require("clcompute.loops.tree").loop_bounds
local c_statements = require "clcompute.loops.generation.c_statements"
local keeping = require "clcompute.loops.generation.keeping"
local plan = require("clcompute.loops.tree").plan
local skewing = require "clcompute.loops.generation.skewing"
local trip_counts = require("clcompute.loops.analysis").trip_counts
local walk = require("clcompute.loops.tree").walk

local pipelining = {}

local changed = ast.changed

-- --- the tiles ------------------------------------------------------------------------------

local function text(format, ...) return ast.node("text", { text = format:format(...), type = "int" }) end

--- Where a tile begins or ends in a row; `name` is where it does in the first row of the block.
local function leaning(rows, columns, behind, name)
  return bounds.leaning(name, rows.step * columns.step * behind, rows.variable, text("%s_first", rows.variable.id))
end

--- A loop as far as it is in a tile.
local function clipped(node, from, to, body)
  return changed(node, { from = bounds.latest({ node.from, from }, node.step),
    to = bounds.earliest({ node.to, to }, node.step), body = body })
end

--- The passes of a tile, rows of which go side by side where that pays.
local function passes_of(rows, columns, behind, scop, real)
  local row, column = rows.variable.id, columns.variable.id
  local inner = clipped(columns, leaning(rows, columns, behind, text("%s_first", column)),
    leaning(rows, columns, behind, text("%s_end", column)), keeping.in_registers(columns.body, scop, real))
  return skewing.apply({ clipped(rows, text("%s_first", row), text("%s_end", row), { inner }) }, scop, real)
end

--- The tiles of a nest whose rows may overlap.
-- @tparam table rows its outer loop, with `behind`
-- @tparam table scop of `clcompute.loops.analysis.scop`
-- @string real the type of floats that are computed
-- @tparam function sizes_of of `clcompute.loops.generation.tiling`
-- @treturn table a part "tiles" of the plan
-- @treturn integer how many passes each row is behind the one before
function pipelining.of(rows, scop, real, sizes_of)
  local columns, behind = rows.body[1], math.max(rows.behind, skewing.lag(rows, scop, real))
  local frames = trip_counts.frames { rows, columns }
  local has_loop = walk.find(columns.body, function(part) return part.kind == "for" end) ~= nil
  return plan.part("tiles", { class = "pipelined", order = { rows, columns },
    body = passes_of(rows, columns, behind, scop, real),
    places = {}, frames = { [rows] = frames[1], [columns] = frames[2] },
    size = sizes_of(has_loop and "deep" or "pipelined") }), behind
end

-- --- in C -----------------------------------------------------------------------------------

--- The parameters that nests in tiles do not have: how many tiles a row has, and how many of them groups have done.
function pipelining.parameters()
  return plan.part("place", { id = "tiles" }), plan.part("progress", { id = "progress" })
end

--- The lines that say where a loop's part of a tile begins and ends.
local function print_part(node, number, output)
  local id = node.variable.id
  local function after(count)
    return (node.step > 0 and " + %s" or " - %s"):format(count)
  end
  c_statements.add(output, ("const long %s_first = %s_origin%s;"):format(id, id, after(("%s * %s_tile"):format(number,
    id))), node)
  c_statements.add(output, ("const long %s_end = %s_first%s;"):format(id, id, after(("(%s_tile - 1)"):format(id))))
end

--- The body of a kernel.
function pipelining.print(nest, output)
  local add, rows, columns = c_statements.add, table.unpack(nest.tiles.order)
  output.context.helpers.begin_block = true
  output.depth = 1
  add(output, "const int block = begin_block(progress);")
  print_part(rows, "block", output)
  c_statements.block(output, "for (int tile = 0; tile < tiles; tile++) ", function()
    add(output, ("await_block(progress, block, min(tile + %d, (int)tiles));"):format(nest.behind > 0 and 2 or 1))
    print_part(columns, "tile", output)
    output.depth = output.depth - 1
    c_statements.body(nest.tiles.body, output)
    output.depth = output.depth + 1
    add(output, "end_tile(progress, block);")
  end)
  add(output, "end_block(progress);")
  output.depth = 0
end

return pipelining
