/* SPDX-License-Identifier: MIT */
/*
 * probe_barrier: n steps of a chain with a barrier after each, or without.
 *
 *     x = i;
 *     for (k = 0; k < n; k++) { x = 1664525 * x + 1; barrier; }     modulo 2^32
 *     out[i] = x;
 *
 * Global size: any; local size: any.
 */
#ifndef BARRIER
#define BARRIER 1 /* 0: the same without barriers */
#endif

__kernel void probe_barrier(const int n, __global uint *out) {
  const uint i = get_global_id(0);
  uint x = i;
#pragma unroll 1 /* nothing is gained by joining steps */
  for (int k = 0; k < n; k++) {
    x = 1664525u * x + 1u;
#if BARRIER
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
  }
  out[i] = x;
}
