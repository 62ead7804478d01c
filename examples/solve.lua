-- SPDX-License-Identifier: MIT
--- Linear equations: the parabola through three points, and a system that has no answer.

local cl = require "clcompute"
local device = cl.device()

-- a + b t + c t^2 passes through (1, 6), (2, 11), (3, 18)
local a = device:buffer { { 1, 1, 1 }, { 1, 2, 4 }, { 1, 3, 9 } }
local b = device:buffer { 6, 11, 18 }
local x, info = cl.gauss(a, b)

print(("a = %.4f, b = %.4f, c = %.4f"):format(table.unpack(x:read())))
print(("condition number about %.0f, backward error ratio %.2f (at most 30 is good)"):format(
  1 / info.rcond, info.backward_error))

-- Bad input is an error with a reason, never a wrong answer.
local singular = device:buffer { { 1, 2, 3 }, { 2, 4, 6 }, { 1, 0, 1 } }
print(select(2, pcall(cl.gauss, singular, b)))

-- Many right-hand sides at once, in double precision where the device has it.
if device.has_double then
  local n, columns = 200, 5
  local m = device:random("double", n, n, { seed = 1, low = -1 })
  local rhs = device:random("double", n, columns, { seed = 2 })
  local solutions, found = cl.gauss(m, rhs)
  local product = cl.gemm(m, solutions):read()
  local largest = 0
  for i, row in ipairs(rhs:read()) do
    for j, v in ipairs(row) do largest = math.max(largest, math.abs(v - product[i][j])) end
  end
  print(("%d equations, %d right-hand sides: A x and b differ by at most %.1e (ratio %.2f)"):format(
    n, columns, largest, found.backward_error))
end
