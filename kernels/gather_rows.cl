/* SPDX-License-Identifier: MIT */
/*
 * gather_rows: Y = the rows of X in another order
 *
 *     for (i = 0; i < rows; i++)
 *       for (j = 0; j < columns; j++) Y[i][j] = X[order[i]][j];
 *
 * x0 is the number of elements before X, whose rows are packed; those of Y are ldy apart. Global size: at least columns x rows;
 * local size: any.
 */
#ifndef REAL
#define REAL float /* element type: float or double */
#endif

__kernel void gather_rows(const ulong rows, const ulong columns, __global const int *order,
                          __global const REAL *x, const ulong x0, __global REAL *y,
                          const ulong ldy) {
  const size_t j = get_global_id(0);
  const size_t i = get_global_id(1);
  if (i < rows && j < columns) y[i * ldy + j] = x[x0 + order[i] * columns + j];
}
