-- SPDX-License-Identifier: MIT

--- Products of a spread matrix with one of few elements, where the result has few as well: the large matrix stays where
-- it is. Each rank gets what it needs of the small one, and the sums of what ranks find come together at home.
--
--     C = A B        rank (r, c) has rows r and columns c of A, gets rows c of B, and finds a term of rows r of C
--     C = A B        rank (r, c) has rows r and columns c of B, gets columns r of A, finds a term of columns c of C

local core = require "clcompute.core"

local thin_product = {}

--- A rectangle: `count` of the rows (or columns, where it is turned) from `first` on, and `width` of what crosses them.
local function at_of(turned, first) return turned and { 1, first + 1 } or { first + 1, 1 } end
local function size_of(turned, count, width) return turned and { width, count } or { count, width } end

--- What is the same for both forms: A is large, or turned, B is.
-- @treturn table `inner_runs`, `inner_before`, `inner_place`, of the dimension that is summed over, as the large matrix
-- has it; `outer_...`, of the other one; `across`, how many of the small matrix cross them
local function form_of(a, b)
  local is_turned = a.place.is_alone
  local place = (is_turned and b or a).place
  local rows = { runs = function() return place:row_runs(0, place.rows) end, count = place.p,
    before = function(row, at) return place:rows_before(row, at) end,
    of = function(rank) return (place:place(rank)) end }
  local columns = { runs = function() return place:column_runs(0, place.columns) end, count = place.q,
    before = function(column, at) return place:columns_before(column, at) end,
    of = function(rank) return (select(2, place:place(rank))) end }
  return { large = is_turned and b or a, small = is_turned and a or b, is_turned = is_turned,
    inner = is_turned and rows or columns, outer = is_turned and columns or rows,
    across = is_turned and a.place.rows or b.place.columns }
end

--- Ranks that have elements of the large matrix.
local function ranks_of(form)
  local list, place = {}, form.large.place
  for rank = 1, form.large.group.ranks.count do
    local rows, columns = place:extent(rank)
    if rows > 0 and columns > 0 then list[#list + 1] = rank end
  end
  return list
end

--- What each rank needs of the small matrix, on its way.
local function send_parts(form, ranks, list)
  local parts, moves, home = {}, {}, form.small.place.home
  local place, source = form.large.place, form.small.pieces[form.small.place.home]
  for _, rank in ipairs(list) do
    local rows, columns = place:extent(rank)
    local device, inner = ranks.devices[rank], form.is_turned and rows or columns
    parts[rank] = device and device:empty(form.small.dtype, table.unpack(size_of(form.is_turned, inner, form.across)))
    for first, count, at in form.inner.runs() do
      if at == form.inner.of(rank) then
        moves[#moves + 1] = { from = home, source = source, at = at_of(form.is_turned, first), to = rank,
          target = parts[rank], to_at = at_of(form.is_turned, form.inner.before(first, at)),
          size = size_of(form.is_turned, count, form.across) }
      end
    end
  end
  ranks:move_all(moves)
  return parts
end

--- The term that each rank of this process finds.
local function terms_of(form, parts, o)
  local terms, own = {}, { alpha = o.alpha, kernel = o.kernel, precision = o.precision }
  for rank, part in pairs(parts) do
    local piece = form.large.pieces[rank]
    terms[rank] = form.is_turned and core.gemm(part, piece, own) or core.gemm(piece, part, own)
    part:release()
  end
  return terms
end

--- Brings the terms together: a matrix at home for each place along what is summed over, the first one `first`.
local function bring_home(form, ranks, list, terms, home, first)
  local sums, moves = {}, {}
  local device, shape = ranks.devices[home], first and first.shape
  for _, rank in ipairs(list) do
    local place = form.inner.of(rank) + 1
    if device and not sums[place] then
      sums[place] = next(sums) == nil and first or device:empty(form.small.dtype, shape[1], shape[2])
    end
    for start, count, at in form.outer.runs() do
      if at == form.outer.of(rank) then
        moves[#moves + 1] = { from = rank, source = terms[rank],
          at = at_of(form.is_turned, form.outer.before(start, at)), to = home, target = sums[place],
          to_at = at_of(form.is_turned, start), size = size_of(form.is_turned, count, form.across) }
      end
    end
  end
  ranks:move_all(moves)
  for _, term in pairs(terms) do term:release() end
  return sums
end

--- Whether such a product is one of these.
function thin_product.is_one(a, b, c)
  return c.place.is_alone and a.place.is_alone ~= b.place.is_alone and a.place.columns > 0
end

--- c <- alpha * a * b + beta * c; terms are added in the order of the grid.
function thin_product.multiply(a, b, c, o)
  local form, ranks, home = form_of(a, b), c.group.ranks, c.place.home
  local matrix, list, beta = c.pieces[home], ranks_of(form), o.beta or 0
  local terms = terms_of(form, send_parts(form, ranks, list), o)
  local first = beta == 0 and matrix or matrix and matrix.device:empty(c.dtype, c.place.rows, c.place.columns)
  local sums = bring_home(form, ranks, list, terms, home, first)
  if beta ~= 0 and matrix then core.saxpy(beta, matrix, first, { out = matrix }) end
  for place = 1, form.inner.count do
    if sums[place] and sums[place] ~= first then core.saxpy(1, sums[place], matrix, { out = matrix }) end
    if sums[place] and sums[place] ~= matrix then sums[place]:release() end
  end
  return c
end

return thin_product
