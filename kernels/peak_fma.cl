/* SPDX-License-Identifier: MIT */
/*
 * peak_fma: as many multiply-adds a second as the device can do, for the peak that
 * measurements are set against. Each of WIDTH x CHAINS accumulators:
 *
 *     x = in[i];
 *     for (k = 0; k < n * UNROLL; k++) x = a * x + b;
 *     out[work-item * WIDTH * CHAINS + i] = x;
 *
 * With a = b = 1 and small integers x counts its own steps, exactly; a half counts to 2048 and
 * stays there. The accumulators of a work-item wait for nothing but themselves: CHAINS of them
 * hide the latency of one.
 * `in` holds WIDTH x CHAINS different values, so that no compiler makes them one.
 * Global size: any number of work-items; local size: any.
 */
#ifndef REAL
#define REAL float /* element type: float, double, half or int */
#endif
#ifndef WIDTH
#define WIDTH 1 /* elements of a vector: 1, 2, 4, 8 or 16 */
#endif
#ifndef CHAINS
#define CHAINS 12 /* vectors of a work-item */
#endif
#ifndef UNROLL
#define UNROLL 8 /* steps between two looks at the loop's counter */
#endif
#ifndef INTEGER
#define INTEGER 0 /* 1: REAL is an integer type, whose multiply-adds are not fused */
#endif

#ifdef cl_khr_fp16
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#endif
#if INTEGER
#define MULTIPLY_ADD(a, x, b) ((a) * (x) + (b))
#else
#define MULTIPLY_ADD(a, x, b) fma(a, x, b)
#endif

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
#if WIDTH == 1
#define VECTOR REAL
#define LOAD(i, p) ((p)[i])
#define STORE(x, i, p) ((p)[i] = (x))
#else
#define VECTOR PASTE(REAL, WIDTH)
#define LOAD PASTE(vload, WIDTH)
#define STORE PASTE(vstore, WIDTH)
#endif

__kernel void peak_fma(const int n, const REAL a, const REAL b, __global const REAL *in,
                       __global REAL *out) {
  VECTOR x[CHAINS];
#pragma unroll
  for (int c = 0; c < CHAINS; c++) x[c] = LOAD(c, in);
  for (int k = 0; k < n; k++) {
#pragma unroll
    for (int u = 0; u < UNROLL; u++) {
#pragma unroll
      for (int c = 0; c < CHAINS; c++) x[c] = MULTIPLY_ADD((VECTOR)a, x[c], (VECTOR)b);
    }
  }
  __global REAL *mine = out + get_global_id(0) * (WIDTH * CHAINS);
#pragma unroll
  for (int c = 0; c < CHAINS; c++) STORE(x[c], c, mine);
}
