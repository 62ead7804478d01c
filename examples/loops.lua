-- SPDX-License-Identifier: MIT
--- A loop nest of a Lua function as an OpenCL kernel: the same function, the same results, another speed.

local cl = require "clcompute"
local loops = require "clcompute.loops"

local function mmm(A, B, C, n)
  for i = 1, n do for j = 1, n do
    local s = 0.0
    for k = 1, n do s = s + A[i][k] * B[k][j] end
    C[i][j] = s
  end end
end

local compiled = assert(loops.compile(mmm))
print(compiled:source())

-- On tables, as Lua has them: copied to the device and back where that pays.
local n = tonumber(arg[1]) or 400
local device = cl.device()
local a, b = device:random("double", n, n, { seed = 1 }), device:random("double", n, n, { seed = 2 })
local A, B, C, D = a:read(), b:read(), {}, {}
for i = 1, n do C[i], D[i] = {}, {} end
for i = 1, n do for j = 1, n do C[i][j], D[i][j] = 0.0, 0.0 end end

local start = cl.clock()
mmm(A, B, C, n)
local in_lua = cl.clock() - start

compiled(a, b, device:zeros("double", n, n), n) -- decides; builds the program if that pays by now
start = cl.clock()
compiled(A, B, D, n)
local in_all = cl.clock() - start

local differences = 0
for i = 1, n do for j = 1, n do
  if C[i][j] ~= D[i][j] then differences = differences + 1 end
end end
print(compiled:explain())
print(("n = %d: Lua %.3f s, compiled, on tables, %.3f s; %d elements differ"):format(n, in_lua, in_all, differences))

-- On buffers, which stay where they are.
local c = device:zeros("double", n, n)
start = cl.clock()
compiled(a, b, c, n)
device:wait()
print(("on buffers %.4f s"):format(cl.clock() - start))
