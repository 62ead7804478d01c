/* SPDX-License-Identifier: MIT */
/*
 * lu_move_rows: copies rows of one matrix to rows of another
 *
 *     for (i = 0; i < rows; i++)
 *       for (j = 0; j < columns; j++) Y[to[i]][j] = X[from[i]][j];
 *
 * Rows of both are packed; `moves` has from[0], to[0], from[1], to[1] ... Global size: at least columns x rows; local
 * size: any.
 */
#ifndef REAL
#define REAL float /* element type: float or double */
#endif

__kernel void lu_move_rows(const ulong rows, const ulong columns, __global const int *moves,
                           __global const REAL *x, __global REAL *y) {
  const size_t j = get_global_id(0);
  const size_t i = get_global_id(1);
  if (i < rows && j < columns) y[moves[2 * i + 1] * columns + j] = x[moves[2 * i] * columns + j];
}
