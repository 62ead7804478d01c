/* SPDX-License-Identifier: MIT */
/*
 * lu_update: what step k of the elimination does to the rest of the columns before `end`
 *
 *     for (i = k + 1; i < n; i++)
 *       for (j = k + 1; j < end; j++) W[i][j] -= W[i][k] * W[k][j];
 *
 * W has n rows, ld elements apart. Global size: at least (end - k - 1) x (n - k - 1); local
 * size: any.
 */
#ifndef REAL
#define REAL float /* element type: float or double */
#endif

__kernel void lu_update(const ulong n, const ulong k, const ulong end, __global REAL *w,
                        const ulong ld) {
  const size_t j = k + 1 + get_global_id(0);
  const size_t i = k + 1 + get_global_id(1);
  if (i < n && j < end) w[i * ld + j] -= w[i * ld + k] * w[k * ld + j];
}
