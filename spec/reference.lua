-- SPDX-License-Identifier: MIT
--- Slow, obvious versions of the operations, in Lua's doubles on nested tables.

local reference = {}

function reference.saxpy(alpha, x, y)
  local out = {}
  for i = 1, #x do out[i] = alpha * x[i] + y[i] end
  return out
end

--- Adds to a sum and what it has lost (Neumaier's).
local function add(sum, lost, v)
  local t = sum + v
  if math.type(v) == "integer" then return t, lost end
  return t, lost + (math.abs(sum) >= math.abs(v) and (sum - t) + v or (v - t) + sum)
end

--- The sum, exact to double's digits, and that of the magnitudes.
function reference.sum(list)
  local sum, lost, magnitude, lost_there = 0, 0, 0, 0
  for _, v in ipairs(list) do
    sum, lost = add(sum, lost, v)
    magnitude, lost_there = add(magnitude, lost_there, math.abs(v))
  end
  return sum + lost, magnitude + lost_there
end

--- The first index of the element that comes before all others, and the element.
local function first_of(list, before)
  local place = 1
  for i, v in ipairs(list) do
    if before(v, list[place]) then place = i end
  end
  return place, list[place]
end

function reference.argmin(list)
  return first_of(list, function(v, least) return v < least end)
end

function reference.argmax(list)
  return first_of(list, function(v, largest) return v > largest end)
end

--- The places of elements in stable order, NaN last.
function reference.order(list, descending, less)
  less = less or function(a, b) return a < b end
  local places = {}
  for i = 1, #list do places[i] = i end
  table.sort(places, function(i, j)
    local a, b = list[i], list[j]
    if a ~= a or b ~= b then return a == a or a ~= a and b ~= b and i < j end
    if less(a, b) then return not descending end
    if less(b, a) then return descending end
    return i < j
  end)
  return places
end

function reference.transpose(a)
  local t = {}
  for j = 1, a[1] and #a[1] or 0 do
    t[j] = {}
    for i = 1, #a do t[j][i] = a[i][j] end
  end
  return t
end

--- A * B, and with `magnitude` |A| * |B|, which bounds the error.
function reference.gemm(a, b, magnitude)
  local size = magnitude and math.abs or function(v) return v end
  local c = {}
  for i = 1, #a do
    c[i] = {}
    for j = 1, b[1] and #b[1] or 0 do
      local sum = 0.0
      for k = 1, #b do sum = sum + size(a[i][k] * b[k][j]) end
      c[i][j] = sum
    end
  end
  return c
end

local function norm1(x)
  local sum = 0
  for _, v in ipairs(x) do sum = sum + math.abs(v) end
  return sum
end

local function matrix_norm1(a)
  local largest = 0
  for j = 1, #a[1] do
    local column = {}
    for i = 1, #a do column[i] = a[i][j] end
    largest = math.max(largest, norm1(column))
  end
  return largest
end

--- ||A x - b|| / (||A|| ||x|| eps) in the 1-norm, for vectors x and b.
function reference.ratio(a, x, b, eps)
  local residual = {}
  for i = 1, #a do
    local sum = -b[i]
    for j = 1, #x do sum = sum + a[i][j] * x[j] end
    residual[i] = sum
  end
  local error = norm1(residual)
  return error == 0 and 0 or error / (matrix_norm1(a) * norm1(x) * eps)
end

--- The inverse by Gauss-Jordan elimination with partial pivoting.
local function inverse(a)
  local n, w = #a, {}
  for i = 1, n do
    w[i] = table.move(a[i], 1, n, 1, {})
    for j = 1, n do w[i][n + j] = i == j and 1 or 0 end
  end
  for k = 1, n do
    local p = k
    for i = k + 1, n do if math.abs(w[i][k]) > math.abs(w[p][k]) then p = i end end
    w[k], w[p] = w[p], w[k]
    for j = 2 * n, k, -1 do w[k][j] = w[k][j] / w[k][k] end
    for i = 1, n do
      if i ~= k then for j = 2 * n, k, -1 do w[i][j] = w[i][j] - w[i][k] * w[k][j] end end
    end
  end
  for i = 1, n do w[i] = table.move(w[i], n + 1, 2 * n, 1, {}) end
  return w
end

--- Reciprocal condition number in the 1-norm, for what doubles can invert.
function reference.rcond(a) return 1 / (matrix_norm1(a) * matrix_norm1(inverse(a))) end

--- The next generation of a cube of n x n x n cells, a list with dimension 0 along a row.
function reference.life(cells, n)
  local function alive(x, y, z) return cells[(z % n * n + y % n) * n + x % n + 1] == 1 and 1 or 0 end
  local next_cells = {}
  for z = 0, n - 1 do
    for y = 0, n - 1 do
      for x = 0, n - 1 do
        local neighbours = -alive(x, y, z)
        for k = -1, 1 do
          for j = -1, 1 do for i = -1, 1 do neighbours = neighbours + alive(x + i, y + j, z + k) end end
        end
        local lives = neighbours == 5 or neighbours == 4 and alive(x, y, z) == 1
        next_cells[#next_cells + 1] = lives and 1 or 0
      end
    end
  end
  return next_cells
end

--- Philox 4x32-10: the four words that a counter of four and a key of two give.
function reference.philox(counter, key)
  local a, b, c, d = table.unpack(counter)
  local low_key, high_key = table.unpack(key)
  for _ = 1, 10 do
    local p, q = 0xd2511f53 * a, 0xcd9e8d57 * c
    a, b, c, d = q >> 32 ~ b ~ low_key, q & 0xffffffff, p >> 32 ~ d ~ high_key, p & 0xffffffff
    low_key, high_key = low_key + 0x9e3779b9 & 0xffffffff, high_key + 0xbb67ae85 & 0xffffffff
  end
  return a, b, c, d
end

--- The words 0 .. n - 1 that a seed gives, from block `first` on.
function reference.random_words(seed, n, first)
  local words = {}
  for block = first or 0, (first or 0) + (n - 1) // 4 do
    table.move({ reference.philox({ block & 0xffffffff, block >> 32, 0, 0 }, { seed & 0xffffffff, seed >> 32 }) }, 1, 4,
      #words + 1, words)
  end
  return words
end

return reference
