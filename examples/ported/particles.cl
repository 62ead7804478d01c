/* SPDX-License-Identifier: MIT */
/*
 * Particles that attract each other, by tiles in local memory. After Nyland, Harris & Prins, "Fast
 * N-Body Simulation with CUDA", GPU Gems 3, 2007, chapter 31.
 */

typedef struct {
  float4 position, velocity; /* the mass is position.w */
} particle;

typedef struct {
  int count;
  float step, softening;
} settings;

/* The acceleration at `at` by the particles of a tile; a softening keeps it finite. */
static float3 attraction(const float3 at, local const float4 *tile, const int n, const float soft) {
  float3 sum = 0;
  for (int k = 0; k < n; k++) {
    const float3 way = tile[k].xyz - at;
    const float near = rsqrt(dot(way, way) + soft * soft);
    sum += way * (tile[k].w * near * near * near);
  }
  return sum;
}

/* One work-item a particle, the range rounded up to whole groups: all of a group load the tile. */
kernel void step_all(const settings s, global const particle *now, global particle *next,
                     local float4 *tile) {
  const int i = get_global_id(0), me = get_local_id(0), group = get_local_size(0);
  particle p = now[min(i, s.count - 1)];
  float3 acceleration = 0;
  for (int first = 0; first < s.count; first += group) {
    if (first + me < s.count) tile[me] = now[first + me].position;
    barrier(CLK_LOCAL_MEM_FENCE);
    acceleration += attraction(p.position.xyz, tile, min(group, s.count - first), s.softening);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  p.velocity.xyz += acceleration * s.step;
  p.position.xyz += p.velocity.xyz * s.step;
  if (i < s.count) next[i] = p;
}
