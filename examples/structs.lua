-- SPDX-License-Identifier: MIT
--- Structs: one as an argument, many in a buffer. Both are packed by string.pack.

local cl = require "clcompute"
local device = cl.device()

local program = device:program([[
  typedef struct {
    float4 gravity;
    float step;
    int bounces;   // whether the ground throws particles back
  } Settings;      // 32 bytes: a struct is as long as a multiple of its largest member, 16

  typedef struct {
    float x, y, z;    // not float3, which takes the room of four
    float vx, vy, vz;
    int id;
    uchar alive;
    uchar unused[3];  // spelled out, so that both sides agree
  } Particle;         // 32 bytes

  // One work-item a particle: one step of its flight.
  kernel void fly(const Settings s, global Particle *particles) {
    global Particle *p = particles + get_global_id(0);
    if (!p->alive) return;
    p->vx += s.gravity.x * s.step; p->vy += s.gravity.y * s.step; p->vz += s.gravity.z * s.step;
    p->x += p->vx * s.step; p->y += p->vy * s.step; p->z += p->vz * s.step;
    if (p->z < 0 && s.bounces) {
      p->z = -p->z;
      p->vz = -p->vz;
    } else if (p->z < 0) {
      p->alive = 0;
    }
  }
]], { name = "particles.cl" })

-- The same members in the same order; "x" is a byte of padding. "<" would be wrong on a machine of the
-- other byte order, "!" would align as C does, but knows no vectors: count the bytes.
local SETTINGS = "ffff f i4 xxxxxxxx"
local PARTICLE = "fff fff i4 B xxx"
assert(string.packsize(SETTINGS) == 32 and string.packsize(PARTICLE) == 32)

local n = 1000
local packed = {}
for i = 1, n do packed[i] = string.pack(PARTICLE, i, 0, 10, 0, 1, 0, i, 1) end

-- A pointer to a struct takes a buffer of any dtype: a matrix of bytes has one particle a row.
local particles = device:buffer(table.concat(packed), "uchar", n, 32)

-- A struct by value takes a packed string of exactly its size; most drivers refuse another, POCL 3.1
-- does not, so assert it as above.
local settings = string.pack(SETTINGS, 0, 0, -10, 0, 0.1, 0)
for _ = 1, 20 do program.fly(n, settings, particles) end

local x, y, z, _, _, vz, id, alive = string.unpack(PARTICLE, particles[7]:string())
print(("particle %d flew to (%.1f, %.1f, %.1f), speed %.1f, %s"):format(
  id, x, y, z, vz, alive == 1 and "alive" or "on the ground"))
assert(id == 7 and x == 7 and alive == 0)
