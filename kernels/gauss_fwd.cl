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
 * With RECORD 1 the first work-item also stores the local size that it finds.
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
#define RECORD 0 /* 1: one more argument, two numbers, takes the local size */
#endif

__kernel void gauss_fwd(const ulong n, const ulong k, __global REAL *w, __global const REAL *l
#if RECORD
                        ,
                        __global uint *group
#endif
) {
#if RECORD
  if (get_global_id(0) == 0 && get_global_id(1) == 0) {
    group[0] = get_local_size(0);
    group[1] = get_local_size(1);
  }
#endif
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
