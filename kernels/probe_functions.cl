/* SPDX-License-Identifier: MIT */
/*
 * probe_functions: what a sine or a logarithm costs, and multiply-adds beside it that do not wait
 * for it.
 *
 *     x = i % 8 / 8;
 *     for (j = 0; j < ADDS; j++) y[j] = j;
 *     for (k = 0; k < UNROLL * n; k++) {
 *       x = F(x + c);                                       sine, logarithm, or x itself
 *       for (j = 0; j < ADDS; j++) y[j] = a * y[j] + b;
 *     }
 *     out[i] = x + y[0] + ... + y[ADDS - 1];
 *
 * F is the device's own function, native_sin or native_log. Global size: any; local size: any.
 */
#ifndef FUNCTION
#define FUNCTION 1 /* 0: none, 1: sine, 2: logarithm */
#endif
#ifndef ADDS
#define ADDS 4 /* multiply-adds of a step */
#endif
#ifndef UNROLL
#define UNROLL 4 /* steps of a turn of the loop, beside which its own instructions are few */
#endif

#if FUNCTION == 1
#define STEP(x) native_sin((x) + c)
#elif FUNCTION == 2
#define STEP(x) native_log((x) + c)
#else
#define STEP(x) (x)
#endif

__kernel void probe_functions(const int n, const float a, const float b, const float c,
                              __global float *out) {
  const uint i = get_global_id(0);
  float x = (i % 8) * 0.125f;
  float y[ADDS + 1];
#pragma unroll
  for (int j = 0; j < ADDS; j++) y[j] = j;
#pragma unroll 1
  for (int k = 0; k < n; k++) {
#pragma unroll
    for (int u = 0; u < UNROLL; u++) {
      x = STEP(x);
#pragma unroll
      for (int j = 0; j < ADDS; j++) y[j] = a * y[j] + b;
    }
  }
#pragma unroll
  for (int j = 0; j < ADDS; j++) x += y[j];
  out[i] = x;
}
