-- SPDX-License-Identifier: MIT

--- Placement: which rank has which elements of a spread buffer. Pure functions; ranks count from 1, rows and columns of
-- placements from 0.
--
-- A matrix lies in blocks on a grid of ranks, as ScaLAPACK has them: block (I, J) is with the rank at (I % p, J % q).
-- Anything else is rows of one line of ranks, in one block each, so that the order of ranks is that of the elements.

local placement = {}

local Placement = {}
Placement.__index = Placement

local function parts(n, size) return -(-n // size) end

--- How many of the first n indices the ranks at a place of a line have.
local function owned(n, block, count, at)
  local round = block * count
  return n // round * block + math.max(0, math.min(block, n % round - at * block))
end

--- Who has index i, and as which of its own.
local function find(i, block, count)
  return i // block % count, i // (block * count) * block + i % block
end

--- The placement of a shape.
-- @tparam table shape
-- @tparam table grid {p, q}
-- @int block rows and columns of a block of a matrix
function placement.new(shape, grid, block)
  local p, q = grid[1], grid[2]
  local new = { shape = shape, rows = shape[1], columns = 1, p = p, q = q, skip = 0, is_whole = true }
  for k = 2, #shape do new.columns = new.columns * shape[k] end
  if #shape == 2 then
    new.row_block, new.column_block = block, block
  else
    new.p, new.q = p * q, 1
    new.row_block, new.column_block = math.max(1, parts(shape[1], p * q)), math.max(1, new.columns)
  end
  return setmetatable(new, Placement)
end

--- The placement of rows of another one, which stay where they are.
function Placement:of_rows(first, count)
  local shape = table.move(self.shape, 1, #self.shape, 1, {})
  shape[1] = count
  local new = {}
  for key, value in pairs(self) do new[key] = value end
  new.shape, new.rows, new.skip = shape, count, self.skip + first
  new.is_whole = self.is_whole and first == 0 and count == self.rows
  return setmetatable(new, Placement)
end

--- Whether elements of both lie at the same places.
function Placement:is_like(other)
  if #self.shape ~= #other.shape or self.skip ~= other.skip or self.row_block ~= other.row_block then return false end
  for k, n in ipairs(self.shape) do if n ~= other.shape[k] then return false end end
  return true
end

function Placement:count() return self.rows * self.columns end

--- Row and column of the grid of a rank, and back.
function Placement:place(rank) return (rank - 1) // self.q, (rank - 1) % self.q end
function Placement:rank(row, column) return row * self.q + column + 1 end

--- How many rows of 0 .. row - 1 a row of the grid has, and columns likewise.
function Placement:rows_before(row, at)
  return owned(row + self.skip, self.row_block, self.p, at) - owned(self.skip, self.row_block, self.p, at)
end

function Placement:columns_before(column, at) return owned(column, self.column_block, self.q, at) end

--- Rows and columns that a rank has.
function Placement:extent(rank)
  local row, column = self:place(rank)
  return self:rows_before(self.rows, row), self:columns_before(self.columns, column)
end

--- The shape of what a rank has.
function Placement:shape_of(rank)
  local shape = table.move(self.shape, 1, #self.shape, 1, {})
  local rows, columns = self:extent(rank)
  shape[1] = rows
  if #shape == 2 then shape[2] = columns end
  return shape
end

--- The rank that has an element, and where: row and column there.
function Placement:find(row, column)
  local at_row, own_row = find(row + self.skip, self.row_block, self.p)
  local at_column, own_column = find(column, self.column_block, self.q)
  return self:rank(at_row, at_column), own_row - owned(self.skip, self.row_block, self.p, at_row), own_column
end

local function runs(first, last, block, skip)
  local from = first
  return function()
    if from >= last then return nil end
    local start = from
    from = math.min(last, ((start + skip) // block + 1) * block - skip)
    return start, from - start
  end
end

--- Iterates over rows first .. last - 1 by blocks: the first row, how many.
function Placement:row_runs(first, last) return runs(first, last, self.row_block, self.skip) end
function Placement:column_runs() return runs(0, self.columns, self.column_block, 0) end

--- Visits the elements of rows first .. last - 1 in row-major order, by pieces that lie behind each other with a rank:
-- visit(rank, elements). The pieces of each rank come in the order in which it has them.
function Placement:pieces(first, last, visit)
  for start, count in self:row_runs(first, last) do
    local at = (start + self.skip) // self.row_block % self.p
    if self.q == 1 or self.columns <= self.column_block then -- the first of a row has all of it
      visit(self:rank(at, 0), count * self.columns)
    else
      for _ = 1, count do
        for column, width in self:column_runs() do
          visit(self:rank(at, column // self.column_block % self.q), width)
        end
      end
    end
  end
end

--- The index in row-major order of element `own` of a rank, both from 0.
function Placement:index_of(rank, own)
  local at_row, at_column = self:place(rank)
  local _, columns = self:extent(rank)
  local row = own // columns + owned(self.skip, self.row_block, self.p, at_row)
  local column = own % columns
  row = (row // self.row_block * self.p + at_row) * self.row_block + row % self.row_block - self.skip
  column = (column // self.column_block * self.q + at_column) * self.column_block + column % self.column_block
  return row * self.columns + column
end

--- The same as an expression of OpenCL C, of a rank's own index i.
function Placement:index_text(rank)
  local at_row, at_column = self:place(rank)
  local _, columns = self:extent(rank)
  local before = owned(self.skip, self.row_block, self.p, at_row)
  if columns == 0 then return "i" end
  if self.q == 1 and self:rows_before(self.rows, at_row) <= self.row_block and self.skip == 0 then
    return ("(i + (ulong)%d)"):format(at_row * self.row_block * columns)
  end
  local row = ("((i / %d) + %d)"):format(columns, before)
  local column = ("(i %% %d)"):format(columns)
  row = ("((%s / %d * %d + %d) * %d + %s %% %d - %d)"):format(row, self.row_block, self.p, at_row, self.row_block, row,
    self.row_block, self.skip)
  column = ("((%s / %d * %d + %d) * %d + %s %% %d)"):format(column, self.column_block, self.q, at_column,
    self.column_block, column, self.column_block)
  return ("((ulong)%s * %d + %s)"):format(row, self.columns, column)
end

--- An element's place along an axis as an expression of x[i], its place in what a rank has; both from 1. Not of views.
function Placement:axis_text(rank, axis)
  local at_row, at_column = self:place(rank)
  local is_matrix = #self.shape == 2
  local block, count, at = self.row_block, self.p, at_row
  if axis == 2 and is_matrix then block, count, at = self.column_block, self.q, at_column end
  if count == 1 or axis > 2 or axis == 2 and not is_matrix then return "x[i]" end
  return ("((x[i] - 1) / %d * %d + %d) * %d + (x[i] - 1) %% %d + 1"):format(block, count, at, block, block)
end

--- Where the rows of a rank are, as a list of {first, last} from 1; and its columns.
function Placement:intervals(rank)
  local at_row, at_column = self:place(rank)
  local rows, columns = {}, {}
  for start, count in self:row_runs(0, self.rows) do
    if (start + self.skip) // self.row_block % self.p == at_row then rows[#rows + 1] = { start + 1, start + count } end
  end
  for start, count in self:column_runs() do
    if start // self.column_block % self.q == at_column then columns[#columns + 1] = { start + 1, start + count } end
  end
  return rows, columns
end

return placement
