-- SPDX-License-Identifier: MIT

--- Products of a spread matrix with one of few elements, where the result has few as well: the large matrix stays where
-- it is. Each rank gets what it needs of the small one, and the sums of what ranks find come together at home.
--
--     A is large: rank (r, c) has rows r and columns c of A, gets rows c of B, and finds a term of rows r of C
--     B is large: rank (r, c) has rows r and columns c of B, gets columns r of A, and finds a term of columns c of C

local core = require "clcompute.core"

local thin_product = {}

--- A dimension of a matrix in blocks, along one of the grid: `parts`, `of(rank)`, the part that a rank has, and
-- `runs(part)`, a list of what the part has: {first, how many, how many before}.
local function dimension(parts, count, of, all, before)
  local function runs(part)
    if parts == 1 then return { { 0, count, 0 } } end
    local list = {}
    for first, n, at in all() do
      if at == part then list[#list + 1] = { first, n, before(first, at) } end
    end
    return list
  end
  return { parts = parts, of = of, runs = runs }
end

--- What is the same for both forms: A is large, or turned, B is.
-- @treturn table `large` and `small`; `inner`, the dimension of the large one that is summed over, `outer`, the other
-- one; `across`, how many of the small matrix cross the sum
local function form_of(a, b)
  local is_turned = a.place.is_alone
  local large, small = is_turned and b or a, is_turned and a or b
  local place = large.place
  local rows = dimension(place.p, place.rows, function(rank) return (place:place(rank)) end,
    function() return place:row_runs(0, place.rows) end, function(row, at) return place:rows_before(row, at) end)
  local columns = dimension(place.q, place.columns, function(rank) return (select(2, place:place(rank))) end,
    function() return place:column_runs(0, place.columns) end,
    function(column, at) return place:columns_before(column, at) end)
  return { large = large, small = small, is_turned = is_turned, inner = is_turned and rows or columns,
    outer = is_turned and columns or rows, across = is_turned and small.place.rows or small.place.columns }
end

--- A place, and a shape, of `n` along the sum or the result, where rows are turned into columns.
local function at_of(form, n) return form.is_turned and { 1, n + 1 } or { n + 1, 1 } end
local function size_of(form, n) return form.is_turned and { form.across, n } or { n, form.across } end

--- Ranks that have elements of the large matrix.
local function ranks_of(form)
  local list = {}
  for rank = 1, form.large.group.ranks.count do
    local rows, columns = form.large.place:extent(rank)
    if rows > 0 and columns > 0 then list[#list + 1] = rank end
  end
  return list
end

--- Copies runs between a matrix and a part of it, both of one device.
local function copy_runs(form, runs, matrix, part, is_to_part)
  for _, run in ipairs(runs) do
    local there, own, size = at_of(form, run[1]), at_of(form, run[3]), size_of(form, run[2])
    if is_to_part then
      matrix:copy_rect { to = part, size = size, at = there, to_at = own }
    else
      part:copy_rect { to = matrix, size = size, at = own, to_at = there }
    end
  end
end

local function release_all(list)
  for _, buffer in pairs(list) do buffer:release() end
end

--- What each rank needs of the small matrix: put together at home, and moved at once.
local function send_parts(form, list)
  local ranks, home = form.large.group.ranks, form.small.place.home
  local parts, beside, moves, device = {}, {}, {}, form.large.group.ranks.devices[home]
  for _, rank in ipairs(list) do
    local rows, columns = form.large.place:extent(rank)
    local size = size_of(form, form.is_turned and rows or columns)
    local own = ranks.devices[rank]
    parts[rank] = own and own:empty(form.small.dtype, size[1], size[2])
    if device then
      beside[rank] = rank ~= home and device:empty(form.small.dtype, size[1], size[2]) or nil
      copy_runs(form, form.inner.runs(form.inner.of(rank)), form.small.pieces[home], beside[rank] or parts[rank], true)
    end
    if rank ~= home then
      moves[#moves + 1] = { from = home, source = beside[rank], at = { 1, 1 }, to = rank, target = parts[rank],
        to_at = { 1, 1 }, size = size }
    end
  end
  ranks:move_all(moves)
  release_all(beside)
  return parts
end

--- The term that each rank of this process finds.
local function terms_of(form, parts, o)
  local terms, own = {}, { alpha = o.alpha, kernel = o.kernel, precision = o.precision }
  for rank, part in pairs(parts) do
    local piece = form.large.pieces[rank]
    terms[rank] = form.is_turned and core.gemm(part, piece, own) or core.gemm(piece, part, own)
  end
  release_all(parts)
  return terms
end

--- Brings the terms home: a list of matrices, one for each part of what is summed over; empty elsewhere.
local function bring_home(form, list, terms, shape)
  local ranks, home = form.large.group.ranks, form.small.place.home
  local beside, moves, device = {}, {}, form.large.group.ranks.devices[home]
  for _, rank in ipairs(list) do
    if rank ~= home then
      local rows, columns = form.large.place:extent(rank)
      local size = size_of(form, form.is_turned and columns or rows)
      beside[rank] = device and device:empty(form.small.dtype, size[1], size[2])
      moves[#moves + 1] = { from = rank, source = terms[rank], at = { 1, 1 }, to = home, target = beside[rank],
        to_at = { 1, 1 }, size = size }
    end
  end
  ranks:move_all(moves)
  local sums = {}
  for part = 0, form.inner.parts - 1 do
    local sum
    for _, rank in ipairs(device and list or {}) do
      if form.inner.of(rank) == part then
        sum = sum or device:empty(form.small.dtype, shape[1], shape[2])
        copy_runs(form, form.outer.runs(form.outer.of(rank)), sum, beside[rank] or terms[rank], false)
      end
    end
    sums[#sums + 1] = sum
  end
  release_all(beside)
  release_all(terms)
  return sums
end

--- Whether a product is one of these.
function thin_product.is_one(a, b, c)
  return c.place.is_alone and a.place.is_alone ~= b.place.is_alone
end

--- c <- alpha * a * b + beta * c; the terms are added in the order of the grid.
function thin_product.multiply(a, b, c, o)
  local form, matrix, beta = form_of(a, b), c.pieces[c.place.home], o.beta or 0
  local list = ranks_of(form)
  local sums = bring_home(form, list, terms_of(form, send_parts(form, list), o), c.place.shape)
  for k = 2, #sums do core.saxpy(1, sums[k], sums[1], { out = sums[1] }) end
  if matrix and beta == 0 then
    sums[1]:copy_rect { to = matrix, size = c.place.shape }
  elseif matrix then
    core.saxpy(beta, matrix, sums[1], { out = matrix })
  end
  release_all(sums)
  return c
end

return thin_product
