/* SPDX-License-Identifier: MIT */
/*
 * probe_packing: what it gains that operations of one work-item do not wait for each other. Each
 * work-item goes through CHAINS chains side by side:
 *
 *     for (j = 0; j < CHAINS; j++) x[j] = i * CHAINS + j;
 *     for (k = 0; k < n; k++)
 *       for (j = 0; j < CHAINS; j++) x[j] = 1664525 * x[j] + 1;     modulo 2^32
 *     out[i] = x[0] + ... + x[CHAINS - 1];
 *
 * Global size: any; local size: any.
 */
#ifndef CHAINS
#define CHAINS 4 /* independent operations of a step */
#endif

__kernel void probe_packing(const int n, __global uint *out) {
  const uint i = get_global_id(0);
  uint x[CHAINS];
#pragma unroll
  for (int j = 0; j < CHAINS; j++) x[j] = i * CHAINS + j;
#pragma unroll 1 /* nothing is gained by joining steps */
  for (int k = 0; k < n; k++) {
#pragma unroll
    for (int j = 0; j < CHAINS; j++) x[j] = 1664525u * x[j] + 1u;
  }
  uint sum = 0;
#pragma unroll
  for (int j = 0; j < CHAINS; j++) sum += x[j];
  out[i] = sum;
}
