-- SPDX-License-Identifier: MIT
--- Steps of particles that attract each other. Usage: particles.lua [PARTICLES [STEPS]]
local cl = require "clcompute"
local device = cl.device()
local program = device:program { file = arg[0]:gsub("lua$", "cl") }
local Particle = cl.struct("particle", "float4 position, velocity;")
local Settings = cl.struct("settings", "int count; float step, softening;")
local n, steps, step, softening, group = tonumber(arg[1]) or 1000, tonumber(arg[2]) or 4, 0.01, 0.1, 64

local places = device:random("float", n, 4, { seed = 1, low = -1, high = 1 }):read()
local list = {}
for i, p in ipairs(places) do list[i] = { position = { p[1], p[2], p[3], 1 / n }, velocity = { p[4], 0, 0, 0 } } end
local now, next = Particle:buffer(device, list), Particle:buffer(device, list)
local settings = Settings:pack { count = n, step = step, softening = softening }
local range, tile = cl.range { global = n, group = group, remainder = "pad" }, cl.scratch("float", 4 * group)
for _ = 1, steps do
  program.step_all(range, settings, now, next, tile)
  now, next = next, now
end

-- The oracle: every pair.
for _ = 1, steps do
  for _, p in ipairs(list) do
    for _, q in ipairs(list) do
      local x, y, z = q.position[1] - p.position[1], q.position[2] - p.position[2], q.position[3] - p.position[3]
      local pull = step * q.position[4] * (x * x + y * y + z * z + softening ^ 2) ^ -1.5
      local v = p.velocity
      v[1], v[2], v[3] = v[1] + pull * x, v[2] + pull * y, v[3] + pull * z
    end
  end
  for _, p in ipairs(list) do for k = 1, 3 do p.position[k] = p.position[k] + step * p.velocity[k] end end
end
local off = 0
for i, p in ipairs(Particle:read(now)) do
  for k = 1, 3 do off = math.max(off, math.abs(p.position[k] - list[i].position[k])) end
end
assert(off < 1e-5)
print(("%d particles, %d steps, off by %.1e"):format(n, steps, off))
