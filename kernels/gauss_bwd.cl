/* SPDX-License-Identifier: MIT */
/*
 * gauss_bwd: takes the unknown x[k] out of the equations above it
 * (Baranov & Vlatskaya 2013, formula (4))
 *
 *     for (i = 0; i < k; i++) W[i][n] -= x[k] * W[i][k];
 *
 * Global size: n, with SHRINK 1 exactly k; local size: any.
 */
#ifndef REAL
#define REAL float /* element type: float or double */
#endif
#ifndef SHRINK
#define SHRINK 0 /* 0: the range is fixed, and guarded; 1: it shrinks with k */
#endif

__kernel void gauss_bwd(const ulong n, const ulong k, __global REAL *w, __global const REAL *x) {
  const size_t i = get_global_id(0);
#if !SHRINK
  if (i >= k) return;
#endif
  w[i * (n + 1) + n] -= x[k] * w[i * (n + 1) + k];
}
