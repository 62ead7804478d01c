/* SPDX-License-Identifier: MIT */
/*
 * copy_matrix: B = A, for matrices inside larger ones
 *
 *     for (i = 0; i < rows; i++)
 *       for (j = 0; j < columns; j++) B[i][j] = A[i][j];
 *
 * a0, b0: elements before each matrix; lda, ldb: from row to row. Global size: at
 * least columns x rows; local size: any.
 */
#ifndef REAL
#define REAL float /* element type: float or double */
#endif

__kernel void copy_matrix(const ulong rows, const ulong columns, __global const REAL *a,
                          const ulong a0, const ulong lda, __global REAL *b, const ulong b0,
                          const ulong ldb) {
  const size_t j = get_global_id(0);
  const size_t i = get_global_id(1);
  if (i < rows && j < columns) b[b0 + i * ldb + j] = a[a0 + i * lda + j];
}
