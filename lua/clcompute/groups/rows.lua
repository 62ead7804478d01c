-- SPDX-License-Identifier: MIT

--- Rows of spread buffers as packed bytes in row-major order, whatever rank has them; and elements by their place in
-- that order, as formats of files ask for them.

local rows = {}

local SIZES = { char = 1, uchar = 1, short = 2, ushort = 2, int = 4, uint = 4, long = 8, ulong = 8, half = 2, float = 4,
  double = 8 }
local PIECE = 16 << 20 -- bytes that pass through the host at a time

rows.sizes = SIZES

function rows.bytes_of_one(a) return a.place.columns * SIZES[a.dtype] end

--- The part of a rank that lies in rows first .. last - 1, or nil.
function rows.of_rank(a, rank, first, last)
  local at = a.place:place(rank)
  local from, to = a.place:rows_before(first, at), a.place:rows_before(last, at)
  local piece = a.pieces[rank]
  if not piece or to == from or piece.bytes == 0 then return nil end
  return piece:view(from + 1, to), from
end

--- Rows first .. last - 1 as packed bytes, on all ranks.
function rows.read(a, first, last)
  local parts = a.group.ranks:collect(function(rank)
    local own <close> = rows.of_rank(a, rank, first, last)
    return own and own:string() or ""
  end, ("rows %d to %d of %s %s"):format(first + 1, last, a.dtype, table.concat(a.place.shape, "x")))
  if #parts == 1 then return parts[1] end
  local pieces, at, size = {}, {}, SIZES[a.dtype]
  a.place:pieces(first, last, function(rank, count)
    local from = at[rank] or 1
    at[rank] = from + count * size
    pieces[#pieces + 1] = parts[rank]:sub(from, from + count * size - 1)
  end)
  return table.concat(pieces)
end

--- Writes packed bytes over rows first .. last - 1. Every process has the same bytes.
function rows.write(a, first, last, bytes)
  local pieces, at, size = {}, 1, SIZES[a.dtype]
  for rank in pairs(a.pieces) do pieces[rank] = {} end
  a.place:pieces(first, last, function(rank, count)
    local list = pieces[rank]
    if list then list[#list + 1] = bytes:sub(at, at + count * size - 1) end
    at = at + count * size
  end)
  for rank, list in pairs(pieces) do
    local own <close> = rows.of_rank(a, rank, first, last)
    if own then own:write(table.concat(list)) end
  end
end

--- Iterates over rows first .. last - 1 by so many as pass at a time.
function rows.steps(a, first, last)
  local step, from = math.max(1, PIECE // math.max(1, rows.bytes_of_one(a))), first
  return function()
    if from >= last then return nil end
    local start = from
    from = math.min(last, start + step)
    return start, from
  end
end

-- --- elements by their place in row-major order, for formats -----------------------------------------

local Flat = {}
Flat.__index = Flat

--- All elements of a spread buffer in one dimension.
function rows.flat(a) return setmetatable({ of = a, device = a.group, dtype = a.dtype }, Flat) end

--- The rows that hold elements first .. last, and how many bytes of them lie before.
local function around(a, first, last)
  local columns = a.place.columns
  local row = (first - 1) // columns
  return row, (last - 1) // columns + 1, (first - 1 - row * columns) * SIZES[a.dtype]
end

function Flat:write(bytes, first)
  local a = self.of
  if #bytes == 0 then return self end
  local from, to, before = around(a, first, first + #bytes // SIZES[a.dtype] - 1)
  local whole = (to - from) * rows.bytes_of_one(a)
  if #bytes < whole then -- a part of the first row, or of the last one
    local old = rows.read(a, from, to)
    bytes = old:sub(1, before) .. bytes .. old:sub(before + #bytes + 1)
  end
  rows.write(a, from, to, bytes)
  return self
end

function Flat:view(first, last) return setmetatable({ of = self.of, first = first, last = last }, Flat) end

function Flat:string()
  local a, first, last = self.of, self.first, self.last
  if last < first then return "" end
  local from, to, before = around(a, first, last)
  local bytes = rows.read(a, from, to)
  return bytes:sub(before + 1, before + (last - first + 1) * SIZES[a.dtype])
end

function Flat:release() return self end
Flat.__close = Flat.release

return rows
