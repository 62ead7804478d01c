/* SPDX-License-Identifier: MIT */
/*
 * lu_batch_sweep: solves A X = B with the LU factors of many small matrices, for GPUs
 *
 *     for each matrix, and each column of its B:
 *       for (i = 0; i < n; i++) x[i] = b[order[i]];
 *       for (k = 0; k < n; k++) for (i = k + 1; i < n; i++) x[i] -= W[i][k] * x[k];
 *       for (k = n - 1; k >= 0; k--) {
 *         x[k] /= W[k][k];
 *         for (i = 0; i < k; i++) x[i] -= W[i][k] * x[k];
 *       }
 *
 * A matrix has n x n elements, B and X n rows of `columns`, packed; b0 elements lie before B.
 * One work-group of ROWS work-items a matrix, in the second dimension for each column.
 */
#ifndef REAL
#define REAL float /* element type: float or double */
#endif
#ifndef ROWS
#define ROWS 32 /* work-items, at least n: a power of two from SIDE on */
#endif
#ifndef SIDE
#define SIDE 4 /* rows that are solved for in a step: 4, 8, 16 or 32 */
#endif

#include "clcompute/strip.h"

__kernel __attribute__((reqd_work_group_size(ROWS, 1, 1))) void lu_batch_sweep(
    const int n, const int columns, __global const REAL *w, __global const int *order,
    __global const REAL *b, const ulong b0, __global REAL *x) {
  __local Strip strip;
  const int t = (int)get_local_id(0);
  const size_t matrix = get_group_id(0), column = get_group_id(1);
  w += matrix * n * n;
  order += matrix * n;
  b += b0 + matrix * n * columns + column;
  x += matrix * n * columns + column;
  REAL v = t < n ? b[order[t] * columns] : 0;
  v = substitute(&strip, n, w, 1, 1, 0, t, v);
  v = substitute(&strip, n, w, 0, 0, 0, t, v);
  if (t < n) x[t * columns] = v;
}
