/* SPDX-License-Identifier: MIT */
/*
 * gemm_tiled: C = alpha * op(A) * op(B) + beta * C through tiles in local memory
 * (Borisov 2015, listing 3)
 *
 *     for each tile of C, TS x TS:
 *       for (t = 0; t < k; t += TS)
 *         acc[i][j] += op(A)[i][t .. t + TS) * op(B)[t .. t + TS)[j];
 *
 *                 group j              A work-group owns a tile of C. In each
 *                +--+--+--+            step its work-items load one element of
 *                |  |##|  | t          A and B each, wait, and multiply the two
 *                +--+--+--+            tiles, so that global memory is read TS
 *     +--+--+    +--+--+--+            times less often than in gemm_naive.
 *     |##|  |    |  |CC|  | group i    Elements outside the matrices are zeros.
 *     +--+--+    +--+--+--+
 *      t
 *
 * Arguments as gemm_naive. Global size: n x m, each rounded up to TS; local size
 * TS x TS. Tiles are loaded along the rows as they are stored, also those of a
 * transposed matrix, and have a column more than they need: reading one along
 * its column then touches all banks of the local memory.
 */
#ifndef REAL
#define REAL float /* element type: float or double */
#endif
#ifndef TRANSA
#define TRANSA 0 /* 1: A is stored k x m */
#endif
#ifndef TRANSB
#define TRANSB 0 /* 1: B is stored n x k */
#endif
#ifndef TS
#define TS 16 /* rows and columns of a tile */
#endif

/* Element (row, col) of a matrix with `rows` x `cols` stored elements, or 0. */
static REAL load(__global const REAL *x, ulong row, ulong col, ulong rows, ulong cols, ulong ld) {
  return row < rows && col < cols ? x[row * ld + col] : 0;
}

__kernel __attribute__((reqd_work_group_size(TS, TS, 1))) void gemm_tiled(
    const ulong m, const ulong n, const ulong k, const REAL alpha, __global const REAL *a,
    const ulong a0, const ulong lda, __global const REAL *b, const ulong b0, const ulong ldb,
    const REAL beta, __global REAL *c, const ulong c0, const ulong ldc) {
  const uint x = get_local_id(0);
  const uint y = get_local_id(1);
  const ulong tile_j = get_group_id(0) * TS; /* the tile's first column and row in C */
  const ulong tile_i = get_group_id(1) * TS;
  __local REAL a_tile[TS][TS + 1]; /* [row of op(A)][column], or transposed if stored so */
  __local REAL b_tile[TS][TS + 1];
  REAL acc = 0;
  for (ulong t = 0; t < k; t += TS) {
    a_tile[y][x] = TRANSA ? load(a + a0, t + y, tile_i + x, k, m, lda)
                          : load(a + a0, tile_i + y, t + x, m, k, lda);
    b_tile[y][x] = TRANSB ? load(b + b0, tile_j + y, t + x, n, k, ldb)
                          : load(b + b0, t + y, tile_j + x, k, n, ldb);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint l = 0; l < TS; l++)
      acc += (TRANSA ? a_tile[l][y] : a_tile[y][l]) * (TRANSB ? b_tile[x][l] : b_tile[l][x]);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (tile_i + y >= m || tile_j + x >= n) return;
  __global REAL *out = c + c0 + (tile_i + y) * ldc + tile_j + x;
  *out = beta == 0 ? alpha * acc : alpha * acc + beta * *out;
}
