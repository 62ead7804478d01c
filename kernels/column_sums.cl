/* SPDX-License-Identifier: MIT */
/*
 * column_sums: the sum of magnitudes of each column, whose maximum is the 1-norm
 *
 *     for (j = 0; j < columns; j++) {
 *       sums[j] = 0;
 *       for (i = 0; i < rows; i++) sums[j] += fabs(A[i][j]);
 *     }
 *
 * a0 is the number of elements before A. Global size: at least `columns`; local
 * size: any.
 */
#ifndef REAL
#define REAL float /* element type: float or double */
#endif

__kernel void column_sums(const ulong rows, const ulong columns, __global const REAL *a,
                          const ulong a0, __global REAL *sums) {
  const size_t j = get_global_id(0);
  if (j >= columns) return;
  REAL sum = 0;
  for (size_t i = 0; i < rows; i++) sum += fabs(a[a0 + i * columns + j]);
  sums[j] = sum;
}
