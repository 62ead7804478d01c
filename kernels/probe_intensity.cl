/* SPDX-License-Identifier: MIT */
/*
 * probe_intensity: n multiply-adds for each element that is loaded and stored.
 *
 *     for (i = 0; i < global size * CHAINS * WIDTH; i++) {
 *       x = in[i];
 *       for (k = 0; k < n; k++) x = a * x + b;
 *       out[i] = x;
 *     }
 *
 * With a = b = 1 and small integers x counts its steps, exactly. Global size: any; local
 * size: any.
 */
#ifndef REAL
#define REAL float /* element type: float or double */
#endif
#ifndef WIDTH
#define WIDTH 4 /* elements of a vector: 2, 4, 8 or 16 */
#endif
#ifndef CHAINS
#define CHAINS 1 /* vectors of a work-item, which do not wait for each other */
#endif

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
#define VECTOR PASTE(REAL, WIDTH)

__kernel void probe_intensity(const int n, const REAL a, const REAL b, __global const VECTOR *in,
                              __global VECTOR *out) {
  const size_t i = get_global_id(0), size = get_global_size(0);
  VECTOR x[CHAINS];
#pragma unroll
  for (int c = 0; c < CHAINS; c++) x[c] = in[c * size + i];
  for (int k = 0; k < n; k++) {
#pragma unroll
    for (int c = 0; c < CHAINS; c++) x[c] = fma((VECTOR)a, x[c], (VECTOR)b);
  }
#pragma unroll
  for (int c = 0; c < CHAINS; c++) out[c * size + i] = x[c];
}
