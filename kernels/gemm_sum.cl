/* SPDX-License-Identifier: MIT */
/*
 * gemm_sum: C = alpha * (P[0] + P[1] + ...) + beta * C, of the parts of a product by parts of k
 *
 *     for each element (i, j) of the m x n of C:
 *       sum = 0;
 *       for (p = 0; p < parts; p++) sum += P[p][i][j];
 *       C[i][j] = alpha * sum + beta * C[i][j];
 *
 * Parts lie one behind the other, each m x n, and those of one matrix of a batch before those of the
 * next. ACROSS neighbouring elements are a group's, each of which DOWN work-items add up: every
 * DOWN-th part, then halving in local memory. So the order of the additions is the same at every
 * call. With beta 0, C is not read. Global size: m * n rounded up to whole ACROSS, DOWN, batch; local
 * size ACROSS x DOWN.
 */
#ifndef REAL
#define REAL float /* element type: float or double */
#endif
#ifndef ACROSS
#define ACROSS 32 /* elements of a group */
#endif
#ifndef DOWN
#define DOWN 8 /* work-items of an element, a power of two */
#endif

__attribute__((reqd_work_group_size(ACROSS, DOWN, 1))) __kernel void gemm_sum(
    const ulong m, const ulong n, const ulong parts, const REAL alpha, __global const REAL *p,
    const REAL beta, __global REAL *c, const ulong c0, const ulong ldc, const ulong c1) {
  __local REAL found[DOWN][ACROSS];
  const uint x = (uint)get_local_id(0), y = (uint)get_local_id(1);
  const ulong size = m * n, element = get_global_id(0), matrix = get_global_id(2);
  p += matrix * parts * size + element;
  REAL sum = 0;
  if (element < size) {
#pragma unroll 4
    for (ulong part = y; part < parts; part += DOWN) sum += p[part * size];
  }
  found[y][x] = sum;
  for (uint k = DOWN / 2; k > 0; k /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (y < k) found[y][x] += found[y + k][x];
  }
  if (y > 0 || element >= size) return;
  const ulong i = n == 1 ? element : element / n;
  __global REAL *to = c + c0 + matrix * c1 + i * ldc + (element - i * n);
  *to = beta == 0 ? alpha * found[0][x] : alpha * found[0][x] + beta * *to;
}
