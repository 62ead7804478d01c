-- SPDX-License-Identifier: MIT
--- Matrices that solvers find hard, by class, as LAPACK's tests have them. A row: name; make(n), nested tables; sizes;
-- singular, true or a dtype, where it must be refused or warned of.

local cl = require "clcompute"
local helper = require "spec.helper"
local reference = require "spec.reference"

local systems = {}

--- A number of (-1, 1).
function systems.uniform() return math.random() * 2 - 1 end

local uniform = systems.uniform

--- An n x m table of f(i, j).
function systems.matrix(n, m, f)
  local a = {}
  for i = 1, n do
    a[i] = {}
    for j = 1, m do a[i][j] = f(i, j) end
  end
  return a
end

local matrix = systems.matrix

--- A list of f(i).
function systems.vector(n, f)
  local v = {}
  for i = 1, n do v[i] = f(i) end
  return v
end

--- A buffer of a random matrix that is well conditioned, and what gauss found out of it column by column (for a
-- simulator on a device that computes at speed): of some hundred of floats one is singular to their precision.
function systems.solvable(device, n, dtype)
  local judge = helper.is_simulator(device) and helper.device() or device
  for _ = 1, 5 do
    local rows = matrix(n, n, uniform)
    local a = judge:buffer(rows, dtype)
    local ok, _, info = pcall(cl.gauss, a, judge:zeros(dtype, n), { kernel = "unblocked" })
    if ok and info.rcond > 1e-6 then return judge == device and a or device:buffer(rows, dtype), info end
  end
  error("five random matrices could not be solved with")
end

--- (I - 2uu') a, for a random unit vector u.
local function reflect(a)
  local n = #a
  local u, square = systems.vector(n, uniform), 0
  for i = 1, n do square = square + u[i] ^ 2 end
  for j = 1, n do
    local dot = 0
    for i = 1, n do dot = dot + u[i] * a[i][j] end
    for i = 1, n do a[i][j] = a[i][j] - 2 * dot / square * u[i] end
  end
  return a
end

--- Singular values from 1 down to 1 / cond.
function systems.conditioned(n, cond)
  local a = matrix(n, n, function(i, j) return i == j and cond ^ (-(i - 1) / math.max(1, n - 1)) or 0 end)
  return reflect(reference.transpose(reflect(a)))
end

function systems.hilbert(n)
  return matrix(n, n, function(i, j) return 1 / (i + j - 1) end)
end

--- Partial pivoting doubles the last column at every step (Wilkinson), and no rows are exchanged.
function systems.growing(n)
  return matrix(n, n, function(i, j) return (i == j or j == n) and 1 or i > j and -1 or 0 end)
end

local function conditioned(cond)
  return function(n) return systems.conditioned(n, cond) end
end

local function random(scale)
  return function(n) return matrix(n, n, function() return uniform() * scale end) end
end

local ALL, SMALL = { 1, 2, 3, 7, 16, 17, 33, 50 }, { 4, 8, 12 }

systems.classes = {
  { name = "random", make = random(1), sizes = ALL },
  { name = "graded by rows", sizes = ALL,
    make = function(n) return matrix(n, n, function(i) return uniform() * 10.0 ^ (-i % 13) end) end },
  { name = "graded by columns", sizes = ALL,
    make = function(n) return matrix(n, n, function(_, j) return uniform() * 10.0 ^ (-j % 13) end) end },
  { name = "Hilbert", make = systems.hilbert, sizes = SMALL },
  { name = "Wilkinson's growth", make = systems.growing, sizes = { 20, 60, 100 } },
  { name = "two equal rows", singular = true, sizes = { 2, 10, 33, 60 }, make = function(n)
    local a = random(1)(n)
    a[n] = table.move(a[1], 1, n, 1, {})
    return a
  end },
  { name = "a zero column", singular = true, sizes = { 1, 2, 10, 33, 60 }, make = function(n)
    local a, zero = random(1)(n), math.random(n)
    for i = 1, n do a[i][zero] = 0 end
    return a
  end },
  { name = "rank one", singular = true, sizes = { 2, 10, 33, 60 }, make = function(n)
    local u, v = systems.vector(n, uniform), systems.vector(n, uniform)
    return matrix(n, n, function(i, j) return u[i] * v[j] end)
  end },
  { name = "scaled 1e-30", make = random(1e-30), sizes = ALL },
  { name = "scaled 1e30", make = random(1e30), sizes = ALL },
  { name = "condition 1e3", make = conditioned(1e3), sizes = { 2, 20, 80 } },
  { name = "condition 1e6", make = conditioned(1e6), sizes = { 2, 20, 80 } },
  { name = "condition 1e9", make = conditioned(1e9), singular = "float", sizes = { 20, 80 } },
}

return systems
