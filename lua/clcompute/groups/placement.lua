-- SPDX-License-Identifier: MIT

--- Placement: which rank has which elements of a spread buffer. Pure functions; ranks count from 1, rows and columns of
-- placements from 0.
--
-- A matrix lies in blocks on a grid of ranks, as ScaLAPACK has them: block (I, J) is with the rank at (I % p, J % q);
-- or ranks have as many of a round as their share says. A matrix of few elements is alone with the rank at home.
-- Anything else is rows of one line of ranks, in one part each, so that the order of ranks is that of the elements.

local line = require "clcompute.groups.rank_line"

local placement = {}

local Placement = {}
Placement.__index = Placement

--- The placement of a shape.
-- @tparam table shape
-- @tparam table layout of a group
function placement.new(shape, layout)
  local p, q = layout.grid[1], layout.grid[2]
  local new = { shape = shape, rows = shape[1], columns = 1, p = p, q = q, skip = 0, block = layout.block,
    home = layout.home, is_whole = true, is_alone = false }
  for k = 2, #shape do new.columns = new.columns * shape[k] end
  setmetatable(new, Placement)
  if #shape ~= 2 then
    new.p, new.q = p * q, 1
    new.row_line, new.column_line = line.parts(layout.shares, new.rows), line.only(1, 0, new.columns)
  elseif new.rows * new.columns <= layout.alone then
    new:be_alone()
  else
    new.row_line, new.column_line = layout.row_line, layout.column_line
  end
  return new
end

--- The placement of a matrix in blocks, however small it is.
function placement.divided(shape, layout)
  local new = placement.new(shape, layout)
  if not new.is_alone then return new end
  new.row_line, new.column_line, new.is_alone, new.is_whole = layout.row_line, layout.column_line, false, false
  return new
end

--- Has all elements of a matrix with the rank at home.
function Placement:be_alone()
  local row, column = self:place(self.home)
  self.row_line, self.column_line = line.only(self.p, row, self.rows), line.only(self.q, column, self.columns)
  self.is_alone = true
end

--- The same but for an extent.
local function with_extent(self, axis, extent)
  local new = setmetatable({}, Placement)
  for key, value in pairs(self) do new[key] = value end
  new.shape = table.move(self.shape, 1, #self.shape, 1, {})
  new.shape[axis], new.rows, new.columns = extent, axis == 1 and extent or self.rows, 1
  for k = 2, #new.shape do new.columns = new.columns * new.shape[k] end
  return new
end

--- The placement of rows of another one, which stay where they are.
function Placement:of_rows(first, count)
  local new = with_extent(self, 1, count)
  if self.is_alone then
    new:be_alone()
  else
    new.skip = self.skip + first
    new.is_whole = self.is_whole and first == 0 and count == self.rows
  end
  return new
end

--- The placement of what is left where one element stands for all along an axis: it is where the first of them was.
function Placement:without(axis, layout)
  local new = with_extent(self, axis, 1)
  if #self.shape ~= 2 then
    if axis == 1 then new.row_line = line.only(self.p, self.row_line:place(0), 1) end
    new.column_line = line.only(1, 0, new.columns)
  elseif self.is_alone then
    new:be_alone()
  end
  new.is_whole = new:is_like(placement.new(new.shape, layout))
  return new
end

--- Whether elements of both lie at the same places.
function Placement:is_like(other)
  if #self.shape ~= #other.shape or self.skip ~= other.skip then return false end
  for k, n in ipairs(self.shape) do if n ~= other.shape[k] then return false end end
  return self.row_line:is_like(other.row_line) and self.column_line:is_like(other.column_line)
end

function Placement:count() return self.rows * self.columns end

--- Row and column of the grid of a rank, and back.
function Placement:place(rank) return (rank - 1) // self.q, (rank - 1) % self.q end
function Placement:rank(row, column) return row * self.q + column + 1 end

--- How many rows of 0 .. row - 1 a row of the grid has, and columns likewise.
function Placement:rows_before(row, at)
  return self.row_line:owned(row + self.skip, at) - self.row_line:owned(self.skip, at)
end

function Placement:columns_before(column, at) return self.column_line:owned(column, at) end

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
  local at_row, own_row = self.row_line:find(row + self.skip)
  local at_column, own_column = self.column_line:find(column)
  return self:rank(at_row, at_column), own_row - self.row_line:owned(self.skip, at_row), own_column
end

--- Iterates over rows first .. last - 1 by runs that one row of the grid has: the first row, how many, which row of the
-- grid; over columns likewise.
function Placement:row_runs(first, last) return self.row_line:runs(first, last, self.skip) end
function Placement:column_runs(first, last) return self.column_line:runs(first, last, 0) end

--- Visits the elements of rows first .. last - 1 in row-major order, by pieces that lie behind each other with a rank:
-- visit(rank, elements). The pieces of each rank come in the order in which it has them.
function Placement:pieces(first, last, visit)
  local of_columns = self.column_line
  local first_place = of_columns:place(0)
  local is_undivided = self.columns <= of_columns.starts[first_place] + of_columns.sizes[first_place]
  for _, count, at in self:row_runs(first, last) do
    if is_undivided then
      visit(self:rank(at, first_place), count * self.columns)
    else
      for _ = 1, count do
        for _, width, at_column in self:column_runs(0, self.columns) do visit(self:rank(at, at_column), width) end
      end
    end
  end
end

--- The index in row-major order of element `own` of a rank, both from 0.
function Placement:index_of(rank, own)
  local at_row, at_column = self:place(rank)
  local _, columns = self:extent(rank)
  local row = own // columns + self.row_line:owned(self.skip, at_row)
  return (self.row_line:index(row, at_row) - self.skip) * self.columns
    + self.column_line:index(own % columns, at_column)
end

--- The same as an expression of OpenCL C, of a rank's own index i.
function Placement:index_text(rank)
  local at_row, at_column = self:place(rank)
  local rows, columns = self:extent(rank)
  if columns == 0 then return "i" end
  if columns == self.columns and rows <= self.row_line.sizes[at_row] and self.skip == 0 then
    return ("(i + (ulong)%d)"):format(self.row_line.starts[at_row] * columns)
  end
  local before = self.row_line:owned(self.skip, at_row)
  local row = self.row_line:text(("((i / %d) + %d)"):format(columns, before), at_row)
  local column = self.column_line:text(("(i %% %d)"):format(columns), at_column)
  return ("((ulong)(%s - %d) * %d + %s)"):format(row, self.skip, self.columns, column)
end

--- An element's place along an axis as an expression of x[i], its place in what a rank has; both from 1. Not of views.
function Placement:axis_text(rank, axis)
  local at_row, at_column = self:place(rank)
  local is_matrix = #self.shape == 2
  if self.is_alone or axis > 2 or axis == 2 and not is_matrix then return "x[i]" end
  local of_axis, at = self.row_line, at_row
  if axis == 2 then of_axis, at = self.column_line, at_column end
  return of_axis.count == 1 and "x[i]" or of_axis:text("(x[i] - 1)", at) .. " + 1"
end

--- Where the rows of a rank are, as a list of {first, last} from 1; and its columns.
function Placement:intervals(rank)
  local at_row, at_column = self:place(rank)
  local rows, columns = {}, {}
  for start, count, at in self:row_runs(0, self.rows) do
    if at == at_row then rows[#rows + 1] = { start + 1, start + count } end
  end
  for start, count, at in self:column_runs(0, self.columns) do
    if at == at_column then columns[#columns + 1] = { start + 1, start + count } end
  end
  return rows, columns
end

return placement
