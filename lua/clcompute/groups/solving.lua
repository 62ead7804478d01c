-- SPDX-License-Identifier: MIT

--- Systems of linear equations over the grid: cl.lu and cl.gauss of spread matrices, and how good a solution is.

local arity = require("clcompute.base").arity
local core = require "clcompute.core"
local elementwise = require "clcompute.groups.elementwise"
local elimination = require "clcompute.groups.elimination"
local gathered = require "clcompute.groups.gathered"
local options = require("clcompute.base").options
local product = require "clcompute.groups.product"
local raising = require("clcompute.base").raising
local spread = require "clcompute.groups.spread"
local substitution = require "clcompute.groups.substitution"

local solving = {}

local MAX_RATIO = 30 -- LAPACK's test threshold, as of one device
local MAX_STEPS = 3 -- of refinement
local EPSILON = { float = 2.0 ^ -23, double = 2.0 ^ -52 }
local FORMAT = { float = "f", double = "d" }

local function fail(...) error(string.format(...), 0) end

-- --- arguments ----------------------------------------------------------------------------------------

local function check_square(where, a)
  spread.check(a, where, "a")
  if #a.place.shape ~= 2 or a.place.rows ~= a.place.columns then
    fail("%s: a: square spread matrix expected, got %s", where, table.concat(a.shape, "x"))
  end
  if not EPSILON[a.dtype] then fail("%s: a: float or double expected, got %s", where, a.dtype) end
  return elementwise.settled(a)
end

--- The columns of a right-hand side.
local function check_right(where, b, a)
  spread.check(b, where, "b")
  local shape = b.place.shape
  if b.group ~= a.group or b.dtype ~= a.dtype or #shape > 2 or shape[1] ~= a.place.rows then
    fail("%s: b: %s with %d rows of the same group expected, got %s %s", where, a.dtype, a.place.rows, b.dtype,
      table.concat(shape, "x"))
  end
  return shape[2] or 1
end

-- --- norms --------------------------------------------------------------------------------------------

--- The 1-norm of a matrix, its largest sum of magnitudes of a column; raises where an element is NaN or infinite.
local function norm1(where, a)
  local place = a.place
  local found = a.group.ranks:collect(function(rank)
    local piece = a.pieces[rank]
    if piece.bytes == 0 then return {} end
    local sums = core.asum(piece, { axis = 1 })
    return place.p == 1 and { (core.max(sums)) } or sums:read()
  end)
  local largest = 0.0
  for column = 0, place.q - 1 do
    local sums = {}
    for row = 0, place.p - 1 do
      for j, sum in ipairs(found[place:rank(row, column)]) do sums[j] = (sums[j] or 0.0) + sum end
    end
    for _, sum in ipairs(sums) do
      if sum ~= sum or sum == math.huge then fail("%s: a has an element that is NaN or infinite", where) end
      largest = math.max(largest, sum)
    end
  end
  return largest
end

--- Sums of magnitudes of the columns of packed rows.
local function column_sums(bytes, columns, format)
  local sums, at = {}, 1
  for j = 1, columns do sums[j] = 0.0 end
  while at <= #bytes do
    for j = 1, columns do
      local value
      value, at = string.unpack(format, bytes, at)
      sums[j] = sums[j] + math.abs(value)
    end
  end
  return sums
end

--- b - A x in twice the precision where the devices have it: packed rows of the dtype that is returned.
local function residual(a, bytes, right, columns)
  local g, n = a.group, a.place.rows
  local x, b = g:buffer(bytes, a.dtype, n, columns), g:buffer(right, a.dtype, n, columns)
  if a.dtype == "float" and g.has_double then
    local function wide(value) return elementwise.map("x[i]", { x = value }, { dtype = "double" }) end
    a, x, b = wide(a), wide(x), wide(b)
  end
  product.gemm(a, x, { c = b, alpha = -1, beta = 1 })
  return b:string(), b.dtype
end

--- The largest backward error of a column: |b - A x| / (|A| |x| eps) in the 1-norm.
local function ratio_of(sums, of_x, norm, epsilon)
  local worst = 0.0
  for j, sum in ipairs(sums) do
    local ratio = sum == 0 and 0.0 or sum / norm / of_x[j] / epsilon
    if not (ratio <= worst) then worst = ratio end
    if ratio ~= ratio then return ratio end
  end
  return worst
end

-- --- condition ----------------------------------------------------------------------------------------

local function norm_of(v)
  local sum = 0.0
  for _, value in ipairs(v) do sum = sum + math.abs(value) end
  return sum
end

--- v <- A^-1 v, or A^-T v.
local function apply(f, v, is_transposed)
  local format, pieces = FORMAT[f.w.dtype], {}
  for i, value in ipairs(v) do pieces[i] = string.pack(format, value) end
  local bytes = substitution.solve(f, table.concat(pieces), 1, is_transposed)
  local result, at = {}, 1
  for i = 1, #v do result[i], at = string.unpack(format, bytes, at) end
  return result
end

--- The vector that the walk starts from: an even one, or Higham's, which grows with changing signs, and from which no
-- inverse hides; and the estimate.
local function start(f, n)
  local even, beside = {}, {}
  for i = 1, n do
    even[i] = 1 / n
    beside[i] = (i % 2 == 1 and 1 or -1) * (1 + (i - 1) / math.max(n - 1, 1))
  end
  even, beside = apply(f, even), apply(f, beside)
  local estimate = 2 * norm_of(beside) / (3 * n)
  if estimate ~= estimate or estimate > norm_of(even) then return beside, estimate end
  return even, norm_of(even)
end

--- The signs of a vector, and whether they differ from those before.
local function signs_of(v, before)
  local signs, differ = {}, false
  for i, value in ipairs(v) do
    signs[i] = value < 0 and -1 or 1
    differ = differ or signs[i] ~= before[i]
  end
  return signs, differ
end

local function find_largest(v)
  local at = 1
  for i, value in ipairs(v) do if math.abs(value) > math.abs(v[at]) then at = i end end
  return at
end

local SMALL = 64 -- rows up to which the walk goes on, as that of one device

--- A lower bound of the 1-norm of the inverse (Higham 1988): a walk along the gradient.
local function inverse_norm(f, n)
  local v, estimate = start(f, n)
  local signs, vertex = {}, nil
  if estimate ~= estimate then return math.huge end
  for _ = 1, n <= SMALL and 4 or 1 do
    local differ
    signs, differ = signs_of(v, signs)
    if not differ then break end
    local at = find_largest(apply(f, signs, true))
    if at == vertex then break end
    vertex, v = at, {}
    for i = 1, n do v[i] = i == vertex and 1 or 0 end
    v = apply(f, v)
    local norm = norm_of(v)
    if norm ~= norm then return math.huge end
    if norm <= estimate then break end
    estimate = norm
  end
  return estimate
end

--- The reciprocal condition in the 1-norm.
local function rcond_of(f)
  local n = #f.pivots
  f.rcond = f.rcond or n == 0 and 1.0 or math.min(1.0, 1 / (f.norm * inverse_norm(f, n)))
  return f.rcond
end

-- --- factors ------------------------------------------------------------------------------------------

local Factors = { __name = "clcompute.SpreadFactors", methods = {} }
local methods = Factors.methods

local function factor(where, a)
  local norm = norm1(where, a)
  local f = elimination.factor(where, a:copy())
  f.norm = norm
  return f
end

local function check(self, where)
  if self.is_released then fail("%s: factors are released", where) end
  return self.f
end

function methods:solve(b)
  local f = check(self, "solve")
  local columns = check_right("solve", b, f.w)
  return f.w.group.ranks:together(("solve of %s"):format(spread.words(b)), function()
    local x = spread.empty(f.w.group, f.w.dtype, b.shape)
    if b.bytes > 0 then x:write(substitution.solve(f, b:string(), columns)) end
    return x
  end)
end

function methods:det()
  local f = check(self, "det")
  local product_of = 1.0
  for k, value in ipairs(f.diagonal) do product_of = product_of * (f.pivots[k] == k and value or -value) end
  return product_of
end

function methods:rcond()
  local f = check(self, "rcond")
  return f.w.group.ranks:together(("rcond of %d rows"):format(f.w.place.rows), rcond_of, f)
end

local function release(f)
  f.w:release()
  for _, t in ipairs(f.kept.strides or {}) do
    if t.square then t.square:release() end
    for _, order in pairs(t.orders) do order:release() end
  end
end

function methods:release()
  if not self.is_released then release(self.f) end
  self.is_released = true
  return self
end

Factors.__close = methods.release
Factors.__index = function(self, key)
  if methods[key] then return methods[key] end
  local f = rawget(self, "f")
  local fields = { n = #f.pivots, dtype = f.w.dtype, device = f.w.group }
  if fields[key] ~= nil or key == "is_released" then return fields[key] end
  fail("spread factors have no field '%s'", tostring(key))
end

function Factors.__tostring(self)
  return ("LU factors of a %s matrix %dx%d spread over %d devices"):format(self.dtype, self.n, self.n,
    #self.device)
end

raising.guarded(arity.methods(methods, "SpreadFactors"))

function solving.lu(a)
  a = check_square("lu", a)
  if gathered.suits(a.group, a.place.rows) then return gathered.lu(a) end
  return setmetatable({ f = factor("lu", a) }, Factors)
end

-- --- gauss --------------------------------------------------------------------------------------------

local OPTIONS = { refine = "boolean", rcond = "number" }

--- x + y, packed rows.
local function added(g, dtype, x, y, count)
  local device = select(2, next(g.ranks.devices))
  local sum = core.saxpy(1, device:buffer(x, dtype, count), device:buffer(y, dtype, count))
  return sum:string()
end

--- Packed rows as another dtype.
local function as_dtype(g, bytes, of, dtype, count)
  if of == dtype then return bytes end
  local device = select(2, next(g.ranks.devices))
  return core.map("x[i]", { x = device:buffer(bytes, of, count) }, { dtype = dtype }):string()
end

--- The solution with its backward error, refined where that is asked for or needed.
local function solve_well(name, a, f, right, columns, o)
  local g, epsilon, count = a.group, EPSILON[a.dtype], a.place.rows * columns
  local x, steps = substitution.solve(f, right, columns), 0
  while true do
    local r, of = residual(a, x, right, columns)
    local of_r, of_x = column_sums(r, columns, FORMAT[of]), column_sums(x, columns, FORMAT[a.dtype])
    local worst = ratio_of(of_r, of_x, f.norm, epsilon)
    local wants = o.refine and steps == 0 or o.refine ~= false and not (worst <= MAX_RATIO)
    if not wants or steps == MAX_STEPS then
      if not (worst <= MAX_RATIO) then fail("%s: backward error ratio %g exceeds %d", name, worst, MAX_RATIO) end
      return x, worst, steps
    end
    x = added(g, a.dtype, x, substitution.solve(f, as_dtype(g, r, of, a.dtype, count), columns), count)
    steps = steps + 1
  end
end

local function solve(name, a, b, o)
  o = o and options.check(name, o, OPTIONS) or {}
  a = check_square(name, a)
  local columns = check_right(name, b, a)
  if b.bytes > 0 and gathered.suits(a.group, a.place.rows) then return gathered.solve(name, a, b, o) end
  local x = spread.empty(a.group, a.dtype, b.shape)
  if b.bytes == 0 then return x, { backward_error = 0.0, rcond = 1.0, steps = 0, pivots = {} } end
  local f = factor(name, a)
  local info = { pivots = f.pivots, rcond = rcond_of(f) }
  if info.rcond < (o.rcond or 0) then
    fail("%s: matrix is refused by option 'rcond': rcond = %.3g", name, info.rcond)
  end
  local solution
  solution, info.backward_error, info.steps = solve_well(name, a, f, b:string(), columns, o)
  release(f)
  if info.rcond < EPSILON[a.dtype] then
    info.warning = ("%s: matrix is singular to working precision: rcond = %.3g; the option rcond = %.2g makes "
      .. "that an error"):format(name, info.rcond, 1.05 * EPSILON[a.dtype]) -- not rounded below it
    warn("clcompute: ", info.warning)
  end
  return x:write(solution), info
end

for _, name in ipairs { "gauss", "solve" } do
  solving[name] = function(a, b, o) return solve(name, a, b, o) end
end

return solving
