-- SPDX-License-Identifier: MIT
-- luacheck: ignore 421 422 423 -- names may hide others: so they do here
--- Nests in the subset of clcompute.loops, shaped like those of PolyKernels and with what else Lua allows: each has a
-- function and the letters of its parameters: m, v and w for a matrix, a vector and an integer vector, n for the size.

local exp, floor, m = math.exp, math.floor, math
local weight = 0.25

local function square(x) return x * x end
local average = function(x, y) return (x + y) * weight end
local function element(A, i, j) return A[i][j] end

local nests = {}

local function nest(name, letters, fn)
  nests[#nests + 1] = { name = name, letters = letters, fn = fn }
end

nest("mmm", "mmmn", function(A, B, C, n)
  for i = 1, n do for j = 1, n do
    local s = 0.0
    for k = 1, n do s = s + A[i][k] * B[k][j] end
    C[i][j] = s
  end end
end)

nest("jac2d", "mmn", function(a, b, n)
  for _ = 1, 3 do
    for i = 2, n - 1 do
      for j = 2, n - 1 do b[i][j] = 0.2 * (a[i][j] + a[i][j - 1] + a[i][j + 1] + a[i - 1][j] + a[i + 1][j]) end
    end
    for i = 2, n - 1 do for j = 2, n - 1 do a[i][j] = b[i][j] end end
  end
end)

nest("adi", "mmmn", function(X, A, B, n)
  for _ = 1, 2 do
    for i = 1, n do for j = 2, n do
      X[i][j] = X[i][j] - X[i][j - 1] * A[i][j] / (B[i][j - 1] + 9.0)
      B[i][j] = B[i][j] - A[i][j] * A[i][j] / (B[i][j - 1] + 9.0)
    end end
    for j = 1, n do for i = n, 2, -1 do X[i - 1][j] = X[i - 1][j] - X[i][j] * A[i][j] end end
  end
end)

nest("fdtd1d", "vvn", function(e, h, n)
  for _ = 1, 4 do
    for i = 2, n do e[i] = e[i] - 0.5 * (h[i] - h[i - 1]) end
    for i = 1, n - 1 do h[i] = h[i] - 0.7 * (e[i + 1] - e[i]) end
  end
end)

nest("gs", "mn", function(a, n)
  for _ = 0, 1 do for i = 2, n - 1 do for j = 2, n - 1 do
    a[i][j] = (a[i - 1][j] + a[i][j - 1] + a[i][j] + a[i][j + 1] + a[i + 1][j]) / 5
  end end end
end)

nest("gemver", "mvvvn", function(B, u, v, x, n)
  for i = 1, n do for j = 1, n do B[i][j] = B[i][j] + u[i] * v[j] end end
  for i = 1, n do for j = 1, n do x[i] = x[i] + 0.5 * B[j][i] * u[j] end end
end)

nest("lud", "mn", function(a, n)
  for k = 1, n do
    for j = k + 1, n do a[k][j] = a[k][j] / (a[k][k] + 2) end
    for i = k + 1, n do for j = k + 1, n do a[i][j] = a[i][j] - a[i][k] * a[k][j] end end
  end
end)

nest("ssymm", "mmmn", function(a, b, c, n)
  for i = 1, n do for j = 1, n do
    for k = 1, j - 2 do
      c[i][k] = c[i][k] + a[j][k] * b[i][j]
      c[i][j] = c[i][j] + b[i][j] * a[j][k]
    end
  end end
end)

nest("strsm", "mmn", function(a, b, n)
  for i = 1, n do for j = 1, n do for k = i + 1, n do
    if k == i + 1 then b[j][i] = b[j][i] / (a[i][i] + 3) end
    b[j][k] = b[j][k] - a[i][k] * b[j][i]
  end end end
end)

nest("trisolv", "mmn", function(A, B, n)
  for i = 1, n do
    for j = 1, n do
      for k = 1, j - 1 do B[j][i] = B[j][i] - A[j][k] * B[k][i] end
      B[j][i] = B[j][i] / (A[j][j] + 4)
    end
  end
end)

nest("shadows and blocks", "vn", function(x, n)
  local i = 1
  local k = i
  for i = i, n do
    local i = i + 1
    do
      local i, j = i * 2, i;
      x[j - 1] = x[j - 1] + i
    end
  end
  k = k + 1
  local x1, y = x[1] * k, -(-2 ^ -2) ^ 2
  do local y = y + x1 x[1] = y end
  return
end)

nest("integers", "wwn", function(u, v, n)
  for i = n, 1, -3 do
    u[i] = (u[i] << 3 ~ v[i]) & 0xFF | ~i >> 60
    v[i] = u[i] // 7 % 5 - (-u[i]) // (i + 1) - (u[i] - 5) % -3
  end
end)

nest("conditions", "vvn", function(x, y, n)
  for i = 1, n do
    local is_large = x[i] > 0.5
    if is_large and i % 2 == 0 then
      y[i] = not is_large and 1 or 2
    elseif x[i] < 0.25 or not (i ~= n // 2 or x[i] == y[i]) then
      y[i] = (x[i] > 0.1 and x[i] or x[i] > 0.05 and 7) or -1
    else
      local s = 0
      for j = i, n, 2 do s = s + x[j] end
      y[i] = s
    end
  end
end)

nest("functions", "vmn", function(x, A, n)
  local cube = function(t) return square(t) * t end
  local sin = math.sin
  for i = 1, #x do
    x[i] = m.max(cube(x[i]), average(x[i], 1), sin(i)) + exp(-square(i)) - floor(x[i] * 3.7)
    for j = 1, #A[1] do x[i] = m.fmod(x[i], 2.5) + element(A, j, i) * n - math.abs(m.min(j - 3, 2)) / m.pi end
  end
end)

nest("the last elements", "vmn", function(x, A, n)
  for i = 1, n do A[i][#A[1]] = x[#x] * i end
  x[#x] = A[#A][#A[1] - 1]
end)

nest("divided subscripts", "vvn", function(x, y, n)
  local half = n // 2
  for i = 1, half do y[(i + 1) // 2] = x[i * 2 - 1 + i % 2 + (i - i) // 4] + x[half - i + 1] end
end)

return nests
