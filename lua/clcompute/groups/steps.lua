-- SPDX-License-Identifier: MIT

--- What steps of a factorization have in common, on grids of one row and of several.

local core = require "clcompute.core"
local internal = require "clcompute.core.internal"

local steps = {}

local function fail(...) error(string.format(...), 0) end

--- A matrix's memory from a row and a column on, in one dimension, as cl.gemm takes a rectangle: a view.
function steps.from(matrix, row, column)
  local shape = matrix.shape
  local count = shape[1] * shape[2]
  local line <close> = matrix:reshape(count)
  return line:view(row * shape[2] + column + 1, count)
end

--- A step: block column k .. e - 1 of the matrix.
function steps.at(w, k)
  local place = w.place
  local home, own_row, own_column = place:find(k, k)
  local row, column = place:place(home)
  local e = math.min(k + place.block, place.rows)
  return { k = k, e = e, width = e - k, home = home, row = row, column = column, own_row = own_row,
    own_column = own_column }
end

--- Queues copies of rows of one matrix of a device to rows of another: `order`, a buffer, has from, to, from, to ...,
-- from 0.
function steps.copy_rows(source, target, order, count)
  local columns = target.shape[2]
  if columns == 0 or count == 0 then return end
  local move = target.device:kernel("lu_move_rows", { dtype = target.dtype })
  move({ global = { columns, count }, group = { 64, 1 }, remainder = "pad" }, count, columns, order, source, target)
end

--- Raises where a pivot is zero or not finite.
function steps.check_diagonal(where, s, diagonal)
  for j, value in ipairs(diagonal) do
    if value == 0 then fail("%s: matrix is singular: column %d has no pivot", where, s.k + j) end
    if value ~= value or math.abs(value) == math.huge then
      fail("%s: the elimination overflows in column %d", where, s.k + j)
    end
  end
end

local LOWER = "i / w > i % w ? x[i] : i / w == i % w"
local UPPER = "i / w <= i % w ? x[i] : 0"

--- Factors of a triangle of the diagonal block, with which its device solves: unit lower, or upper; transposed or not.
local function triangle_of(w, s, text, is_transposed)
  local piece = w.pieces[s.home]
  local block = piece.device:empty(w.dtype, s.width, s.width)
  piece:copy_rect { to = block, size = { s.width, s.width }, at = { s.own_row + 1, s.own_column + 1 } }
  local line = block:reshape(s.width * s.width)
  local triangle = core.map((text:gsub("w", s.width)), { x = line }):reshape(s.width, s.width)
  return core.lu(is_transposed and core.transpose(triangle) or triangle)
end

function steps.lower(w, s, is_transposed) return triangle_of(w, s, LOWER, is_transposed) end
function steps.upper(w, s, is_transposed) return triangle_of(w, s, UPPER, is_transposed) end

--- What a rank has right below of the panel: rows, columns, and how many of its own lie before these.
function steps.rest(place, s, rank)
  local row, column = place:place(rank)
  local rows, columns = place:extent(rank)
  local r, c = place:rows_before(s.e, row), place:columns_before(s.e, column)
  return rows - r, columns - c, r, c
end

--- Solves with the unit lower triangle of a panel for rows of a rank, in `columns` of its columns from `first` on.
-- @treturn Buffer the rows, which are in the matrix, too, from element `lead` on, `ld` from row to row
-- @treturn integer lead
-- @treturn integer ld
-- @treturn ?Factors what solved; nil where the device has a kernel for just that
function steps.solve_rows(triangle, piece, s, first, columns)
  local device, dtype, size = piece.device, piece.dtype, { s.width, columns }
  local here = { s.own_row + 1, first + 1 }
  if internal.has_panel_rows(piece, s.width, columns) then
    local both = device:empty(dtype, s.width, s.width + columns)
    triangle:copy_rect { to = both }
    piece:copy_rect { to = both, size = size, at = here, to_at = { 1, s.width + 1 } }
    internal.panel_rows(both)
    both:copy_rect { to = piece, size = size, at = { 1, s.width + 1 }, to_at = here }
    return both, s.width, s.width + columns
  end
  local rows <close> = device:empty(dtype, s.width, columns)
  piece:copy_rect { to = rows, size = size, at = here }
  local lower = core.map((LOWER:gsub("w", s.width)), { x = triangle:reshape(s.width * s.width) })
  local factors = core.lu(lower:reshape(s.width, s.width))
  local solved = factors:solve(rows)
  solved:copy_rect { to = piece, size = size, to_at = here }
  return solved, 0, columns, factors
end

return steps
