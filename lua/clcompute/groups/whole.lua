-- SPDX-License-Identifier: MIT

--- Matrices that are whole with one rank, at home, and in blocks: from one to the other. What a rank has moves at once.

local placement = require "clcompute.groups.placement"
local spread = require "clcompute.groups.spread"

local whole = {}

--- Rows by runs that one row of the grid has: all at once where it has all.
local function row_runs(place)
  if place.p > 1 then return place:row_runs(0, place.rows) end
  local is_done = false
  return function()
    if is_done then return nil end
    is_done = true
    return 0, place.rows, 0
  end
end

--- Copies what is a rank's between its own matrix and the whole one, block by block.
local function copy_blocks(place, rank, piece, matrix, is_to_whole)
  local at_row, at_column = place:place(rank)
  for row, height, of_row in row_runs(place) do
    for column, width, of_column in place:column_runs(0, of_row == at_row and place.columns or 0) do
      if of_column == at_column then
        local own = { place:rows_before(row, at_row) + 1, place:columns_before(column, at_column) + 1 }
        local there, size = { row + 1, column + 1 }, { height, width }
        if is_to_whole then
          piece:copy_rect { to = matrix, size = size, at = own, to_at = there }
        else
          matrix:copy_rect { to = piece, size = size, at = there, to_at = own }
        end
      end
    end
  end
end

--- Moves between pieces and what is beside the whole matrix, for each rank but home.
-- @treturn table buffers of home by rank, nil elsewhere
local function beside_of(place, ranks, dtype, moves, pieces, is_to_whole)
  local beside, home, device = {}, place.home, ranks.devices[place.home]
  for rank = 1, ranks.count do
    local rows, columns = place:extent(rank)
    if rank ~= home and rows > 0 and columns > 0 then
      beside[rank] = device and device:empty(dtype, rows, columns)
      local move = { at = { 1, 1 }, to_at = { 1, 1 }, size = { rows, columns } }
      if is_to_whole then
        move.from, move.source, move.to, move.target = rank, pieces[rank], home, beside[rank]
      else
        move.from, move.source, move.to, move.target = home, beside[rank], rank, pieces[rank]
      end
      moves[#moves + 1] = move
    end
  end
  return beside
end

local function release_all(list)
  for _, buffer in pairs(list) do buffer:release() end
end

--- A matrix in blocks as a whole one: a buffer of the device at home, new unless it is given; nil elsewhere.
function whole.gather(a, given)
  local place, ranks, moves = a.place, a.group.ranks, {}
  local device = ranks.devices[place.home]
  local beside = beside_of(place, ranks, a.dtype, moves, a.pieces, true)
  local under_way = ranks:begin(moves)
  local matrix = given or device and device:empty(a.dtype, place.rows, place.columns)
  if matrix then copy_blocks(place, place.home, a.pieces[place.home], matrix, true) end
  ranks:arrive(under_way)
  for rank, piece in pairs(beside) do copy_blocks(place, rank, piece, matrix, true) end
  release_all(beside)
  return matrix
end

--- The same of one that is whole already, with whether the buffer is new.
function whole.of(a)
  if a.place.is_alone then return a.pieces[a.place.home], false end
  return whole.gather(a), true
end

--- A new matrix in blocks, whatever its size.
function whole.new_divided(group, dtype, shape)
  local place, pieces = placement.divided(shape, group.layout), {}
  for rank, device in pairs(group.ranks.devices) do pieces[rank] = device:empty(dtype, place:extent(rank)) end
  return spread.of(group, dtype, place, pieces)
end

--- A spread matrix in blocks with the elements of one that is alone.
function whole.divide(a)
  local new, ranks, moves = whole.new_divided(a.group, a.dtype, a.place.shape), a.group.ranks, {}
  local place, matrix = new.place, a.pieces[a.place.home]
  local beside = beside_of(place, ranks, a.dtype, moves, new.pieces, false)
  for rank, piece in pairs(beside) do copy_blocks(place, rank, piece, matrix, false) end
  if matrix then copy_blocks(place, place.home, new.pieces[place.home], matrix, false) end
  ranks:move_all(moves)
  release_all(beside)
  return new
end

return whole
