/* SPDX-License-Identifier: MIT */
/*
 * residual_lanes: R = B - A X, in twice the precision, for groups of a GPU
 *
 *     for (i = 0; i < n; i++)
 *       for (j = 0; j < columns; j++) {
 *         R[i][j] = B[i][j];
 *         for (k = 0; k < n; k++) R[i][j] -= A[i][k] * X[k][j];
 *       }
 *
 * as `residual`, whose head says why. A row has LANES work-items side by side, each with every
 * LANES-th of its elements.
 * a0, b0, x0: elements before each matrix. Global size: n * LANES, rounded up to whole groups, x columns x the number of
 * such systems, which lie packed one after the other; local size: GROUP, 1, 1.
 */
#ifndef REAL
#define REAL float /* element type: float or double */
#endif
#ifndef GROUP
#define GROUP 16 /* work-items, a multiple of LANES */
#endif
#ifndef LANES
#define LANES 8 /* of a row, a power of two */
#endif
#pragma OPENCL FP_CONTRACT OFF /* a contracted sum would not be the one whose error we take */

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void residual_lanes(
    const ulong n, const ulong columns, __global const REAL *a, const ulong a0,
    __global const REAL *x, const ulong x0, __global const REAL *b, const ulong b0,
    __global REAL *r) {
  __local REAL sums[GROUP], errors[GROUP];
  const int t = (int)get_local_id(0), lane = t % LANES;
  const size_t i = get_global_id(0) / LANES, j = get_global_id(1), system = get_global_id(2);
  a += a0 + system * n * n + i * n;
  x += x0 + system * n * columns + j;
  REAL sum = 0, error = 0;
  for (size_t k = lane; i < n && k < n; k += LANES) {
    const REAL u = -a[k], v = x[k * columns];
    const REAL product = u * v;
    const REAL product_error = fma(u, v, -product);
    const REAL next = sum + product;
    const REAL back = next - sum;
    error += (sum - (next - back)) + (product - back) + product_error;
    sum = next;
  }
  sums[t] = sum;
  errors[t] = error;
  for (int half_way = LANES / 2; half_way > 0; half_way /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < half_way) {
      const REAL one = sums[t], other = sums[t + half_way];
      const REAL next = one + other, back = next - one;
      errors[t] += errors[t + half_way] + ((one - (next - back)) + (other - back));
      sums[t] = next;
    }
  }
  if (lane > 0 || i >= n) return;
  const size_t at = system * n * columns + i * columns + j;
  const REAL from = b[b0 + at], next = from + sums[t], back = next - from;
  r[at] = next + (errors[t] + ((from - (next - back)) + (sums[t] - back)));
}
