-- SPDX-License-Identifier: MIT

--- Layouts: what placements of a group have in common. Pure functions.

local line = require "clcompute.groups.rank_line"

local layout = {}

-- Elements up to which a matrix is alone with one rank, by the type of its device. A product of n = 4096 took one of
-- two GPUs as long as both, smaller ones several times less; ranks with a processor each gain from two blocks on.
local ALONE = { cpu = 1 << 17, gpu = 1 << 24 }

--- Whole shares so that ranks need little more time than if they were divided evenly: as few as do, and none for a rank
-- that has little to add.
local MOST, ENOUGH = 32, 0.95

--- Deals so many shares by speeds: each to the rank that is the first to end with one more.
local function deal(speeds, total)
  local given, slowest = {}, 0
  for k = 1, #speeds do given[k] = 0 end
  for _ = 1, total do
    local best = 1
    for k = 2, #speeds do
      if (given[k] + 1) / speeds[k] < (given[best] + 1) / speeds[best] then best = k end
    end
    given[best] = given[best] + 1
    slowest = math.max(slowest, given[best] / speeds[best])
  end
  return given, slowest
end

--- Whole shares of ranks by their speeds.
function layout.shares_of(speeds)
  local sum, best, efficiency = 0, nil, 0
  for _, speed in ipairs(speeds) do sum = sum + speed end
  for total = 1, MOST do
    local given, slowest = deal(speeds, total)
    local reached = total / sum / slowest
    if not best or reached > efficiency then best, efficiency = given, reached end
    if reached >= ENOUGH then break end
  end
  return best
end

--- The sums of a list of ranks over rows of the grid, and over its columns.
local function sums_of(list, grid)
  local rows, columns = {}, {}
  for k, value in ipairs(list) do
    local row, column = (k - 1) // grid[2] + 1, (k - 1) % grid[2] + 1
    rows[row], columns[column] = (rows[row] or 0) + value, (columns[column] or 0) + value
  end
  return rows, columns
end

local function greatest_divisor(list)
  local divisor = 0
  for _, value in ipairs(list) do
    while value > 0 do divisor, value = value, divisor % value end
  end
  return divisor
end

--- A line of blocks by shares.
local function line_of(shares, block)
  local list, divisor = {}, greatest_divisor(shares)
  for k, share in ipairs(shares) do list[k] = share // divisor * block end
  return line.new(list)
end

local function place_of_largest(list)
  local at = 1
  for k, value in ipairs(list) do if value > list[at] then at = k end end
  return at
end

local function all_alike(count)
  local list = {}
  for k = 1, count do list[k] = 1 end
  return list
end

--- Of ranks that share evenly.
-- @tparam table grid
-- @int block
function layout.even(grid, block)
  local new = layout.by_shares(grid, block, all_alike(grid[1] * grid[2]))
  new.is_even = true
  return new
end

--- Of ranks that have whole shares, the same of matrices and of vectors.
function layout.by_shares(grid, block, shares)
  local rows, columns = sums_of(shares, grid)
  return { grid = grid, block = block, shares = shares, row_line = line_of(rows, block),
    column_line = line_of(columns, block), home = place_of_largest(shares), alone = 0 }
end

--- Of ranks whose speeds were measured.
-- @tparam table speeds {vectors = list, matrices = list}
function layout.by_speeds(grid, block, speeds)
  local rows, columns = sums_of(speeds.matrices, grid)
  local new = layout.by_shares(grid, block, layout.shares_of(speeds.vectors))
  new.row_line, new.column_line = line_of(layout.shares_of(rows), block), line_of(layout.shares_of(columns), block)
  new.home = place_of_largest(speeds.matrices)
  return new
end

--- Elements up to which a matrix is alone with a rank whose device is of a type.
function layout.alone_with(type) return ALONE[type] or ALONE.gpu end

return layout
