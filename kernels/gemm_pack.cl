/* SPDX-License-Identifier: MIT */
/*
 * gemm_pack: B = A, or A transposed, with zeros around it
 *
 *     for (i = 0; i < to_rows; i++)
 *       for (j = 0; j < to_columns; j++)
 *         B[i][j] = i < rows && j < columns ? (TRANSPOSE ? A[j][i] : A[i][j]) : 0;
 *
 * rows x columns is what of B comes from A. Work-groups go by squares of SIDE x SIDE elements through
 * local memory, so that neighbours read and write neighbours. a0: elements before the matrix; lda:
 * from row to row; a1: from one matrix of a batch to the next. B begins its memory, its matrices one
 * behind the other. Global size: SIDE x ROWS work-items for each square, batch; local size SIDE x ROWS.
 */
#ifndef REAL
#define REAL float /* element type: float or double */
#endif
#ifndef TRANSPOSE
#define TRANSPOSE 0 /* 1: A is stored columns x rows */
#endif
#ifndef SIDE
#define SIDE 32 /* elements of a square's side */
#endif
#ifndef ROWS
#define ROWS 8 /* work-items of a group along it; SIDE is a multiple */
#endif

__attribute__((reqd_work_group_size(SIDE, ROWS, 1))) __kernel void gemm_pack(
    const ulong rows, const ulong columns, const ulong to_rows, const ulong to_columns,
    __global const REAL *a, const ulong a0, const ulong lda, const ulong a1, __global REAL *b) {
  __local REAL square[SIDE][SIDE + 1]; /* one more, so that a column's elements lie in all banks */
  const ulong i0 = get_group_id(1) * SIDE, j0 = get_group_id(0) * SIDE;
  const uint tx = (uint)get_local_id(0), ty = (uint)get_local_id(1);
  a += a0 + get_global_id(2) * a1;
  b += get_global_id(2) * to_rows * to_columns;
  for (uint s = ty; s < SIDE; s += ROWS) {
    const ulong i = TRANSPOSE ? i0 + tx : i0 + s, j = TRANSPOSE ? j0 + s : j0 + tx;
    const REAL value = i < rows && j < columns ? a[TRANSPOSE ? j * lda + i : i * lda + j] : 0;
    if (TRANSPOSE)
      square[tx][s] = value;
    else
      square[s][tx] = value;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint s = ty; s < SIDE; s += ROWS)
    if (i0 + s < to_rows && j0 + tx < to_columns) b[(i0 + s) * to_columns + j0 + tx] = square[s][tx];
}
