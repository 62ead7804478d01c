-- SPDX-License-Identifier: MIT
--- The tables of Borisov 2015 on this machine: saxpy, the naive and the tiled matrix product,
-- and Gauss elimination, on every OpenCL device and by the sequential program, each result
-- checked. `make run` starts it. Sizes can be given, and
-- seconds of warm runs: tables.lua SAXPY GEMM GAUSS SECONDS

local cl = require "clcompute"
local sequential = require "clcompute.sequential"

local SAXPY_N = tonumber(arg[1]) or 1 << 24
local GEMM_N = tonumber(arg[2]) or 1024
local GAUSS_N = tonumber(arg[3]) or 1000

local SECONDS = tonumber(arg[4]) or 3 -- of warm runs a table and candidate, about
local MIN_RUNS, MAX_RUNS = 5, 15
local UNIT = 2.0 ^ -24 -- unit roundoff of float

-- Progress -----------------------------------------------------------------------------------

io.stdout:setvbuf("line")

local on_terminal = os.execute "test -t 2"

local function progress(text)
  if on_terminal then io.stderr:write("\r\27[K", text) end
end

-- Measuring ----------------------------------------------------------------------------------

--- Value at a share of a sorted list.
local function quantile(sorted, share)
  return sorted[math.floor((#sorted - 1) * share + 0.5) + 1]
end

--- Runs the candidates in turn, so that all meet the same moods of the machine. A candidate is
-- {platform=, device=, method=, prepare=function, run=function -> seconds, check=function -> error,
-- release=function}.
local function measure(title, candidates)
  for _, c in ipairs(candidates) do
    progress(("%s: %s, first run"):format(title, c.device))
    c.prepare()
    c.cold = c.run()
    c.error = c.check()
    c.times, c.spent = {}, 0
  end
  for round = 1, MAX_RUNS do
    for _, c in ipairs(candidates) do
      if round <= MIN_RUNS or c.spent < SECONDS then
        progress(("%s: %s %s, run %d"):format(title, c.device, c.method, round))
        local seconds = c.run()
        c.times[#c.times + 1], c.spent = seconds, c.spent + seconds
      end
    end
  end
  for _, c in ipairs(candidates) do
    table.sort(c.times)
    c.median, c.q1, c.q3 = quantile(c.times, 0.5), quantile(c.times, 0.25), quantile(c.times, 0.75)
    c.release()
  end
  progress("")
end

--- Seconds of a call on a device, until its queue is empty.
local function timed(device, call, ...)
  device:wait()
  local start = cl.clock()
  call(...)
  device:wait()
  return cl.clock() - start
end

-- Printing -----------------------------------------------------------------------------------

local FORMAT = "  %-20s %-24s %-9s %8s %8s %17s %8s %6s  %s\n"

--- Text cut to a width.
local function cut(text, width)
  return #text <= width and text or text:sub(1, width - 2) .. ".."
end

--- work: of one run; unit: what work / seconds / 1e9 is called.
local function print_table(title, candidates, work, unit)
  io.write("\n", title, "\n")
  io.write(FORMAT:format("platform", "device", "method", "cold ms", "warm ms", "quartiles", unit,
    "ratio", "error/bound"))
  local baseline = candidates[#candidates].median
  for _, c in ipairs(candidates) do
    io.write(FORMAT:format(cut(c.platform, 20), cut(c.device, 24), c.method,
      ("%.1f"):format(c.cold * 1e3), ("%.2f"):format(c.median * 1e3),
      ("%.2f .. %.2f"):format(c.q1 * 1e3, c.q3 * 1e3), ("%.2f"):format(work / c.median / 1e9),
      ("%.2f"):format(baseline / c.median),
      ("%.3f %s"):format(c.error, c.error <= 1 and "ok" or "WRONG")))
  end
end

-- Checks: the largest error as a share of its bound ------------------------------------------

--- Calls visit(i, value) for each packed float.
local function each_float(bytes, visit)
  for i = 1, #bytes // 4 do visit(i, (string.unpack("f", bytes, 4 * i - 3))) end
end

--- Sums of positive terms: each is off by at most so many roundings, relative to itself. The
-- oracle holds doubles.
local function positive_error(bytes, oracle, roundings)
  local worst = 0
  each_float(bytes, function(i, value)
    local expected = string.unpack("d", oracle, 8 * i - 7)
    local error = math.abs(value - expected) / (roundings * UNIT * expected)
    if not (error <= worst) then worst = error end
  end)
  return worst
end

--- ||A x - b|| / (||A|| ||x|| eps) in the 1-norm, as a share of the 30 that is allowed.
local function solution_error(a, b, x, n)
  local residual, columns, norm_x = {}, {}, 0
  each_float(b, function(i, value) residual[i], columns[i] = -value, 0 end)
  local solution = {}
  each_float(x, function(i, value) solution[i], norm_x = value, norm_x + math.abs(value) end)
  each_float(a, function(at, value)
    local i, j = (at - 1) // n + 1, (at - 1) % n + 1
    residual[i] = residual[i] + value * solution[j]
    columns[j] = columns[j] + math.abs(value)
  end)
  local norm_r, norm_a = 0, 0
  for i = 1, n do
    norm_r, norm_a = norm_r + math.abs(residual[i]), math.max(norm_a, columns[i])
  end
  return norm_r / (norm_a * norm_x * 2 * UNIT) / 30
end

-- Candidates ---------------------------------------------------------------------------------

--- Candidates on every device, then the sequential program. A case has prepare(device), which makes
-- the operands, run(operands, variant), result(operands), sequential() and check(result).
local function candidates_for(case)
  local list = {}
  for _, device in ipairs(cl.devices()) do
    for _, variant in ipairs(case.variants or { "" }) do
      local operands
      list[#list + 1] = {
        platform = device.platform, device = device.name, method = variant,
        prepare = function() operands = case.prepare(device) end,
        run = function() return timed(device, case.run, operands, variant) end,
        check = function() return case.check(case.result(operands)) end,
        release = function()
          for _, operand in pairs(operands) do operand:release() end
        end,
      }
    end
  end
  local result
  list[#list + 1] = {
    platform = "-", device = "sequential, one core", method = "",
    prepare = function() end,
    run = function()
      local seconds
      result, seconds = case.sequential()
      return seconds
    end,
    check = function() return case.check(result) end,
    release = function() end,
  }
  return list
end

local host = cl.device() -- makes the data; the same numbers come on every device

--- n random floats from 0 to 1, packed, and the same as packed doubles.
local function random(seed, n)
  local floats <close> = host:random("float", n, { seed = seed })
  local doubles <close> = host:buffer(floats:read(), "double")
  return floats:string(), doubles:string()
end

-- Table 1: saxpy -----------------------------------------------------------------------------

local function saxpy_case(n)
  local x, x_double = random(1, n)
  local y, y_double = random(2, n)
  local oracle = sequential.saxpy(1.5, x_double, y_double, "double")
  return {
    prepare = function(device)
      return {
        x = device:buffer(x, "float", n), y = device:buffer(y, "float", n),
        out = device:empty("float", n),
      }
    end,
    run = function(o) cl.saxpy(1.5, o.x, o.y, { out = o.out }) end,
    result = function(o) return o.out:string() end,
    sequential = function() return sequential.saxpy(1.5, x, y) end,
    check = function(result) return positive_error(result, oracle, 2) end,
  }
end

-- Tables 2 and 3: gemm -----------------------------------------------------------------------

local function gemm_cases(n)
  local a, a_double = random(3, n * n)
  local b, b_double = random(4, n * n)
  local oracle = sequential.gemm(a_double, b_double, n, n, n, "double")
  local function case(kernel)
    return {
      prepare = function(device)
        return {
          a = device:buffer(a, "float", n, n), b = device:buffer(b, "float", n, n),
          c = device:empty("float", n, n),
        }
      end,
      run = function(o) cl.gemm(o.a, o.b, { c = o.c, kernel = kernel }) end,
      result = function(o) return o.c:string() end,
      sequential = function() return sequential.gemm(a, b, n, n, n) end,
      check = function(result) return positive_error(result, oracle, n + 2) end,
    }
  end
  return case("naive"), case("tiled")
end

-- Gauss --------------------------------------------------------------------------------------

--- A random system that needs no pivoting, since the paper's method has none.
local function dominant_matrix(n, seed)
  local matrix <close> = host:random("float", n, n, { seed = seed, low = -1 })
  for i = 1, n do matrix:set(i, i, n) end
  return matrix:string()
end

local function gauss_case(n)
  local a, b = dominant_matrix(n, 5), random(6, n)
  local options = {
    fixed = { kernel = "paper", range = "fixed" },
    shrinking = { kernel = "paper", range = "shrink" },
    pivoting = { kernel = "unblocked" },
  }
  return {
    variants = { "fixed", "shrinking", "pivoting" },
    prepare = function(device)
      return { a = device:buffer(a, "float", n, n), b = device:buffer(b, "float", n) }
    end,
    run = function(o, variant)
      if o.x then o.x:release() end
      o.x = cl.gauss(o.a, o.b, options[variant])
    end,
    result = function(o) return o.x:string() end,
    sequential = function() return sequential.gauss(a, b, n) end,
    check = function(result) return solution_error(a, b, result, n) end,
  }
end

-- All of it ----------------------------------------------------------------------------------

print("OpenCL devices")
for _, device in ipairs(cl.devices()) do print("  " .. tostring(device)) end
print [[

Each table: the first call with its compile (cold), the median of later ones (warm) and their
quartiles, the rate, how many times the sequential program's, and the largest error found as a
share of what rounding allows.]]

local function show(title, case, work, unit)
  local candidates = candidates_for(case)
  measure(title, candidates)
  print_table(title, candidates, work, unit)
end

local naive, tiled = gemm_cases(GEMM_N)
show(("Table 1. saxpy, out = 1.5 x + y, %d floats"):format(SAXPY_N), saxpy_case(SAXPY_N),
  12 * SAXPY_N, "GB/s")
show(("Table 2. gemm, naive, %d x %d floats"):format(GEMM_N, GEMM_N), naive, 2 * GEMM_N ^ 3, "GFLOP/s")
show(("Table 3. gemm, tiles in local memory, %d x %d floats"):format(GEMM_N, GEMM_N), tiled,
  2 * GEMM_N ^ 3, "GFLOP/s")
show(("Gauss elimination, %d equations, float: Baranov & Vlatskaya 2013 with a fixed and a shrinking "
  .. "range, and with pivoting and checks"):format(GAUSS_N), gauss_case(GAUSS_N),
  2 / 3 * GAUSS_N ^ 3, "GFLOP/s")
