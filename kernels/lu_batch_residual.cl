/* SPDX-License-Identifier: MIT */
/*
 * lu_batch_residual: R = B - A X of many small systems, as if computed in twice the precision, and
 * what tells how good X is
 *
 *     for each matrix, and each column of its X:
 *       for (i = 0; i < n; i++) {
 *         r[i] = b[i];
 *         for (k = 0; k < n; k++) r[i] -= A[i][k] * x[k];
 *       }
 *       sums[0] = the largest |x[i]|;  sums[1] = the sum of |x[i]| / sums[0], or 0;
 *       sums[2] = the sum of |r[i]|;
 *
 * as `residual`, whose head says why. a0, b0: elements before A and B. A has n x n elements, B, X
 * and R n rows of `columns`, packed. One work-group of ROWS work-items a matrix, in the second dimension
 * for each column.
 */
#ifndef REAL
#define REAL float /* element type: float or double */
#endif
#ifndef ROWS
#define ROWS 32 /* work-items, at least n: a power of two from SIDE on */
#endif
#ifndef SIDE
#define SIDE 4 /* columns of A that are taken at a time: 4, 8, 16 or 32 */
#endif
#pragma OPENCL FP_CONTRACT OFF /* a contracted sum would not be the one whose error we take */

#include "clcompute/strip.h"

/* What all items have: the sum of the first two, and the largest of the third. */
INLINE void survey(__local REAL (*parts)[ROWS], const int t) {
  for (int half_way = ROWS / 2; half_way > 0; half_way /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t < half_way) {
      parts[0][t] += parts[0][t + half_way];
      parts[1][t] += parts[1][t + half_way];
      parts[2][t] = fmax(parts[2][t], parts[2][t + half_way]);
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
}

__kernel __attribute__((reqd_work_group_size(ROWS, 1, 1))) void lu_batch_residual(
    const int n, const int columns, __global const REAL *a, const ulong a0,
    __global const REAL *x, __global const REAL *b, const ulong b0, __global REAL *r,
    __global REAL *sums) {
  __local Strip strip;
  __local REAL parts[3][ROWS];
  const int t = (int)get_local_id(0), is_there = t < n;
  const size_t matrix = get_group_id(0), column = get_group_id(1);
  const size_t at = matrix * n * columns + t * columns + column;
  a += a0 + matrix * n * n;
  const REAL own = is_there ? x[at] : 0;
  REAL sum = is_there ? b[b0 + at] : 0, error = 0;
  for (int k0 = 0; k0 < n; k0 += SIDE) {
    load_strip(&strip, n, a, 0, k0, 0, n, t);
    if (t >= k0 && t < k0 + SIDE) strip.x[t - k0] = own;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < SIDE && is_there; k++) {
      const REAL u = -strip.strip[t * STRIDE + k], v = strip.x[k];
      const REAL product = u * v;
      const REAL product_error = fma(u, v, -product);
      const REAL next = sum + product;
      const REAL back = next - sum;
      error += (sum - (next - back)) + (product - back) + product_error;
      sum = next;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  const REAL left = sum + error;
  if (is_there) r[at] = left;
  parts[0][t] = is_there ? fabs(left) : 0;
  parts[1][t] = 0;
  parts[2][t] = fabs(own);
  survey(parts, t);
  const REAL residue = parts[0][0], largest = parts[2][0];
  barrier(CLK_LOCAL_MEM_FENCE);
  parts[1][t] = largest > 0 ? fabs(own) / largest : 0;
  survey(parts, t);
  sums += (matrix * columns + column) * 3;
  if (t == 0) {
    sums[0] = largest;
    sums[1] = parts[1][0];
    sums[2] = residue;
  }
}
