/* SPDX-License-Identifier: MIT */
/*
 * lu_swap: exchanges row k with its pivot row and makes the multipliers of column k
 *
 *     p = pivots[k];
 *     for (j = 0; j < n; j++) swap(W[k][j], W[p][j]);
 *     for (i = k + 1; i < n; i++) W[i][k] /= W[k][k];
 *
 * Work-items 0 .. n - 1 exchange a column each, but for column k; the following
 * n - k - 1 make a multiplier each, and the one of row p exchanges column k too.
 * They take the pivot from `diagonal`, since W[k][k] changes under them. A zero
 * pivot leaves its column, which is zero, as it is.
 * Global size: at least 2 n - k - 1; local size: any.
 */
#ifndef REAL
#define REAL float /* element type: float or double */
#endif

__kernel void lu_swap(const ulong n, const ulong k, __global REAL *w, __global const int *pivots,
                      __global const REAL *diagonal) {
  const size_t t = get_global_id(0);
  const size_t p = pivots[k];
  const REAL pivot = diagonal[k];
  if (t < n) {
    if (t == k || p == k) return;
    const REAL upper = w[k * n + t];
    w[k * n + t] = w[p * n + t];
    w[p * n + t] = upper;
    return;
  }
  const size_t i = k + 1 + t - n;
  if (i >= n || pivot == 0) return;
  REAL v = w[i * n + k];
  if (i == p) {
    v = w[k * n + k];
    w[k * n + k] = pivot;
  }
  w[i * n + k] = v / pivot;
}
