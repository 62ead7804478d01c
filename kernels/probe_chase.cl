/* SPDX-License-Identifier: MIT */
/*
 * probe_chase: loads that wait for each other, while the group holds on to local memory and each
 * work-item to REGISTERS values.
 *
 *     x = first + i / share * stride & mask;   r[j] = j
 *     for (k = 0; k < n * REGISTERS; k++) { x = next[x]; r[k % REGISTERS] += x; }
 *     out[i] = (..(r[0] * 3 + r[1]) * 3 + ..) * 3 + x          modulo 2^32
 *
 * `share` neighbours walk the same way, so that a wavefront loads one address: what counts is
 * how long that takes, not how many bytes move. Another `first` for each launch finds no cache
 * filled by the one before. The last value passes through local memory.
 * Global size: any; local size: any, with `scratch` of at least as many elements.
 */
#ifndef REGISTERS
#define REGISTERS 8 /* values that a work-item keeps */
#endif

__kernel void probe_chase(const int n, const uint first, const uint share, const uint stride,
                          const uint mask, __global const uint *next, __global uint *out,
                          __local uint *scratch) {
  const uint i = get_global_id(0);
  uint r[REGISTERS];
  uint x = (first + i / share * stride) & mask;
#pragma unroll
  for (int j = 0; j < REGISTERS; j++) r[j] = j;
  for (int k = 0; k < n; k++) {
#pragma unroll
    for (int j = 0; j < REGISTERS; j++) {
      x = next[x];
      r[j] += x;
    }
  }
  uint sum = 0;
#pragma unroll
  for (int j = 0; j < REGISTERS; j++) sum = sum * 3 + r[j];
  scratch[get_local_id(0)] = sum * 3 + x;
  out[i] = scratch[get_local_id(0)];
}
