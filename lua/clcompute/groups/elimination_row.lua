-- SPDX-License-Identifier: MIT

--- LU factors with partial pivoting of a matrix in blocks on a grid of one row: each rank has whole columns.
--
--          k         e            The panel, columns k .. e - 1 from row k on, is factored where it is. Ranks get its
--      +---+---------+-------+    multipliers, its triangle and its pivots, repeat its exchanges, solve with the
--      |   | \   U   |   U   | k  triangle for rows of U, and subtract the product of multipliers and these rows from
--      |   |  L      +-------+ e  their part of C.
--      |   |         |   C   |
--      +---+---------+-------+
--
-- The columns of the next panel come first (look-ahead): while that is factored and moves, the ranks subtract the rest.
-- Nobody waits for pivots: devices exchange rows by what the panel's device found, and the script reads it at the end.

local core = require "clcompute.core"
local internal = require "clcompute.core.internal"
local steps = require "clcompute.groups.steps"

local elimination_row = {}

local function release_all(list)
  for _, buffer in pairs(list) do buffer:release() end
end

--- Memory of a rank: of the panel that it factors, of all pivots that it found, and twice of what comes from others, as
-- one step's arrives while the one before is in use.
local function room_of(w, device)
  local n = w.place.rows
  local width = math.min(w.place.block, n)
  local rows, row = internal.panel_room(device:empty(w.dtype, 0), n, width)
  local room = { panel = device:empty(w.dtype, rows * row), pivots = device:empty("int", 1, n),
    diagonal = device:empty(w.dtype, 1, n) }
  for turn = 0, 1 do
    room["left" .. turn], room["triangle" .. turn] = device:empty(w.dtype, n * width),
      device:empty(w.dtype, width * width)
    room["pivots" .. turn] = device:empty("int", width)
  end
  return room
end

--- The first part of a memory, as a matrix; `views` lists it, to be released.
local function part_of(memory, rows, columns, views)
  local line = memory:view(1, rows * columns)
  local matrix = line:reshape(rows, columns)
  views[#views + 1], views[#views + 2] = line, matrix
  return matrix
end

--- Queues the factorization of a step's panel where it is.
local function begin_panel(w, s)
  local panel, device = { landing = {}, views = {} }, w.group.ranks.devices[s.home]
  if not device then return panel end
  local n, room = w.place.rows - s.k, w.rooms[s.home]
  local rows, row = internal.panel_room(room.panel, n, s.width)
  panel.buffer = part_of(room.panel, rows, row, panel.views)
  panel.pivots, panel.diagonal = device:empty("int", 1, s.width), device:empty(w.dtype, 1, s.width)
  panel.buffer:fill(0)
  w.pieces[s.home]:copy_rect { to = panel.buffer, size = { n, s.width }, at = { s.k + 1, s.own_column + 1 } }
  internal.panel(panel.buffer, n, s.width, panel.pivots, panel.diagonal)
  local size, at = { 1, s.width }, { 1, s.k + 1 }
  panel.pivots:copy_rect { to = room.pivots, size = size, to_at = at }
  panel.diagonal:copy_rect { to = room.diagonal, size = size, to_at = at }
  return panel
end

--- Begins to move what a panel gives to all ranks.
local function send_panel(w, s, panel)
  local ranks, list, turn, views = w.group.ranks, {}, #w.steps % 2, panel.views
  local function add(rank, source, at, name, rows, columns)
    local room = w.rooms[rank]
    local target = room and part_of(room[name .. turn], rows, columns, views)
    list[#list + 1] = { from = s.home, source = source, at = at, to = rank, target = target, to_at = { 1, 1 },
      size = { rows, columns } }
    return target
  end
  for rank = 1, ranks.count do
    local rows, columns = steps.rest(w.place, s, rank)
    local own = { pivots = add(rank, panel.pivots, { 1, 1 }, "pivots", 1, s.width) }
    if columns > 0 then
      own.left = add(rank, panel.buffer, { s.width + 1, 1 }, "left", rows, s.width)
      own.triangle = add(rank, panel.buffer, { 1, 1 }, "triangle", s.width, s.width)
    end
    panel.landing[rank] = own
  end
  panel.under_way = ranks:begin(list, true)
end

-- Columns of a work-item, and work-items of a group, that exchange rows: a CPU's have whole cache lines of them.
local EXCHANGE = { cpu = { lanes = 64, group = 1 }, gpu = { lanes = 1, group = 64 } }

--- Repeats the exchanges of a panel in all columns, and puts it back.
local function exchange(w, s, panel)
  for rank, piece in pairs(w.pieces) do
    local columns = piece.shape[2]
    if columns > 0 then
      local by = EXCHANGE[piece.device.type] or EXCHANGE.gpu
      local exchanges = piece.device:kernel("lu_exchange", { dtype = w.dtype, defines = { LANES = by.lanes } })
      exchanges({ global = (columns + by.lanes - 1) // by.lanes, group = by.group, remainder = "pad" }, s.width,
        columns, s.k, panel.landing[rank].pivots, piece)
    end
  end
  if not panel.buffer then return end
  panel.buffer:copy_rect { to = w.pieces[s.home], size = { w.place.rows - s.k, s.width },
    to_at = { s.k + 1, s.own_column + 1 } }
end

--- Rows k .. e - 1 right of the panel become those of U. What solves with the triangle is kept where the block is.
-- @treturn table by rank {buffer=, lead=, ld=}
local function solve_rows(f, s, panel)
  local w, right = f.w, {}
  for rank, own in pairs(panel.landing) do
    local _, columns, _, first = steps.rest(w.place, s, rank)
    if own.triangle then
      local buffer, lead, ld, factors = steps.solve_rows(own.triangle, w.pieces[rank], s, first, columns)
      right[rank] = { buffer = buffer, lead = lead, ld = ld }
      if rank == s.home then
        f.kept.L[s] = factors
      elseif factors then
        factors:release()
      end
    end
  end
  return right
end

--- Subtracts the product of multipliers and rows of U, of `count` of a rank's columns behind the first `before`.
local function subtract(w, s, rank, panel, right, before, count)
  local rows, _, r, c = steps.rest(w.place, s, rank)
  local piece, of = w.pieces[rank], right[rank]
  if not of or rows <= 0 or count <= 0 then return end
  local above <close> = steps.from(of.buffer, 0, of.lead + before)
  local below <close> = steps.from(piece, r, c + before)
  core.gemm(panel.landing[rank].left, above, { c = below, ldc = piece.shape[2], m = rows, n = count, k = s.width,
    lda = s.width, ldb = of.ld, alpha = -1, beta = 1 })
end

--- Subtracts what a step gives, and has the panel of the next one factored and moved meanwhile.
local function update(w, s, panel, right, t)
  local ranks = w.group.ranks
  local function rest_of(rank) return (select(2, steps.rest(w.place, s, rank))) end
  if w.pieces[t.home] then subtract(w, s, t.home, panel, right, 0, t.width) end
  local next_panel = begin_panel(w, t)
  ranks:ready()
  for rank in pairs(ranks.devices) do
    if rank ~= t.home then subtract(w, s, rank, panel, right, 0, rest_of(rank)) end
  end
  send_panel(w, t, next_panel)
  if w.pieces[t.home] then subtract(w, s, t.home, panel, right, t.width, rest_of(t.home) - t.width) end
  return next_panel
end

local function finish_step(panel, right)
  for _, of in pairs(right) do of.buffer:release() end
  release_all(panel.views)
  release_all { panel.pivots, panel.diagonal }
end

--- Pivots and diagonals of all panels, from their ranks; raises where one is zero or not finite. They go as bytes,
-- which ranks of MPI need not look through.
local function read_panels(where, f)
  local w, found = f.w, {}
  local device = select(2, next(w.group.ranks.devices))
  local function numbers(bytes, dtype)
    local buffer <close> = device:buffer(bytes, dtype)
    return buffer:read()
  end
  for rank = 1, w.group.ranks.count do
    local bytes = w.group.ranks:from(rank, function()
      return { w.rooms[rank].pivots:string(), w.rooms[rank].diagonal:string() }
    end)
    found[rank] = { numbers(bytes[1], "int"), numbers(bytes[2], w.dtype) }
  end
  for _, s in ipairs(f.steps) do
    local pivots, diagonal = found[s.home][1], found[s.home][2]
    steps.check_diagonal(where, s, table.move(diagonal, s.k + 1, s.e, 1, {}))
    for j = s.k + 1, s.e do f.pivots[j], f.diagonal[j] = s.k + pivots[j] + 1, diagonal[j] end
  end
end

--- Factors a spread matrix in its place, as `elimination.factor` does.
function elimination_row.factor(where, given)
  local ranks, n = given.group.ranks, given.place.rows
  local w = { group = given.group, place = given.place, pieces = given.pieces, dtype = given.dtype, rooms = {},
    steps = {} }
  local f = { w = w, steps = w.steps, pivots = {}, diagonal = {}, kept = { L = {} } }
  for rank, device in pairs(ranks.devices) do w.rooms[rank] = room_of(w, device) end
  local s = steps.at(w, 0)
  local panel = begin_panel(w, s)
  ranks:ready()
  send_panel(w, s, panel)
  while s do
    w.steps[#w.steps + 1] = s
    ranks:arrive(panel.under_way)
    exchange(w, s, panel)
    local t = s.e < n and steps.at(w, s.e)
    local right = t and solve_rows(f, s, panel) or {}
    local next_panel = t and update(w, s, panel, right, t)
    finish_step(panel, right)
    s, panel = t, next_panel
  end
  read_panels(where, f)
  for _, room in pairs(w.rooms) do release_all(room) end
  f.w = given
  return f
end

return elimination_row
