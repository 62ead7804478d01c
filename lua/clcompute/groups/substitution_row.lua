-- SPDX-License-Identifier: MIT

--- Systems with the factors that `elimination_row` made on a row of devices: forward and backward substitution.
--
-- Rows go by strides of several blocks, so that few transfers are waited for. The square of a stride on the diagonal,
-- whose columns ranks share, is gathered once on one of them, which solves with it. What is known is multiplied where
-- the matrix lies: by each rank in its own columns.

local core = require "clcompute.core"
local internal = require "clcompute.core.internal"
local spread = require "clcompute.groups.spread"
local steps = require "clcompute.groups.steps"

local substitution_row = {}

local BLOCKS = { cpu = 2, gpu = 8 } -- of a stride, by the type of device

-- --- strides --------------------------------------------------------------------------------------------

--- The strides k .. e - 1 of factors: {k=, e=, n=, home= the rank that solves, orders= of rows, by rank, there}.
local function strides_of(f)
  if f.kept.strides then return f.kept.strides end
  local place, list = f.w.place, {}
  local length = place.block * (BLOCKS[f.w.group.layout.home_type] or BLOCKS.gpu)
  for k = 0, place.rows - 1, length do
    local e = math.min(k + length, place.rows)
    list[#list + 1] = { k = k, e = e, n = e - k, home = (place:find(k, k)), orders = {} }
  end
  f.kept.strides = list
  return list
end

--- Columns of a rank in a stride, counted in its own: the first, and the one behind the last.
local function own_columns(place, rank, t)
  local _, column = place:place(rank)
  return place:columns_before(t.k, column), place:columns_before(t.e, column)
end

--- Visits the runs of a stride's columns that a rank has: where in the stride, where among its own there, how many.
local function each_run(place, rank, t, visit)
  local _, column = place:place(rank)
  local own = 0
  for first, count, at in place:column_runs(t.k, t.e) do
    if at == column then
      visit(first - t.k, own, count)
      own = own + count
    end
  end
end

--- The square of a stride on the diagonal, at its home, with room for what solves; nil elsewhere.
local function square_of(f, t)
  local w = f.w
  local place, ranks = w.place, w.group.ranks
  local device, beside, moves = ranks.devices[t.home], {}, {}
  if t.square or t.is_gathered then return t.square end
  for rank = 1, ranks.count do
    local first, last = own_columns(place, rank, t)
    beside[rank] = device and device:empty(w.dtype, t.n, last - first)
    moves[#moves + 1] = { from = rank, source = w.pieces[rank], at = { t.k + 1, first + 1 }, to = t.home,
      target = beside[rank], to_at = { 1, 1 }, size = { t.n, last - first } }
  end
  ranks:move_all(moves)
  t.is_gathered = true
  if not device then return nil end
  local rows, columns = internal.panel_room(beside[t.home], t.n, t.n)
  t.square = device:zeros(w.dtype, rows, columns)
  for rank, part in pairs(beside) do
    each_run(place, rank, t, function(at, own, count)
      part:copy_rect { to = t.square, size = { t.n, count }, at = { 1, own + 1 }, to_at = { 1, at + 1 } }
    end)
    part:release()
  end
  return t.square
end

-- --- sweeps ---------------------------------------------------------------------------------------------

--- v <- v - what ranks found, in their order. They hand it to the home of the stride.
-- @tparam function source_of (rank): a matrix of a rank, its first row of interest from 0, how many
-- @tparam function place_of (rank, visit): visits the runs of those rows: where in v, where among them, how many
local function subtract_found(f, t, v, columns, source_of, place_of)
  local w = f.w
  local ranks, device, moves, found = w.group.ranks, w.group.ranks.devices[t.home], {}, {}
  for rank = 1, ranks.count do
    local source, first, count = source_of(rank)
    found[rank] = device and device:empty(w.dtype, count, columns)
    moves[#moves + 1] = { from = rank, source = source, at = { first + 1, 1 }, to = t.home, target = found[rank],
      to_at = { 1, 1 }, size = { count, columns } }
  end
  ranks:move_all(moves)
  for rank = 1, device and ranks.count or 0 do
    place_of(rank, function(at, own, count)
      local from <close> = found[rank]:view(own + 1, own + count)
      local into <close> = v:view(at + 1, at + count)
      core.saxpy(-1, from, into)
    end)
    found[rank]:release()
  end
end

--- The rows of a stride's solution that a rank multiplies with, packed, at home.
local function rows_for(f, t, v, columns, rank)
  local first, last = own_columns(f.w.place, rank, t)
  local packed = v.device:empty(f.w.dtype, last - first, columns)
  if not t.orders[rank] then
    local list = {}
    each_run(f.w.place, rank, t, function(at, own, count)
      for k = 0, count - 1 do list[#list + 1], list[#list + 2] = at + k, own + k end
    end)
    t.orders[rank] = v.device:buffer(list, "int")
  end
  steps.copy_rows(v, packed, t.orders[rank], last - first)
  return packed
end

--- Hands rows, which the home of a stride has, to ranks.
-- @tparam function source_of (rank): a matrix at home
-- @tparam function target_of (rank, its rows): a matrix of a rank, and its row from which on they go there, from 0
-- @tparam function count_of (rank): rows
local function hand_out(f, t, columns, count_of, source_of, target_of)
  local ranks, moves = f.w.group.ranks, {}
  for rank = 1, ranks.count do
    local count = count_of(rank)
    if count > 0 then
      local target, first = target_of(rank, count)
      moves[#moves + 1] = { from = t.home, source = ranks.devices[t.home] and source_of(rank), at = { 1, 1 }, to = rank,
        target = target, to_at = { first + 1, 1 }, size = { count, columns } }
    end
  end
  ranks:move_all(moves)
  return moves
end

--- C <- C + A x of rectangles of a rank: `how` has m, n, k, the strides and what else cl.gemm takes.
local function add_product(a, x, c, how)
  how.c, how.beta = c, 1
  core.gemm(a, x, how)
  a:release()
  c:release()
end

--- One stride with L or U: each rank has added up, in rows, what its columns gave; now the stride's are known.
local function sweep_columns(f, t, v, columns, is_lower, sums)
  local w = f.w
  local place = w.place
  local function all(_, visit) visit(0, 0, t.n) end
  subtract_found(f, t, v, columns, function(rank) return sums[rank], t.k, t.n end, all)
  local square = square_of(f, t)
  if square then internal.substitute(square, t.n, is_lower, false, v) end
  local x = {}
  local moves = hand_out(f, t, columns, function(rank)
    local column, behind = own_columns(place, rank, t)
    return behind - column
  end, function(rank) return rows_for(f, t, v, columns, rank) end, function(rank, count)
    local device = w.group.ranks.devices[rank]
    x[rank] = device and device:empty(w.dtype, count, columns)
    return x[rank], 0
  end)
  for _, move in ipairs(moves) do if move.source then move.source:release() end end
  local first, last = is_lower and t.e or 0, is_lower and place.rows or t.k
  for rank, own in pairs(x) do
    local column = own_columns(place, rank, t)
    local ld = w.pieces[rank].shape[2]
    if last > first then
      add_product(steps.from(w.pieces[rank], first, column), own, steps.from(sums[rank], first, 0),
        { m = last - first, n = columns, k = #own, lda = ld, ldb = columns, ldc = columns })
    end
    own:release()
  end
end

--- One stride with a transpose: each rank multiplies in its columns all that is known, which every rank has.
local function sweep_rows(f, t, v, columns, is_lower, known)
  local w = f.w
  local place, found = w.place, {}
  local first, last = is_lower and t.e or 0, is_lower and place.rows or t.k
  for rank, device in pairs(w.group.ranks.devices) do
    local column, behind = own_columns(place, rank, t)
    found[rank] = device:zeros(w.dtype, behind - column, columns)
    if last > first and behind > column then
      local x <close> = steps.from(known[rank], first, 0)
      add_product(steps.from(w.pieces[rank], first, column), x, found[rank]:reshape((behind - column) * columns),
        { m = behind - column, n = columns, k = last - first, lda = w.pieces[rank].shape[2], ldb = columns,
          ldc = columns, transa = true })
    end
  end
  subtract_found(f, t, v, columns, function(rank)
    local column, behind = own_columns(place, rank, t)
    return found[rank], 0, behind - column
  end, function(rank, visit) each_run(place, rank, t, visit) end)
  for _, part in pairs(found) do part:release() end
  local square = square_of(f, t)
  if square then internal.substitute(square, t.n, is_lower, true, v) end
  hand_out(f, t, columns, function() return t.n end, function() return v end,
    function(rank) return known[rank], t.k end)
end

--- One triangle, stride by stride: `blocks` has right-hand sides, and then solutions, at the homes of strides.
local function sweep(f, blocks, columns, is_lower, is_transposed)
  local w, list, beside = f.w, strides_of(f), {}
  for rank, device in pairs(w.group.ranks.devices) do beside[rank] = device:zeros(w.dtype, w.place.rows, columns) end
  local is_forward = is_lower ~= is_transposed
  for number = is_forward and 1 or #list, is_forward and #list or 1, is_forward and 1 or -1 do
    local step = is_transposed and sweep_rows or sweep_columns
    step(f, list[number], blocks[number], columns, is_lower, beside)
  end
  for _, buffer in pairs(beside) do buffer:release() end
end

-- --- solutions ------------------------------------------------------------------------------------------

--- Where rows come from by all exchanges, and where they go, from 0: pairs, or those that undo it.
local function order_of(f, device, is_back)
  local key = is_back and "back" or "order"
  if f.kept[key] then return f.kept[key] end
  local order, pairs_of = {}, {}
  for i = 1, #f.pivots do order[i] = i - 1 end
  for k, p in ipairs(f.pivots) do order[k], order[p] = order[p], order[k] end
  for i, from in ipairs(order) do
    pairs_of[2 * i - 1], pairs_of[2 * i] = is_back and i - 1 or from, is_back and from or i - 1
  end
  f.kept[key] = device:buffer(pairs_of, "int")
  return f.kept[key]
end

--- Rows, packed, in the order that the exchanges make, or back.
local function permute(f, bytes, columns, is_back)
  local device = select(2, next(f.w.group.ranks.devices))
  local n = #f.pivots
  local from <close> = device:buffer(bytes, f.w.dtype, n, columns)
  local to <close> = device:empty(f.w.dtype, n, columns)
  steps.copy_rows(from, to, order_of(f, device, is_back), n)
  return to:string()
end

--- The rows of all strides, packed, on all ranks.
local function join(f, blocks)
  local found = f.w.group.ranks:collect(function(rank)
    local list = {}
    for number, t in ipairs(strides_of(f)) do
      if t.home == rank then list[number] = blocks[number]:string() end
    end
    return list
  end)
  local rows = {}
  for number, t in ipairs(strides_of(f)) do rows[number] = found[t.home][number] end
  return table.concat(rows)
end

--- The solution of A X = B, or of A^T X = B, of rows of so many columns: packed bytes to packed bytes.
function substitution_row.solve(f, bytes, columns, is_transposed)
  if not is_transposed then bytes = permute(f, bytes, columns) end
  local blocks, width = {}, columns * spread.sizes[f.w.dtype]
  for number, t in ipairs(strides_of(f)) do
    local device = f.w.group.ranks.devices[t.home]
    blocks[number] = device and device:buffer(bytes:sub(t.k * width + 1, t.e * width), f.w.dtype, t.n, columns)
  end
  for _, is_lower in ipairs(is_transposed and { false, true } or { true, false }) do
    sweep(f, blocks, columns, is_lower, is_transposed or false)
  end
  local solution = join(f, blocks)
  for _, block in pairs(blocks) do if block then block:release() end end
  return is_transposed and permute(f, solution, columns, true) or solution
end

return substitution_row
