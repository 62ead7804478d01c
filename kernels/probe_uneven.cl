/* SPDX-License-Identifier: MIT */
/*
 * probe_uneven: what it costs that one work-item in `period` loops longer than the others.
 *
 *     x = i;
 *     steps = i % period == 0 ? n * times : n;
 *     for (k = 0; k < steps; k++) x = 1664525 * x + 1;     modulo 2^32
 *     out[i] = x;
 *
 * Each step waits for the one before it. Global size: any; local size: any.
 */
__kernel void probe_uneven(const int n, const int times, const uint period, __global uint *out) {
  const uint i = get_global_id(0);
  const int steps = i % period == 0 ? n * times : n;
  uint x = i;
#pragma unroll 1 /* nothing is gained by joining steps */
  for (int k = 0; k < steps; k++) x = 1664525u * x + 1u;
  out[i] = x;
}
