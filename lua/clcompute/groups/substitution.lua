-- SPDX-License-Identifier: MIT

--- Systems with the factors that `elimination` made on a grid: forward and backward substitution. A row of devices has
-- its own way, `substitution_row`, with fewer transfers.

local core = require "clcompute.core"
local spread = require "clcompute.groups.spread"
local steps = require "clcompute.groups.steps"
local substitution_row = require "clcompute.groups.substitution_row"

local substitution = {}

local from = steps.from

--- The solutions of the diagonal blocks, which are kept: f.kept[key][step].
local function solver_of(f, key, s, make, is_transposed)
  local kept = f.kept[key] or {}
  f.kept[key] = kept
  if not kept[s] then kept[s] = make(f.w, s, is_transposed) end
  return kept[s]
end

--- One triangle, by steps in an order. The known part of the solution is multiplied where the matrix lies, each rank
-- adds up its own share, and the shares of a row of the grid (transposed: of a column) are subtracted where the block
-- is solved.
-- @tparam table f factors
-- @tparam table blocks right-hand sides by step, buffers where the step's home is; replaced by the solution
-- @tparam table how {lower=, transposed=}
-- @int columns of the right-hand side
function substitution.sweep(f, blocks, how, columns)
  local w, place, ranks = f.w, f.w.place, f.w.group.ranks
  local is_turned = how.transposed
  local is_forward = how.lower ~= is_turned
  local shares = {}
  for rank, device in pairs(ranks.devices) do
    local m, n = place:extent(rank)
    shares[rank] = device:zeros(w.dtype, is_turned and n or m, columns)
  end
  local count = #f.steps
  for number = is_forward and 1 or count, is_forward and count or 1, is_forward and 1 or -1 do
    local s = f.steps[number]
    local device = ranks.devices[s.home]
    for along = 0, (is_turned and place.p or place.q) - 1 do
      local rank = is_turned and place:rank(along, s.column) or place:rank(s.row, along)
      local share = device and device:empty(w.dtype, s.width, columns)
      ranks:move(rank, shares[rank], { (is_turned and s.own_column or s.own_row) + 1, 1 }, s.home, share, { 1, 1 },
        { s.width, columns })
      if device then core.saxpy(-1, share, blocks[number]) end
    end
    if device then
      local solver = solver_of(f, (how.lower and "L" or "U") .. (is_turned and "T" or ""), s,
        how.lower and steps.lower or steps.upper, is_turned)
      blocks[number] = solver:solve(blocks[number])
    end
    substitution.share(f, s, blocks[number], shares, is_turned, is_forward, columns)
  end
  return blocks
end

--- What the solution of a step gives to the rows that come after it.
function substitution.share(f, s, solution, shares, is_turned, is_forward, columns)
  local w, place, ranks = f.w, f.w.place, f.w.group.ranks
  for across = 0, (is_turned and place.q or place.p) - 1 do
    local rank = is_turned and place:rank(s.row, across) or place:rank(across, s.column)
    local m, n = place:extent(rank)
    local before, after, all
    if is_turned then
      before, after, all = place:columns_before(s.k, across), place:columns_before(s.e, across), n
    else
      before, after, all = place:rows_before(s.k, across), place:rows_before(s.e, across), m
    end
    local first, last = is_forward and after or 0, is_forward and all or before
    local device = ranks.devices[rank]
    if last > first then
      local known = device and device:empty(w.dtype, s.width, columns)
      ranks:move(s.home, solution, { 1, 1 }, rank, known, { 1, 1 }, { s.width, columns })
      if device then
        local block = is_turned and from(w.pieces[rank], s.own_row, first)
          or from(w.pieces[rank], first, s.own_column)
        core.gemm(block, known, { c = from(shares[rank], first, 0), ldc = columns, m = last - first, n = columns,
          k = s.width, lda = n, ldb = columns, transa = is_turned, beta = 1 })
      end
    end
  end
end

--- Cuts rows, packed, into the blocks of steps.
local function cut(f, bytes, columns)
  local blocks, width = {}, columns * spread.sizes[f.w.dtype]
  for number, s in ipairs(f.steps) do
    local device = f.w.group.ranks.devices[s.home]
    if device then
      blocks[number] = device:buffer(bytes:sub(s.k * width + 1, s.e * width), f.w.dtype, s.width, columns)
    end
  end
  return blocks
end

--- The rows of all steps, packed, on all ranks.
local function join(f, blocks)
  local found = f.w.group.ranks:collect(function(rank)
    local list = {}
    for number, s in ipairs(f.steps) do
      if s.home == rank then list[#list + 1] = blocks[number]:string() end
    end
    return list
  end)
  local rows, at = {}, {}
  for number, s in ipairs(f.steps) do
    at[s.home] = (at[s.home] or 0) + 1
    rows[number] = found[s.home][at[s.home]]
  end
  return table.concat(rows)
end

--- Rows, packed, in the order that the exchanges make, or back.
local function permute(f, bytes, columns, is_back)
  local width, rows = columns * spread.sizes[f.w.dtype], {}
  local n = #f.pivots
  for i = 1, n do rows[i] = bytes:sub((i - 1) * width + 1, i * width) end
  for k = is_back and n or 1, is_back and 1 or n, is_back and -1 or 1 do
    local p = f.pivots[k]
    rows[k], rows[p] = rows[p], rows[k]
  end
  return table.concat(rows)
end

--- The solution of A X = B, or of A^T X = B, of rows of so many columns: packed bytes to packed bytes.
function substitution.solve(f, bytes, columns, is_transposed)
  if f.w.place.p == 1 then return substitution_row.solve(f, bytes, columns, is_transposed) end
  if is_transposed then
    local blocks = cut(f, bytes, columns)
    substitution.sweep(f, blocks, { lower = false, transposed = true }, columns)
    substitution.sweep(f, blocks, { lower = true, transposed = true }, columns)
    return permute(f, join(f, blocks), columns, true)
  end
  local blocks = cut(f, permute(f, bytes, columns), columns)
  substitution.sweep(f, blocks, { lower = true, transposed = false }, columns)
  substitution.sweep(f, blocks, { lower = false, transposed = false }, columns)
  return join(f, blocks)
end

return substitution
