/* SPDX-License-Identifier: MIT */
/*
 * lu_update: what step k of the elimination does to the rest of the matrix
 *
 *     for (i = k + 1; i < n; i++)
 *       for (j = k + 1; j < n; j++) W[i][j] -= W[i][k] * W[k][j];
 *
 * Global size: at least (n - k - 1) x (n - k - 1), columns first; local size: any.
 */
#ifndef REAL
#define REAL float /* element type: float or double */
#endif

__kernel void lu_update(const ulong n, const ulong k, __global REAL *w) {
  const size_t j = k + 1 + get_global_id(0);
  const size_t i = k + 1 + get_global_id(1);
  if (i < n && j < n) w[i * n + j] -= w[i * n + k] * w[k * n + j];
}
