-- SPDX-License-Identifier: MIT
--- Structs: one as an argument, many in a buffer. cl.struct lays their fields out as the device does.

local cl = require "clcompute"
local device = cl.device()

local Settings = cl.struct("settings", [[
  float3 gravity;
  float step;
  int bounces;   // whether the ground throws particles back
]])

local Particle = cl.struct("particle", [[
  float3 position, velocity;   // each takes the room of four floats
  int id;
  uchar alive;
]])

local program = device:program(Settings.source .. Particle.source .. [[
  // One work-item a particle: one step of its flight.
  kernel void fly(const settings s, global particle *particles) {
    global particle *p = particles + get_global_id(0);
    if (!p->alive) return;
    p->velocity += s.gravity * s.step;
    p->position += p->velocity * s.step;
    if (p->position.z < 0 && s.bounces) {
      p->position.z = -p->position.z;
      p->velocity.z = -p->velocity.z;
    } else if (p->position.z < 0) {
      p->alive = 0;
    }
  }
]], { name = "particles.cl" })

local n = 1000
local list = {}
for i = 1, n do list[i] = { position = { i, 0, 10 }, velocity = { 0, 1, 0 }, id = i, alive = 1 } end

-- A pointer to structs takes a buffer with a struct a row; a struct by value takes a packed string.
local particles = Particle:buffer(device, list)
local settings = Settings:pack { gravity = { 0, 0, -10 }, step = 0.1, bounces = 0 }
for _ = 1, 20 do program.fly(n, settings, particles) end

local p = Particle:read(particles, 7, 7)[1]
print(("particle %d flew to (%.1f, %.1f, %.1f), speed %.1f, %s"):format(p.id, p.position[1], p.position[2],
  p.position[3], p.velocity[3], p.alive == 1 and "alive" or "on the ground"))
assert(p.id == 7 and p.position[1] == 7 and p.alive == 0)
