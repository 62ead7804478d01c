-- SPDX-License-Identifier: MIT
--- An isolated device survives kernels that crash or never end; what that costs.
-- Usage: isolation.lua [rounds]. Launches on both kinds of device take turns; the table shows medians.

local cl = require "clcompute"

local ROUNDS = tonumber(arg[1]) or 301
local GROUP = 256

local SOURCE = [[
  kernel void axpy(float a, global const float *x, global float *y) {
    int i = get_global_id(0);
    y[i] += a * x[i];
  }
  kernel void far(global float *x) { x[get_global_id(0) + (1L << 40)] = 2; }
  kernel void endless(global float *x) { volatile int go = 1; while (go) x[0] += 1; }
]]

local plain, isolated = cl.device "cpu", cl.device("cpu", { isolated = true, limit = 0.5 })

-- --- faults --------------------------------------------------------------------

local program = isolated:program(SOURCE)
local x, y = isolated:buffer { 1, 2, 3 }, isolated:buffer { 4, 5, 6 }
program.axpy(3, 0, x, y) -- compiles it
for _, name in ipairs { "far", "endless" } do
  local _, message = pcall(program[name], 1, x)
  print(message)
  local start = cl.clock()
  program.axpy(3, 1, y, y)
  print(("the next launch took %.0f ms, y is %s"):format((cl.clock() - start) * 1e3, table.concat(y:read(), " ")))
end

-- --- costs ---------------------------------------------------------------------

isolated = cl.device("cpu", { isolated = true, limit = 60 })

local function median(list)
  table.sort(list)
  return list[(#list + 1) // 2]
end

--- A function for each device that launches n work-items and waits; the first launches are done.
local function launches(n)
  local list = {}
  for i, device in ipairs { plain, isolated } do
    local axpy = device:program(SOURCE).axpy
    local from, to = device:random("float", n, { seed = 1 }), device:random("float", n, { seed = 2 })
    list[i] = function() axpy({ global = n, group = GROUP }, 0.5, from, to):wait() end
    list[i]()
  end
  return list
end

print(("%11s  %13s  %11s  %9s"):format("work-items", "in process us", "isolated us", "more us"))
for _, n in ipairs { GROUP, 1 << 16, 1 << 20, 1 << 24 } do
  local run, times = launches(n), { {}, {} }
  for round = 1, ROUNDS do
    for i = 1, 2 do
      local start = cl.clock()
      run[i]()
      times[i][round] = (cl.clock() - start) * 1e6
    end
  end
  local here, there = median(times[1]), median(times[2])
  print(("%11d  %13.1f  %11.1f  %9.1f"):format(n, here, there, there - here))
end
