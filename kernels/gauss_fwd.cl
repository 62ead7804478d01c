/* SPDX-License-Identifier: MIT */
/*
 * gauss_fwd: step k of the forward elimination (Baranov & Vlatskaya 2013, formula (2))
 *
 *     for (i = k + 1; i < n; i++)
 *       for (j = k + 1; j <= n; j++) W[i][j] -= l[i] * W[k][j];
 *
 *           k        n             W is the augmented matrix [A | b]. Column k
 *       +---+--------+             keeps its elements, which later steps ignore:
 *     k |   | row k  |             all work-items read at once, so none may
 *       +---+--------+             zero them.
 *       | l | update |
 *       +---+--------+
 *
 * RECORD and RECORD_TO add a statement and a parameter, for a program that looks at the group: the
 * kernel itself must not mention it, for on a CPU what a range leaves over then goes in the groups
 * of one size for which a driver compiles.
 *
 * Global size: (n + 1) x n, with SHRINK 1 exactly (n - k) x (n - k - 1);
 * local size: any, the paper varies its first dimension.
 */
#ifndef REAL
#define REAL float /* element type: float or double */
#endif
#ifndef SHRINK
#define SHRINK 0 /* 0: the range is fixed, and guarded; 1: it shrinks with k */
#endif
#ifndef RECORD
#define RECORD    /* a statement */
#define RECORD_TO /* ", " and the parameter that it uses */
#endif

__kernel void gauss_fwd(const ulong n, const ulong k, __global REAL *w,
                        __global const REAL *l RECORD_TO) {
  RECORD
#if SHRINK
  const size_t j = k + 1 + get_global_id(0);
  const size_t i = k + 1 + get_global_id(1);
#else
  const size_t j = get_global_id(0);
  const size_t i = get_global_id(1);
  if (j <= k || i <= k || j > n || i >= n) return;
#endif
  w[i * (n + 1) + j] -= l[i] * w[k * (n + 1) + j];
}
