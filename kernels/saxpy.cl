/* SPDX-License-Identifier: MIT */
/*
 * saxpy: out = alpha * x + y (Borisov 2015, listing 1)
 *
 *     for (i = 0; i < n; i++) out[i] = alpha * x[i] + y[i];
 *
 * `out` may be `y`. x0, y0, out0 are the elements before the first one of each.
 * Global size: at least n; the rest returns at once. Local size: any.
 */
#ifndef REAL
#define REAL float /* element type: float or double */
#endif

__kernel void saxpy(const ulong n, const REAL alpha, __global const REAL *x, const ulong x0,
                    __global const REAL *y, const ulong y0, __global REAL *out, const ulong out0) {
  const size_t i = get_global_id(0);
  if (i < n) out[out0 + i] = alpha * x[x0 + i] + y[y0 + i];
}
