-- SPDX-License-Identifier: MIT

--- Products of spread matrices (SUMMA, van de Geijn & Watts 1997): each rank keeps its part of C. Panel by panel the
-- ranks of a row of the grid get the columns of A that they share, those of a column the rows of B.
--
--     C[r][c] += A[r][panel] * B[panel][c]     for each rank (r, c) and each panel of k
--
-- What moves is 4 n^2 (p + q - 2) bytes for floats, and no more.

local core = require "clcompute.core"
local options = require("clcompute.base").options
local elementwise = require "clcompute.groups.elementwise"
local spread = require "clcompute.groups.spread"
local thin_product = require "clcompute.groups.thin_product"
local whole = require "clcompute.groups.whole"

local product = {}

local PANEL = 1024 -- columns of A that move at a time, at least a block

local function fail(...) error(string.format(...), 0) end

--- A contiguous part of a matrix's memory from a row and column on, in one dimension, as cl.gemm takes a rectangle.
local function from(matrix, row, column)
  local shape = matrix.shape
  local count = shape[1] * shape[2]
  if count == 0 then return matrix:reshape(0) end
  local line <close> = matrix:reshape(count)
  return line:view(math.min(row * shape[2] + column + 1, count), count)
end

--- The panels of A: columns first .. first + width - 1, for each rank of this process {buffer, elements from row to
-- row}. What has to move is added to a list.
local function columns_of(a, first, width, moves)
  local place, panels = a.place, {}
  for rank, device in pairs(a.group.ranks.devices) do
    local rows = place:extent(rank)
    panels[rank] = place.q == 1 and { from(a.pieces[rank], 0, first), place.columns }
      or { device:empty(a.dtype, rows, width), width }
  end
  for column, count, of_column in place:column_runs(first, place.q > 1 and first + width or first) do
    local own = place:columns_before(column, of_column)
    for row = 0, place.p - 1 do
      local owner = place:rank(row, of_column)
      local rows = place:extent(owner)
      for to_column = 0, place.q - 1 do
        local to = place:rank(row, to_column)
        moves[#moves + 1] = { from = owner, source = a.pieces[owner], at = { 1, own + 1 }, to = to,
          target = panels[to] and panels[to][1], to_at = { 1, column - first + 1 }, size = { rows, count } }
      end
    end
  end
  return panels
end

--- The panels of B: rows first .. first + height - 1.
local function rows_of(b, first, height, moves)
  local place, panels = b.place, {}
  for rank, device in pairs(b.group.ranks.devices) do
    local _, columns = place:extent(rank)
    panels[rank] = place.p == 1 and { from(b.pieces[rank], first, 0), columns }
      or { device:empty(b.dtype, height, columns), columns }
  end
  for row, count, of_row in place:row_runs(first, place.p > 1 and first + height or first) do
    local own = place:rows_before(row, of_row)
    for column = 0, place.q - 1 do
      local owner = place:rank(of_row, column)
      local _, width = place:extent(owner)
      for to_row = 0, place.p - 1 do
        local to = place:rank(to_row, column)
        moves[#moves + 1] = { from = owner, source = b.pieces[owner], at = { own + 1, 1 }, to = to,
          target = panels[to] and panels[to][1], to_at = { row - first + 1, 1 }, size = { count, width } }
      end
    end
  end
  return panels
end

--- The panels of a step, on their way: columns of A and rows of B, for each rank of this process.
local function begin_panels(a, b, first, width)
  local moves = {}
  local left = width > 0 and columns_of(a, first, width, moves)
  local right = width > 0 and rows_of(b, first, width, moves)
  return { left = left, right = right, first = first, width = width, under_way = a.group.ranks:begin(moves) }
end

--- Each rank's part of C, with the product of panels that arrived.
local function multiply_panels(c, panels, o)
  local width = panels.width
  for rank, piece in pairs(c.pieces) do
    local m, n = c.place:extent(rank)
    local own = { c = piece, alpha = o.alpha, beta = panels.first > 0 and 1 or o.beta, kernel = o.kernel,
      precision = o.precision, m = m, n = n, k = width }
    local left, right = panels.left and panels.left[rank], panels.right and panels.right[rank]
    if m > 0 and n > 0 and width > 0 then
      own.lda, own.ldb = left[2], right[2]
      core.gemm(left[1], right[1], own)
    elseif m > 0 and n > 0 then
      core.gemm(piece.device:empty(c.dtype, m, 0), piece.device:empty(c.dtype, 0, n), own)
    end
    if left then left[1]:release() end
    if right then right[1]:release() end
  end
end

--- c <- alpha * a * b + beta * c of matrices in blocks. While panels are multiplied the next ones move: they begin
-- before the product is queued, and so do not wait for it.
local function multiply_blocks(a, b, c, o)
  local ranks, inner = c.group.ranks, a.place.columns
  local block = c.place.block
  local step = math.max(1, PANEL // block) * block
  local panels = begin_panels(a, b, 0, math.min(step, inner))
  while panels do
    ranks:arrive(panels.under_way)
    local first = panels.first + step
    local next_panels = first < inner and begin_panels(a, b, first, math.min(step, inner - first))
    multiply_panels(c, panels, o)
    panels = next_panels
  end
  return c
end

--- The same of matrices that are all with one rank.
local function multiply_alone(a, b, c, o)
  local home = c.place.home
  if not c.pieces[home] then return c end
  core.gemm(a.pieces[home], b.pieces[home], { c = c.pieces[home], alpha = o.alpha, beta = o.beta, kernel = o.kernel,
    precision = o.precision })
  return c
end

local function divided(x) return x.place.is_alone and whole.divide(x) or x end

--- c <- alpha * a * b + beta * c of matrices that lie as new ones do. Where some are in blocks the others are divided.
function product.multiply(a, b, c, o)
  if a.place.is_alone and b.place.is_alone and c.place.is_alone then return multiply_alone(a, b, c, o) end
  if thin_product.is_one(a, b, c) then return thin_product.multiply(a, b, c, o) end
  local target = c
  if c.place.is_alone then
    target = (o.beta or 0) ~= 0 and whole.divide(c) or whole.new_divided(c.group, c.dtype, c.place.shape)
  end
  local left, right = divided(a), divided(b)
  multiply_blocks(left, right, target, o)
  if target ~= c then whole.gather(target, c.pieces[c.place.home]) end
  for made, given in pairs { [left] = a, [right] = b, [target] = c } do
    if made ~= given then made:release() end
  end
  return c
end

--- Iterates over parts of a matrix that one rank has, and one rank has of the transpose: row, height, column, width.
local function common_runs(place, turned)
  return coroutine.wrap(function()
    for row, height in place:row_runs(0, place.rows) do
      for of_row, rows in turned:column_runs(row, row + height) do
        for column, width in place:column_runs(0, place.columns) do
          for of_column, columns in turned:row_runs(column, column + width) do
            coroutine.yield(of_row, rows, of_column, columns)
          end
        end
      end
    end
  end)
end

--- The transpose of a spread matrix: each block is turned round where it is, and moves.
function product.transpose(a)
  a = elementwise.settled(a)
  local new = spread.empty(a.group, a.dtype, { a.place.columns, a.place.rows })
  local turned = {}
  for rank, piece in pairs(a.pieces) do
    if piece.bytes > 0 then turned[rank] = core.transpose(piece) end
  end
  for row, height, column, width in common_runs(a.place, new.place) do
    local owner, own_row, own_column = a.place:find(row, column)
    local to, to_row, to_column = new.place:find(column, row)
    a.group.ranks:move(owner, turned[owner], { own_column + 1, own_row + 1 }, to, new.pieces[to],
      { to_row + 1, to_column + 1 }, { width, height })
  end
  return new
end

local OPTIONS = { c = "table", alpha = "number", beta = "number", transa = "boolean", transb = "boolean",
  kernel = "string", precision = "string" }

local function check_matrix(x, name)
  spread.check(x, "gemm", name)
  local shape = x.place.shape
  if #shape == 1 then
    fail("gemm: %s: spread matrix expected, got a vector; g:buffer(x:string(), \"%s\", %d, 1) is x as a column", name,
      x.dtype, shape[1])
  elseif #shape ~= 2 then
    fail("gemm: %s: spread matrix expected, got %s", name, table.concat(shape, "x"))
  end
  return x
end

local function check_result(c, a, b, m, n)
  check_matrix(c, "option 'c'")
  if c.group ~= a.group or c.dtype ~= a.dtype or c.place.rows ~= m or c.place.columns ~= n then
    fail("gemm: option 'c': a %s %dx%d of the same group expected", a.dtype, m, n)
  end
  if c == a or c == b then fail "gemm: option 'c' is an operand too" end
  return c
end

function product.gemm(a, b, o)
  o = o and options.check("gemm", o, OPTIONS) or {}
  check_matrix(a, "a")
  check_matrix(b, "b")
  if a.group ~= b.group or a.dtype ~= b.dtype then fail "gemm: a and b are of different groups or dtypes" end
  if a.dtype ~= "float" and a.dtype ~= "double" then -- as ranks without a part of small ones would not learn
    fail("gemm: float or double buffers expected, got %s", a.dtype)
  end
  if (o.beta or 0) ~= 0 and not o.c then fail "gemm: option 'beta' needs 'c'" end
  a = o.transa and product.transpose(a) or elementwise.settled(a)
  b = o.transb and product.transpose(b) or elementwise.settled(b)
  local m, n = a.place.rows, b.place.columns
  if a.place.columns ~= b.place.rows then
    fail("gemm: inner dimensions differ: a is %dx%d, b is %dx%d", m, a.place.columns, b.place.rows, n)
  end
  local c = o.c and check_result(o.c, a, b, m, n)
  if not c then return product.multiply(a, b, spread.empty(a.group, a.dtype, { m, n }), o) end
  if c.place.is_whole then return product.multiply(a, b, c, o) end
  return c:write(product.multiply(a, b, c:copy(), o))
end

return product
