-- SPDX-License-Identifier: MIT
--- The life of a Lua state that computes once, with all left to lua_close. Argument: the place of a device.

local cl = require "clcompute"
local d = cl.device((...))
local x = d:buffer({ 1, 2, 3 }, "int")
local p = d:program "kernel void add(global int *x, int n) { x[get_global_id(0)] += n; }"
local e = p.add(3, x, 4)
e:wait()
assert(x:view(2, 3):get(1) == 6)
p.add(3, x, 4) -- in flight
