-- SPDX-License-Identifier: MIT

--- Factorizations that one device is quicker with: the matrix is gathered there, and only results are spread.
--
-- A step over the grid waits for a panel to be factored, for its pivots to be read and for what moves, however small
-- the matrix is; one device waits for none of these. Where users give a block they have their matrix divided by it.

local arity = require("clcompute.base").arity
local core = require "clcompute.core"
local raising = require("clcompute.base").raising
local spread = require "clcompute.groups.spread"

local gathered = {}

-- Rows up to which one device was quicker than two: ranks of one processor's core each, and GPUs of one host.
local ROWS = { cpu = 2048, gpu = 24576 }

local function check_group(where, b, g)
  if b.group ~= g then error(("%s: b: a buffer of the same group expected"):format(where), 0) end
end

--- Whether the first device factors a matrix of n rows alone.
function gathered.suits(g, n)
  if g.has_block or n == 0 then return false end
  local ranks = g.ranks
  ranks.rows_alone = ranks.rows_alone or ranks:from(1, function() return ROWS[ranks.devices[1].type] or ROWS.gpu end)
  return n <= ranks.rows_alone
end

--- Copies what was a rank's into the whole matrix, block by block: all rows at once where one rank has them all.
local function place_blocks(place, rank, piece, whole)
  local at_row, at_column = place:place(rank)
  local function rows() -- all of a column, or blocks
    if place.p > 1 then return place:row_runs(0, place.rows) end
    local is_done = false
    return function()
      if is_done then return nil end
      is_done = true
      return 0, place.rows
    end
  end
  for row, height in rows() do
    if place.p == 1 or row // place.row_block % place.p == at_row then
      for column, width in place:column_runs() do
        if column // place.column_block % place.q == at_column then
          piece:copy_rect { to = whole, size = { height, width }, to_at = { row + 1, column + 1 },
            at = { place:rows_before(row, at_row) + 1, place:columns_before(column, at_column) + 1 } }
        end
      end
    end
  end
end

--- The matrix on the first rank's device; nil elsewhere. What a rank has moves at once.
local function gather(a)
  local place, ranks, moves, beside = a.place, a.group.ranks, {}, {}
  local device = ranks.devices[1]
  for rank = 2, ranks.count do
    local rows, columns = place:extent(rank)
    beside[rank] = device and device:empty(a.dtype, rows, columns)
    moves[#moves + 1] = { from = rank, source = a.pieces[rank], at = { 1, 1 }, to = 1, target = beside[rank],
      to_at = { 1, 1 }, size = { rows, columns } }
  end
  local under_way = ranks:begin(moves)
  local whole = device and device:empty(a.dtype, place.rows, place.columns)
  if whole then place_blocks(place, 1, a.pieces[1], whole) end
  ranks:arrive(under_way)
  for rank, piece in pairs(beside) do
    place_blocks(place, rank, piece, whole)
    piece:release()
  end
  return whole
end

--- What f(b) returns on the first rank for a right-hand side, a buffer like b first: that buffer spread, and the
-- rest.
local function solve(b, f)
  local g, bytes = b.group, b:string()
  local found = g.ranks:from(1, function()
    local device = g.ranks.devices[1]
    local own <close> = device:buffer(bytes, b.dtype, table.unpack(b.shape))
    local x <close>, info = f(own)
    return { x:string(), info }
  end)
  return spread.empty(g, b.dtype, b.shape):write(found[1]), found[2]
end

--- cl.gauss and cl.solve, by their names.
function gathered.solve(name, a, b, o)
  local whole = gather(a)
  local x, info = solve(b, function(own) return core[name](whole, own, o) end)
  if whole then whole:release() end
  return x, info
end

-- --- factors ------------------------------------------------------------------------------------------

local Factors = { __name = "clcompute.SpreadFactors", methods = {} }
local methods = Factors.methods

--- What a function of the device's own factors returns, on all ranks.
local function of_own(self, where, f)
  if self.is_released then error(("%s: factors are released"):format(where), 0) end
  local ranks = self.group.ranks
  return ranks:together(where, ranks.from, ranks, 1, function() return f(self.own) end)
end

function methods:solve(b)
  if self.is_released then error("solve: factors are released", 0) end
  spread.check(b, "solve", "b")
  check_group("solve", b, self.group)
  return self.group.ranks:together("solve", function()
    return (solve(b, function(own) return self.own:solve(own) end))
  end)
end

function methods:det() return of_own(self, "det", function(own) return own:det() end) end
function methods:rcond() return of_own(self, "rcond", function(own) return own:rcond() end) end

function methods:release()
  if self.own then self.own:release() end
  self.is_released = true
  return self
end

Factors.__close = methods.release
Factors.__index = function(self, key)
  local method = methods[key]
  if method or key == "own" or key == "is_released" then return method end
  if key == "device" then return self.group end
  error(("spread factors have no field '%s'"):format(tostring(key)), 0)
end

function Factors.__tostring(self)
  return ("LU factors of a %s matrix %dx%d spread over %d devices"):format(self.dtype, self.n, self.n, #self.group)
end

raising.guarded(arity.methods(methods, "SpreadFactors"))

function gathered.lu(a)
  local whole = gather(a)
  local new = { group = a.group, n = a.place.rows, dtype = a.dtype }
  a.group.ranks:from(1, function() new.own = core.lu(whole) end)
  if whole then whole:release() end
  return setmetatable(new, Factors)
end

return gathered
