/* SPDX-License-Identifier: MIT */
/*
 * gauss_fwd_pre: the divisors of step k of the forward elimination
 * (Baranov & Vlatskaya 2013, formula (1))
 *
 *     for (i = k + 1; i < n; i++) l[i] = W[i][k] / W[k][k];
 *
 * W is the augmented matrix [A | b], n rows of n + 1 elements. No pivoting.
 * Global size: n, with SHRINK 1 exactly n - k - 1; local size: any.
 */
#ifndef REAL
#define REAL float /* element type: float or double */
#endif
#ifndef SHRINK
#define SHRINK 0 /* 0: the range is fixed, and guarded; 1: it shrinks with k */
#endif

__kernel void gauss_fwd_pre(const ulong n, const ulong k, __global const REAL *w,
                            __global REAL *l) {
#if SHRINK
  const size_t i = k + 1 + get_global_id(0);
#else
  const size_t i = get_global_id(0);
  if (i <= k || i >= n) return;
#endif
  l[i] = w[i * (n + 1) + k] / w[k * (n + 1) + k];
}
