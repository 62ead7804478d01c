/* SPDX-License-Identifier: MIT */
/*
 * lu_start: right-hand sides, and behind them two vectors that show how an inverse magnifies, in the
 * order of a matrix's LU factors
 *
 *     for (i = 0; i < n; i++) {
 *       for (j = 0; j < columns; j++) X[i][j] = B[order[i]][j];
 *       X[i][columns] = unit / n;
 *       X[i][columns + 1] = (order[i] is odd ? -unit : unit) * (1 + order[i] / (n - 1));
 *     }
 *
 * b0 elements lie before B, which has n rows of `columns` elements. Global size: at least n; local
 * size: any.
 */
#ifndef REAL
#define REAL float /* element type: float or double */
#endif

__kernel void lu_start(const ulong n, const REAL unit, const ulong columns,
                       __global const int *order, __global const REAL *b, const ulong b0,
                       __global REAL *x) {
  const size_t i = get_global_id(0);
  if (i >= n) return;
  const int row = order[i];
  x += i * (columns + 2);
  for (size_t j = 0; j < columns; j++) x[j] = b[b0 + row * columns + j];
  x[columns] = unit / n;
  x[columns + 1] = (row % 2 ? -unit : unit) * (1 + (n > 1 ? (REAL)row / (n - 1) : row));
}
