-- SPDX-License-Identifier: MIT
--- The tables of Borisov 2015 on this machine: saxpy, the naive and the tiled matrix product,
-- and Gauss elimination, on every OpenCL device and by the sequential program, each result
-- checked. `make run` starts it. Sizes can be given, and
-- seconds of warm runs: tables.lua SAXPY GEMM GAUSS SECONDS

local bench = require "clcompute.bench"
local cl = require "clcompute"
local sequential = require "clcompute.sequential"

local SAXPY_N = tonumber(arg[1]) or 1 << 24
local GEMM_N = tonumber(arg[2]) or 1024
local GAUSS_N = tonumber(arg[3]) or 1000

local SECONDS = tonumber(arg[4]) or 3 -- of warm runs a table and candidate, about
local ROUNDS = 7
local UNIT = 2.0 ^ -24 -- unit roundoff of float

-- Progress -----------------------------------------------------------------------------------

io.stdout:setvbuf("line")

local on_terminal = os.execute "test -t 2"

local function progress(text)
  if on_terminal then io.stderr:write("\r\27[K", text) end
end

-- Measuring ----------------------------------------------------------------------------------

--- The rows of the candidates, which ran in turn, so that all met the same moods of the machine; the
-- last one is the baseline.
local function measure(title, candidates)
  local rows = bench.compare(candidates, {
    seconds = SECONDS, rounds = ROUNDS, peak = false, baseline = candidates[#candidates].name,
    progress = function(state)
      progress(("%s: %s, %s %s"):format(title, state.name, state.stage, state.round or ""))
    end,
  })
  progress("")
  return rows
end

-- Printing -----------------------------------------------------------------------------------

local FORMAT = "  %-20s %-24s %-9s %8s %8s %17s %8s %6s  %s\n"

--- Text cut to a width.
local function cut(text, width)
  return #text <= width and text or text:sub(1, width - 2) .. ".."
end

--- unit: what work / seconds / 1e9 is called. The ratio is how many times as fast as the baseline.
local function print_table(title, rows, unit)
  io.write("\n", title, "\n")
  io.write(FORMAT:format("platform", "device", "method", "cold ms", "warm ms", "quartiles", unit,
    "ratio", "error/bound"))
  for _, row in ipairs(rows) do
    local platform, device, method = cut(row.params.platform, 20), cut(row.device, 24), row.params.method
    if row.status == "ok" then
      io.write(FORMAT:format(platform, device, method, ("%.1f"):format(row.cold * 1e3),
        ("%.2f"):format(row.value), ("%.2f .. %.2f"):format(row.q1, row.q3),
        ("%.2f"):format(row.gflops or row.gbs), row.ratio and ("%.2f"):format(1 / row.ratio) or "",
        ("%.3f ok"):format(row.max_error)))
    else
      io.write(("  %-20s %-24s %-9s WRONG: %s\n"):format(platform, device, method, row.reason))
    end
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
-- the operands, run(operands, variant), result(operands), sequential(), check(result), and `flops` or
-- `bytes`. Also returns the operands, to be released.
local function candidates_for(case)
  local list, all = {}, {}
  local function add(platform, method, candidate)
    candidate.name = ("%s %s"):format(tostring(candidate.device), method)
    candidate.params, candidate.unit = { platform = platform, method = method }, "ms"
    candidate.flops, candidate.bytes = case.flops, case.bytes
    list[#list + 1] = candidate
  end
  for _, device in ipairs(cl.devices()) do
    for _, variant in ipairs(case.variants or { "" }) do
      local operands = case.prepare(device)
      all[#all + 1] = operands
      add(device.platform, variant, {
        device = device,
        fn = function() case.run(operands, variant) end,
        check = function() return case.check(case.result(operands)) end,
      })
    end
  end
  add("-", "", {
    device = "sequential, one core", timed = true, check = case.check,
    fn = function()
      local result, seconds = case.sequential()
      return seconds, result
    end,
  })
  return list, all
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
    bytes = 12 * n,
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
      flops = 2 * n ^ 3,
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
    flops = 2 / 3 * n ^ 3,
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

local function show(title, case, unit)
  local candidates, all = candidates_for(case)
  print_table(title, measure(title, candidates), unit)
  for _, operands in ipairs(all) do
    for _, operand in pairs(operands) do operand:release() end
  end
end

local naive, tiled = gemm_cases(GEMM_N)
show(("Table 1. saxpy, out = 1.5 x + y, %d floats"):format(SAXPY_N), saxpy_case(SAXPY_N), "GB/s")
show(("Table 2. gemm, naive, %d x %d floats"):format(GEMM_N, GEMM_N), naive, "GFLOP/s")
show(("Table 3. gemm, tiles in local memory, %d x %d floats"):format(GEMM_N, GEMM_N), tiled, "GFLOP/s")
show(("Gauss elimination, %d equations, float: Baranov & Vlatskaya 2013 with a fixed and a shrinking "
  .. "range, and with pivoting and checks"):format(GAUSS_N), gauss_case(GAUSS_N), "GFLOP/s")
