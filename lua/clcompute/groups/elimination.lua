-- SPDX-License-Identifier: MIT

--- LU factors with partial pivoting of a matrix in blocks on a grid of ranks, of several rows.
--
--          k         e            The panel, columns k .. e - 1 from row k on, goes to the rank of its diagonal block,
--      +---+---------+-------+    is factored there, and comes back. Its exchanges of rows are repeated in all columns.
--      |   | \   U   |   U   | k  The ranks that have rows k .. e - 1 solve with the triangle. Then multipliers go
--      |   |  L      +-------+ e  along the rows of the grid, rows of U along its columns, and each rank subtracts
--      |   |         |   C   |    their product from its part of C.
--      +---+---------+-------+
--
-- The columns of the next panel come first (look-ahead): that is factored while the other ranks subtract the rest.

local core = require "clcompute.core"
local elimination_row = require "clcompute.groups.elimination_row"
local internal = require "clcompute.core.internal"
local steps = require "clcompute.groups.steps"

local elimination = {}

local from = steps.from

--- Blocks of rows from row k on, by the row of the grid that has them.
local function rows_by_rank(place, k)
  local blocks = {}
  for row, count, at in place:row_runs(k, place.rows) do
    blocks[at] = blocks[at] or {}
    table.insert(blocks[at], { row = row, count = count })
  end
  return blocks
end

--- Moves the panel of a step to the rank of its diagonal block, or back: what each rank has of it at once.
local function move_panel(w, s, panel, is_back)
  local place, ranks = w.place, w.group.ranks
  local blocks = rows_by_rank(place, s.k)
  for at = 0, place.p - 1 do
    local rank = place:rank(at, s.column)
    local first = place:rows_before(s.k, at)
    local count = place:rows_before(place.rows, at) - first
    local size = { count, s.width }
    local is_own = rank == s.home
    local home = ranks.devices[s.home]
    local beside = home and not is_own and count > 0 and home:empty(w.dtype, count, s.width) or nil
    local function copy_blocks(from_panel)
      local piece, before = beside or w.pieces[rank], beside and first or 0
      for _, block in ipairs(home and blocks[at] or {}) do
        local own = place:rows_before(block.row, at) - before
        local in_panel, there = { block.row - s.k + 1, 1 }, { own + 1, beside and 1 or s.own_column + 1 }
        local part = { block.count, s.width }
        if from_panel then
          panel:copy_rect { to = piece, size = part, at = in_panel, to_at = there }
        else
          piece:copy_rect { to = panel, size = part, at = there, to_at = in_panel }
        end
      end
    end
    local in_matrix = { first + 1, s.own_column + 1 }
    if is_back then
      copy_blocks(true)
      if not is_own then ranks:move(s.home, beside, { 1, 1 }, rank, w.pieces[rank], in_matrix, size) end
    else
      if not is_own then ranks:move(rank, w.pieces[rank], in_matrix, s.home, beside, { 1, 1 }, size) end
      copy_blocks(false)
    end
    if beside then beside:release() end
  end
end

--- Queues the factorization of the panel where it is.
local function queue_panel(w, s, panel)
  if not panel then return nil end
  local device = panel.device
  local queued = { pivots = device:empty("int", s.width), diagonal = device:empty(w.dtype, s.width) }
  internal.panel(panel, w.place.rows - s.k, s.width, queued.pivots, queued.diagonal)
  return queued
end

--- Pivots, from 0 within the panel, and the diagonal, to all ranks.
local function read_panel(w, s, queued)
  return w.group.ranks:from(s.home, function() return { queued.pivots:read(), queued.diagonal:read() } end)
end

--- Which row comes to which place by the exchanges of a panel: {place, row} of those that move.
local function moves_of(s, pivots)
  local at, touched = {}, {}
  local function row_at(i)
    if not at[i] then
      at[i] = i
      touched[#touched + 1] = i
    end
    return at[i]
  end
  for j, pivot in ipairs(pivots) do
    local i, p = s.k + j - 1, s.k + pivot
    at[i], at[p] = row_at(p), row_at(i)
  end
  local moves = {}
  for _, i in ipairs(touched) do
    if at[i] ~= i then moves[#moves + 1] = { i, at[i] } end
  end
  return moves
end

--- Queues copies of rows by a list, as `steps.copy_rows` takes it in a buffer.
local function copy_listed(source, target, list)
  local order <close> = target.device:buffer(list, "int")
  steps.copy_rows(source, target, order, #list // 2)
end

--- The rows that go from place to place of a column of the grid: lists of their own rows there, by both.
local function routes_of(place, moves)
  local routes = {}
  for at = 0, place.p - 1 do routes[at] = {} end
  for _, move in ipairs(moves) do
    local to, own_to = place:find(move[1], 0)
    local from_rank, own = place:find(move[2], 0)
    to, from_rank = (to - 1) // place.q, (from_rank - 1) // place.q
    local route = routes[from_rank][to] or { gather = {}, scatter = {} }
    routes[from_rank][to] = route
    local k = #route.gather
    route.gather[k + 1], route.gather[k + 2], route.scatter[k + 1], route.scatter[k + 2] = own, k // 2, k // 2, own_to
  end
  return routes
end

--- Exchanges rows in all columns: those that go from one rank to one rank are gathered, move at once and are put into
-- place when all are.
local function exchange(w, moves)
  local place, ranks = w.place, w.group.ranks
  local routes, arrived = routes_of(place, moves), {}
  local function each(visit)
    for column = 0, place.q - 1 do
      for source = 0, place.p - 1 do
        for to = 0, place.p - 1 do
          local route = routes[source][to]
          if route then visit(route, place:rank(source, column), place:rank(to, column)) end
        end
      end
    end
  end
  local list = {}
  each(function(route, source, to)
    local count, device = #route.gather // 2, ranks.devices[source]
    local _, width = place:extent(source)
    local rows = device and device:empty(w.dtype, count, width)
    if rows then copy_listed(w.pieces[source], rows, route.gather) end
    local there = rows
    if source ~= to then
      there = ranks.devices[to] and ranks.devices[to]:empty(w.dtype, count, width)
      list[#list + 1] = { from = source, source = rows, at = { 1, 1 }, to = to, target = there, to_at = { 1, 1 },
        size = { count, width } }
    end
    if there and ranks.devices[to] then arrived[#arrived + 1] = { route = route, rank = to, rows = there } end
  end)
  ranks:move_all(list)
  for _, move in ipairs(list) do if move.source then move.source:release() end end
  for _, one in ipairs(arrived) do
    copy_listed(one.rows, w.pieces[one.rank], one.route.scatter)
    one.rows:release()
  end
end

--- Where multipliers and the triangle of the panel arrive: buffers by rank, of this process.
local function landing_of(w, s)
  local place, landing = w.place, { left = {}, triangles = {} }
  for rank, device in pairs(w.group.ranks.devices) do
    local rows, columns = steps.rest(place, s, rank)
    if columns > 0 then
      landing.left[rank] = device:empty(w.dtype, rows, s.width)
      if place:place(rank) == s.row then landing.triangles[rank] = device:empty(w.dtype, s.width, s.width) end
    end
  end
  return landing
end

--- Moves multipliers along the rows of the grid, and the triangle along its own.
local function send_panel(w, s, landing)
  local place, ranks, list = w.place, w.group.ranks, {}
  for rank = 1, ranks.count do
    local rows, columns, r = steps.rest(place, s, rank)
    local row, column = place:place(rank)
    local beside = place:rank(row, s.column)
    if columns > 0 then
      list[#list + 1] = { from = beside, source = w.pieces[beside], to = rank, at = { r + 1, s.own_column + 1 },
        target = landing.left[rank], to_at = { 1, 1 }, size = { rows, s.width } }
    end
    if columns > 0 and row == s.row then
      list[#list + 1] = { from = s.home, source = w.pieces[s.home], at = { s.own_row + 1, s.own_column + 1 },
        to = place:rank(s.row, column), target = landing.triangles[rank], to_at = { 1, 1 },
        size = { s.width, s.width } }
    end
  end
  ranks:move_all(list)
end

--- Rows k .. e - 1 right of the panel become those of U, on the ranks that have them. What solves with the triangle is
-- kept where the block is.
local function solve_rows(f, s, landing)
  local w = f.w
  for rank, triangle in pairs(landing.triangles) do
    local _, columns, _, first = steps.rest(w.place, s, rank)
    local rows, _, _, factors = steps.solve_rows(triangle, w.pieces[rank], s, first, columns)
    rows:release()
    triangle:release()
    if rank == s.home then f.kept.L[s] = factors end
  end
end

--- Moves rows of U along the columns of the grid; returns them by rank.
local function send_rows(w, s)
  local place, ranks, right, list = w.place, w.group.ranks, {}, {}
  for rank = 1, ranks.count do
    local rows, columns, _, c = steps.rest(place, s, rank)
    local _, column = place:place(rank)
    local above, device = place:rank(s.row, column), ranks.devices[rank]
    if rows > 0 and columns > 0 then
      right[rank] = device and device:empty(w.dtype, s.width, columns)
      list[#list + 1] = { from = above, source = w.pieces[above], at = { s.own_row + 1, c + 1 }, to = rank,
        target = right[rank], to_at = { 1, 1 }, size = { s.width, columns } }
    end
  end
  ranks:move_all(list)
  return right
end

--- What a rank has right below of the panel, less the product of multipliers and rows of U: of those of its columns
-- there that lie behind the first `before`, `count` of them.
local function subtract(w, s, rank, landing, right, before, count)
  local rows, columns, r, c = steps.rest(w.place, s, rank)
  local piece = w.pieces[rank]
  if not right[rank] or count <= 0 then return end
  core.gemm(landing.left[rank], from(right[rank], 0, before), { c = from(piece, r, c + before), ldc = piece.shape[2],
    m = rows, n = count, k = s.width, lda = s.width, ldb = columns, alpha = -1, beta = 1 })
end

--- The panel of a step: rows and columns that are there, and zeros around them.
local function panel_of(w, s)
  local device = w.group.ranks.devices[s.home]
  if not device then return nil end
  local rows, row = internal.panel_room(device:empty(w.dtype, 0), w.place.rows - s.k, s.width)
  return device:zeros(w.dtype, rows, row)
end

--- The panel of a step, on its way to be factored.
local function begin_panel(w, s)
  local panel = panel_of(w, s)
  move_panel(w, s, panel, false)
  return { buffer = panel, queued = queue_panel(w, s, panel), landing = landing_of(w, s) }
end

--- Its pivots and diagonal, once it is factored.
local function finish_panel(where, w, s, panel)
  local found = read_panel(w, s, panel.queued)
  steps.check_diagonal(where, s, found[2])
  panel.pivots, panel.diagonal, panel.moves = found[1], found[2], moves_of(s, found[1])
end

--- Subtracts what a step gives, and factors the panel of the next one meanwhile.
local function update(where, w, s, panel, right, t)
  local place, ranks = w.place, w.group.ranks
  local function each(visit) -- ranks, with the columns that the next panel has there
    for rank in pairs(ranks.devices) do
      local _, columns = steps.rest(place, s, rank)
      local _, column = place:place(rank)
      visit(rank, column == t.column and t.width or 0, columns)
    end
  end
  each(function(rank, of_next) subtract(w, s, rank, panel.landing, right, 0, of_next) end)
  local next_panel = begin_panel(w, t)
  each(function(rank, of_next, columns)
    if of_next == 0 then subtract(w, s, rank, panel.landing, right, 0, columns) end
  end)
  finish_panel(where, w, t, next_panel)
  each(function(rank, of_next, columns)
    if of_next > 0 then subtract(w, s, rank, panel.landing, right, of_next, columns - of_next) end
  end)
  return next_panel
end

local function release_all(...)
  for _, list in ipairs { ... } do for _, buffer in pairs(list) do buffer:release() end end
end

--- Of a grid of several rows.
local function factor(where, w)
  local n = w.place.rows
  local f = { w = w, steps = {}, pivots = {}, diagonal = {}, kept = { L = {} } }
  local s = steps.at(w, 0)
  local panel = begin_panel(w, s)
  finish_panel(where, w, s, panel)
  while s do
    exchange(w, panel.moves)
    move_panel(w, s, panel.buffer, true)
    for j = 1, s.width do
      f.pivots[s.k + j], f.diagonal[s.k + j] = s.k + panel.pivots[j] + 1, panel.diagonal[j]
    end
    f.steps[#f.steps + 1] = s
    local t, next_panel = s.e < n and steps.at(w, s.e), nil
    if t then
      send_panel(w, s, panel.landing)
      solve_rows(f, s, panel.landing)
      local right = send_rows(w, s)
      next_panel = update(where, w, s, panel, right, t)
      release_all(right)
    end
    release_all(panel.landing.left, { panel.buffer })
    s, panel = t, next_panel
  end
  return f
end

--- Factors a spread matrix in its place. What is raised begins with `where`.
-- @treturn table {w=, steps=, pivots= (row i was exchanged with pivots[i], from 1), diagonal=}
function elimination.factor(where, w)
  if w.place.rows == 0 then return { w = w, steps = {}, pivots = {}, diagonal = {}, kept = { L = {} } } end
  return (w.place.p == 1 and elimination_row.factor or factor)(where, w)
end

return elimination
