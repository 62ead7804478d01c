-- SPDX-License-Identifier: MIT
--- What each thread of `make tsan` does in a state of its own. Argument: the place of a device, else the best one.

package.path = "./?.lua;" .. package.path

local cl = require "clcompute"

local place = ...
local d <close> = cl.device(place ~= "" and place or nil, { check = true, timing = true })
local p <close> = d:program [[
  kernel void twice(global const float *x, global float *y) { y[get_global_id(0)] = 2 * x[get_global_id(0)]; }]]
local x, y = d:random("float", 1000, { seed = 1 }), d:empty("float", 1000)
local e = p.twice(1000, x, y)
assert(e:wait().seconds >= 0 and y[7] == 2 * x[7])
d:check(false)

local a, b = d:buffer { { 4, 2 }, { 1, 3 } }, d:buffer { 8, 7 }
assert(cl.gemm(a, a):get(1, 1) == 18)
assert(math.abs(cl.lu(a):solve(b)[2] - 2) < 1e-5)
assert(math.abs(cl.gauss(a, b)[1] - 1) < 1e-5)
assert(cl.sum(cl.map("2 * x[i]", { x = b })) == 30)
assert(cl.scan("a + b", b)[2] == 15)

local q <close> = d:queue()
cl.saxpy(1, b, b)
d:wait()
assert(b:copy(q)[1] == 16)
cl.profile(true)
d:zeros("int", 10):fill(3):read()
assert(#cl.profile() > 0 and cl.live().bytes > 0)
cl.profile(false)
pcall(p.twice, 1, 2, 3)
assert(not pcall(cl.device, "no such device"))
setmetatable({}, { __gc = function() x:release() end })
