/* SPDX-License-Identifier: MIT */
/*
 * residual: R = B - A X, as if computed in twice the precision
 *
 *     for (i = 0; i < n; i++)
 *       for (j = 0; j < columns; j++) {
 *         R[i][j] = B[i][j];
 *         for (k = 0; k < n; k++) R[i][j] -= A[i][k] * X[k][j];
 *       }
 *
 * Most digits of B cancel, so a plain sum would be left with noise. Products and
 * sums are split into the rounded value and its error, and the errors are summed
 * beside (Ogita, Rump & Oishi 2005, Dot2); no double precision is needed. Products
 * below 2^-102 (float) lose part of their error, which is then far below any unit.
 * a0, b0, x0: elements before each matrix. Global size: at least columns x n x the number of
 * such systems, which lie packed one after the other; local size: any.
 */
#ifndef REAL
#define REAL float /* element type: float or double */
#endif
#pragma OPENCL FP_CONTRACT OFF /* a contracted sum would not be the one whose error we take */

__kernel void residual(const ulong n, const ulong columns, __global const REAL *a, const ulong a0,
                       __global const REAL *x, const ulong x0, __global const REAL *b,
                       const ulong b0, __global REAL *r) {
  const size_t j = get_global_id(0);
  const size_t i = get_global_id(1);
  if (i >= n || j >= columns) return;
  const size_t system = get_global_id(2);
  a += a0 + system * n * n;
  x += x0 + system * n * columns;
  b += b0 + system * n * columns;
  r += system * n * columns;
  __global const REAL *row = a + i * n;
  REAL sum = b[i * columns + j];
  REAL error = 0;
  for (size_t k = 0; k < n; k++) {
    const REAL u = -row[k];
    const REAL v = x[k * columns + j];
    const REAL product = u * v;
    const REAL product_error = fma(u, v, -product);
    const REAL next = sum + product;
    const REAL back = next - sum;
    error += (sum - (next - back)) + (product - back) + product_error;
    sum = next;
  }
  r[i * columns + j] = sum + error;
}
