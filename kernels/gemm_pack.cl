/* SPDX-License-Identifier: MIT */
/*
 * gemm_pack: B = A, or A transposed, with zeros around it
 *
 *     for (i = 0; i < to_rows; i++)
 *       for (j = 0; j < to_columns; j++)
 *         B[i][j] = i < rows && j < columns ? (TRANSPOSE ? A[j][i] : A[i][j]) : 0;
 *
 * rows x columns is what of B comes from A; to_columns is a multiple of 4. Work-groups go by 64 rows of ACROSS elements,
 * 256 bytes, through local memory. a0: elements before the matrix; lda: from row to row; a1: from one matrix of a batch
 * to the next. B begins its memory, its matrices one behind the other. Global size: 256 for each ACROSS columns, a group
 * for each 64 rows, batch; local size 256.
 */
#ifndef REAL
#define REAL float /* element type: float or double */
#endif
#ifndef TRANSPOSE
#define TRANSPOSE 0 /* 1: A is stored columns x rows */
#endif
#ifndef WIDE
#define WIDE 0 /* 1: a0, lda and a1 are multiples of 4 */
#endif

#define ACROSS (256 / (int)sizeof(REAL))
#include "clcompute/squares.h"

__attribute__((reqd_work_group_size(ITEMS, 1, 1))) __kernel void gemm_pack(
    const ulong rows, const ulong columns, const ulong to_rows, const ulong to_columns,
    __global const REAL *a, const ulong a0, const ulong lda, const ulong a1, __global REAL *b) {
  __local REAL square[HIGH][LINE];
  const uint item = (uint)get_local_id(0), s = item / 8, c = item % 8 * 4;
  const ulong i0 = get_group_id(1) * HIGH, j0 = get_group_id(0) * ACROSS;
  a += a0 + get_global_id(2) * a1;
  b += get_global_id(2) * to_rows * to_columns;
  READ_SQUARES(a, lda, rows, columns, !TRANSPOSE, WIDE)
  barrier(CLK_LOCAL_MEM_FENCE);
  EACH_SQUARE(h, w) {
    const ulong i = i0 + h + s, j = j0 + w + c;
    __local const REAL *const x = &square[h + s][w + c];
    if (i < to_rows && j < to_columns)
      *(__global QUAD *)&b[i * to_columns + j] = (QUAD)(x[0], x[1], x[2], x[3]);
  }
}
