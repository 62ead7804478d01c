-- SPDX-License-Identifier: MIT
--- Groups of pretended devices against one device: groups_on_grids.lua what, in a process with POCL_DEVICES="pthread
-- pthread pthread pthread". Prints what is not as on one device.

local cl = require "clcompute"

local devices = cl.devices "portable"
local d = devices[1]
assert(#devices == 4, "four pretended devices expected")

local what = arg[1]
local place

local function check(is_right, ...)
  if not is_right then print(place, ...) end
end

local function same(a, b, ...) check(a == b, a, b, ...) end

--- The same bits.
local function equal(a, b, ...) check(a:string() == b:string(), ...) end

local function largest_difference(a, b)
  local whole = a:copy(d)
  return whole.bytes == 0 and 0 or cl.max(cl.map("fabs(x[i] - y[i])", { x = whole, y = b }))
end

local checks = {}

--- What every rank does for itself, and reductions, of one dimension.
function checks.vectors(g)
  for _, n in ipairs { 0, 1, 3, 17 } do
    local a, x = g:random("float", n, { seed = 3 }), d:random("float", n, { seed = 3 })
    local whole = { x = cl.map("(int)(x[i] * 1000)", { x = a }, { dtype = "int" }) }
    local one = { x = cl.map("(int)(x[i] * 1000)", { x = x }, { dtype = "int" }) }
    equal(a, x, "random", n)
    equal(whole.x, one.x, "map", n)
    equal(cl.saxpy(2, a, a:copy()), cl.saxpy(2, x, x:copy()), "saxpy", n)
    equal(2 * a + a * a, 2 * x + x * x, "operators", n)
    equal(cl.sqrt(cl.maximum(cl.abs(a), 0.25)), cl.sqrt(cl.maximum(cl.abs(x), 0.25)), "functions of elements", n)
    equal(cl.scan("a + b", whole.x), cl.scan("a + b", one.x), "scan", n)
    equal(cl.scan("max(a, b)", whole.x, { exclusive = true, init = 4 }),
      cl.scan("max(a, b)", one.x, { exclusive = true, init = 4 }), "exclusive scan", n)
    same(cl.sum(whole.x), cl.sum(one.x), "sum", n)
    same(cl.dot(whole.x, whole.x), cl.dot(one.x, one.x), "dot", n)
    same(cl.reduce("max(a, b)", whole.x, { init = 7 }), cl.reduce("max(a, b)", one.x, { init = 7 }), "reduce", n)
    check(math.abs(cl.sum(a) - cl.sum(x)) <= n * 2.0 ^ -23 * n, "sum of floats", n)
    check(math.abs(cl.norm2(a) - cl.norm2(x)) <= 1e-5, "norm2", n)
    if n > 0 then
      same(cl.min(a), cl.min(x), "min", n)
      same(cl.argmax(whole.x), cl.argmax(one.x), "argmax", n)
    end
    if n > 3 then
      local inner = a:view(2, n - 1) * a:view(1, n - 2) -- rows that lie differently
      equal(inner, x:view(2, n - 1) * x:view(1, n - 2), "views", n)
      local ties = g:buffer({ 1, 9, 2, 9, 3, 9 }, "int")
      same(cl.argmax(ties), 2, "ties")
      local holes = g:buffer { 5, 0 / 0, 7, 0 / 0 }
      same(cl.argmin(holes), 2, "NaN")
      check(cl.max(holes) ~= cl.max(holes), "NaN")
    end
  end
end

--- Shapes, indices and files of matrices.
function checks.matrices(g)
  local base = os.tmpname()
  local path = base .. ".npy"
  for _, shape in ipairs { { 0, 3 }, { 3, 5 }, { 13, 11 } } do
    local m, n = shape[1], shape[2]
    local a, x = g:random("int", m, n, { seed = 5 }), d:random("int", m, n, { seed = 5 })
    equal(a, x, "random", m, n)
    if m == 13 and #g == 4 then equal(cl.map("x[i] + 3 * i", { x = a }), cl.map("x[i] + 3 * i", { x = x }), "index") end
    equal(cl.transpose(a), cl.transpose(x), "transpose", m, n)
    equal(g:buffer(x), x, "spread", m, n)
    equal(a:copy(d), x, "gather", m, n)
    if m > 0 then
      same(a:save(path), a)
      equal(d:load(path), x, "save", m, n)
      equal(g:load(path), x, "load", m, n)
      same(a:get(m, n), x:get(m, n), "get")
      same(a:set(m, n, 7):get(m, n), 7, "set")
      x:set(m, n, 7)
      local text = tostring(a:read(1, 1)[1][n])
      same(text, tostring(x:read(1, 1)[1][n]), "read")
      equal(a:view(m, m):fill(3) and a, x:fill(3, m, m) and x, "fill a view", m, n)
      equal(a:write(x:view(1, 1), m), x:write(x:view(1, 1):copy(), m), "write", m, n)
    end
    local parts = 0
    for _, part in ipairs(a:parts()) do
      local rows, columns = 0, 0
      for _, r in ipairs(part.rows) do rows = rows + r[2] - r[1] + 1 end
      for _, c in ipairs(part.columns) do columns = columns + c[2] - c[1] + 1 end
      same(rows * columns * 4, part.buffer.bytes, "part", m, n)
      parts = parts + rows * columns
    end
    same(parts, m * n, "parts", m, n)
  end
  os.remove(path)
  os.remove(base)
end

--- Reductions and scans along axes, moments and conditions; exact on small integers.
function checks.axes(g)
  local function both(a, x, call, f)
    local r, q = table.pack(pcall(f, a)), table.pack(pcall(f, x))
    same(r[1], q[1], call)
    for k = 2, r[1] and q.n or 1 do
      if type(q[k]) ~= "userdata" then
        check(r[k] == q[k] or math.abs(r[k] - q[k]) <= 1e-6 * math.abs(q[k]), call, r[k], q[k])
      else
        same(("%s %s"):format(r[k].dtype, table.concat(r[k].shape, "x")),
          ("%s %s"):format(q[k].dtype, table.concat(q[k].shape, "x")), call)
        local bound = 1e-6 * cl.asum(q[k])
        local function real(v) return cl.map("x[i]", { x = v }, { dtype = "float" }) end
        check(largest_difference(real(r[k]), real(q[k])) <= bound, call)
      end
    end
  end
  if #g < 3 and not (g.layout.alone > 0) then return end -- one device's own; parts of 2x2
  for _, shape in ipairs { { 9 }, { 3, 0 }, { 11, 9 }, { 5, 2, 3 } } do
    local x = cl.map("floor(x[i] * 5)", { x = d:random("float", table.unpack(shape)) })
    local a, name = g:buffer(x), table.concat(shape, "x")
    both(a, x, "var " .. name, cl.var)
    both(a, x, "any " .. name, function(v) return cl.any(v) end)
    both(a, x, "all " .. name, function(v) return cl.all(v) end)
    both(a, x, "count " .. name, function(v) return cl.count("x[i] > 1 && i > 2", v) end)
    both(a, x, "scan " .. name, function(v) return cl.scan("a + b", v) end)
    for axis = 1, #shape do
      local o, of = { axis = axis, keep = axis == 2 or nil }, (" %s along %d"):format(name, axis)
      for _, f in ipairs { "sum", "argmin", "mean", "var" } do
        both(a, x, f .. of, function(v) return cl[f](v, o) end)
      end
      both(a, x, "count" .. of, function(v) return cl.count("x[i] > 1 && i > 2", v, o) end)
      both(a, x, "reduce" .. of, function(v)
        return cl.reduce("a + b", { x = v, y = v }, { axis = axis, init = 3, map = "x[i] * y[i] + i" })
      end)
      both(a, x, "scan" .. of, function(v)
        return cl.scan("a + b", v, { axis = axis, exclusive = true, init = 2 })
      end)
      both(a, x, "view" .. of, function(v) return cl.max(v:view(2, #v), { axis = axis }) end)
    end
  end
end

--- Products, exact on small integers; what moved is what theory has.
function checks.products(g)
  for _, shape in ipairs { { 1, 1, 1 }, { 3, 5, 2 }, { 16, 16, 16 }, { 13, 6, 19 }, { 30, 7, 1 }, { 2, 9, 20 },
    { 10, 5, 30 }, { 7, 30, 7 }, { 61, 5, 0 } } do
    local m, k, n = table.unpack(shape)
    local function both(rows, columns, seed)
      local x = cl.map("(float)x[i]", { x = d:random("int", rows, columns, { seed = seed, low = -9, high = 9 }) },
        { dtype = "float" })
      return g:buffer(x), x
    end
    local a, x = both(m, k, 1)
    local b, y = both(k, n, 2)
    local c, z = both(m, n, 3)
    local before = g.bytes
    equal(cl.gemm(a, b), cl.gemm(x, y), "gemm", m, k, n)
    local p, q = g.grid[1], g.grid[2]
    if m == 16 and n == 16 and g.layout.is_even and g.layout.alone == 0 then
      same(g.bytes - before, 4 * 16 * 16 * (p + q - 2), "bytes")
    end
    equal(cl.gemm(a, b, { c = c, alpha = 2, beta = -1 }), cl.gemm(x, y, { c = z, alpha = 2, beta = -1 }), "beta", m)
    equal(cl.gemm(a, b, { c = g:full("float", 0 / 0, m, n) }), cl.gemm(x, y), "beta 0", m)
    equal(cl.gemm(b, a, { transa = true, transb = true }), cl.gemm(y, x, { transa = true, transb = true }), "turned", m)
  end
end

--- Factors: pivots and determinant of one device, a backward error within the bound.
function checks.systems(g)
  for _, n in ipairs { 1, 3, 9, 18, g.grid[1] == 1 and 43 or nil } do
    local x = d:random("float", n, n, { seed = n, low = -1 })
    local a = g:buffer(x)
    for _, columns in ipairs { false, 3 } do
      local y = d:random("float", n * (columns or 1), { seed = 4 })
      if columns then y = y:reshape(n, columns) end
      local b = g:buffer(y)
      local whole, info = cl.gauss(a, b)
      local one, known = cl.gauss(x, y)
      check(info.backward_error <= 30, "backward error", n, info.backward_error)
      same(table.concat(info.pivots, " "), table.concat(known.pivots, " "), "pivots", n)
      check(math.abs(info.rcond - known.rcond) <= 1e-3 * known.rcond, "rcond", n, info.rcond, known.rcond)
      local error_bound = 30 * n * 2.0 ^ -23 / known.rcond * cl.max(cl.map("fabs(x[i])", { x = one }))
      check(largest_difference(whole, one) <= error_bound, "solution", n)
    end
    if n == 9 then
      local b = g:random("float", n, { seed = 4 })
      same(select(2, cl.gauss(a, b, { refine = false })).steps, 0, "steps where refinement is forbidden")
      same(select(2, cl.gauss(a, b, { refine = true })).steps, 1, "steps where one is asked for")
    end
    local factors <close> = cl.lu(a)
    local det = cl.lu(x):det()
    check(math.abs(factors:det() - det) <= 1e-4 * math.abs(det), "det", n)
    same(factors.n, n)
  end
  local ok, message = pcall(cl.lu, g:full("float", 1, 5, 5))
  check(not ok and message:find "matrix is singular: column %d has no pivot", message)
end

--- A group of the first devices, which `alter` may change.
local function check_on(name, grid, o, alter)
  o.grid = grid
  local g = cl.group(table.move(devices, 1, grid[1] * grid[2], 1, {}), o)
  if alter then alter(g) end
  place = ("%s on %dx%d%s:"):format(what, grid[1], grid[2], name)
  checks[what](g)
end

for _, grid in ipairs { { 1, 1 }, { 1, 2 }, { 2, 1 }, { 2, 2 }, { 3, 1 } } do check_on("", grid, { block = 4 }) end
for _, one in ipairs { { 1, 2, { 2, 1 } }, { 2, 1, { 1, 3 } }, { 2, 2, { 4, 2, 2, 1 } }, { 1, 2, { 0, 1 } } } do
  check_on(", shares of " .. table.concat(one[3], ":"), { one[1], one[2] }, { block = 4, share = one[3] })
end
check_on(", strides of GPUs", { 1, 2 }, { block = 4 }, function(g) g.layout.home_type = "gpu" end)
check_on(", matrices alone", { 1, 2 }, {})
check_on(", matrices alone, shared", { 2, 1 }, { share = { 1, 3 } })
for _, one in ipairs { { 2, 2 }, { 1, 2 }, { 3, 1, { 0, 1, 3 } } } do
  check_on(", some matrices alone", { one[1], one[2] }, { block = 4, share = one[3] },
    function(g) g.layout.alone = 60 end)
end
print "done"
