-- SPDX-License-Identifier: MIT
--- Expressions for every element, reductions and scans: the statistics of a signal, and the elements above a limit
-- packed together, without a loop in Lua.

local cl = require "clcompute"
local device = cl.device()

local n = tonumber(arg[1]) or 1000000
local x = device:random("float", n, { seed = 1, low = -1 })

-- An expression of OpenCL C; the names are those of the table.
local signal = cl.map("a*x[i] + sin(i*width)", { a = 0.1, width = 0.001, x = x })

local mean = cl.sum(signal) / n
local variance = cl.reduce("a + b", { x = signal, m = mean }, { map = "(x[i] - m)*(x[i] - m)" }) / n
local place, largest = cl.argmax(signal)
print(("%d elements: mean %.4f, deviation %.4f, norm %.3f"):format(n, mean, math.sqrt(variance), cl.norm2(signal)))
print(("from %.4f to %.4f, the largest at %d"):format(cl.min(signal), largest, place))
assert(signal[place] == largest)

-- What is above the limit gets a place from an exclusive scan: how many such elements come before it.
local limit = 0.9
local above = cl.map("x[i] > limit", { x = signal, limit = limit }, { dtype = "int" })
local places = cl.scan("a + b", above, { exclusive = true })
local count = cl.sum(above)
local program = device:program [=[
  kernel void pick(global const float *x, global const int *above, global const int *places, global float *out) {
    const int i = get_global_id(0);
    if (above[i]) out[places[i]] = x[i];
  }
]=]
local picked = device:empty("float", count)
program.pick(n, signal, above, places, picked)
print(("%d elements above %g, their mean %.4f"):format(count, limit, cl.sum(picked) / count))
assert(cl.min(picked) > limit)

-- What is wrong with an expression is said before anything runs.
print(select(2, pcall(cl.map, "a*x[i] + z[i]", { a = 2, x = x })))
