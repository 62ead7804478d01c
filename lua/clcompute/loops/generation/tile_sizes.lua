-- SPDX-License-Identifier: MIT

--- How large the tiles of nests are, by what the nests are like, from the numbers of a device (`loops` in
-- `clcompute.tuning.known`).
--
-- Of each class: `lane` and `rows`, of the innermost loop that is shared out and of the others, `most` passes at a
-- time, in multiples of `multiple`, not below `least`; `small`, passes of a tile that is not made smaller;
-- `rows_at_once` and `columns_at_once`, the vectors of a tile in registers; `group` and `depth`, of groups on a GPU.
-- @module clcompute.loops.generation.tile_sizes

local tile_sizes = {}

local MANY = 1 << 16

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
  -- loops within, none of which is a lane
  loops = function(row)
    return { small = 1, lane = limit(row.block, 1, 1), rows = limit(row.block, 1, 1) }
  end,
  -- tiles in registers
  registers = function(row)
    local width = row.columns * row.vector
    return { small = 8 * row.rows * row.vector, rows_at_once = row.rows, columns_at_once = row.columns,
      lane = limit(round_up(row.lane, width), width, width), rows = limit(round_up(row.block, row.rows), row.rows,
      row.rows) }
  end,
  -- rows side by side, whose sums do not wait for each other
  rows = function(row)
    return { small = row.rows, rows_at_once = row.rows, columns_at_once = 1,
      lane = limit(round_up(row.block, row.rows), row.rows, row.rows), rows = limit(row.block, 1, 1) }
  end,
  -- tiles in registers on a GPU, a work-item each: its columns are a group's width apart, so that neighbours read
  -- neighbours
  wide = function(row)
    return { rows_at_once = row.rows, columns_at_once = row.columns, group = row.group, depth = row.depth or 1 }
  end,
}

--- The sizes of a class.
-- @string class of `clcompute.loops.generation.tiling`
-- @tparam table row numbers of a device
-- @treturn table with `vector`, the elements of a vector, and `blocks`, how many tiles a compute unit gets at least
function tile_sizes.of(class, row)
  local size = CLASSES[class](row)
  size.vector, size.blocks = row.vector, row.blocks
  return size
end

return tile_sizes
