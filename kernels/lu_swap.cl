/* SPDX-License-Identifier: MIT */
/*
 * lu_swap: exchanges row k with its pivot row and makes the multipliers of column k
 *
 *     p = pivots[k];
 *     for (j = first; j < end; j++) swap(W[k][j], W[p][j]);
 *     for (i = k + 1; i < n; i++) W[i][k] /= W[k][k];
 *
 * Work-items 0 .. end - first - 1 exchange a column each, but for column k; the following
 * n - k - 1 make a multiplier each, and the one of row p exchanges column k too.
 * They take the pivot from `diagonal`, since W[k][k] changes under them. A zero
 * pivot leaves its column, which is zero, as it is.
 * W has n rows, ld elements apart. Global size: at least end - first + n - k - 1; local size: any.
 */
#ifndef REAL
#define REAL float /* element type: float or double */
#endif

__kernel void lu_swap(const ulong n, const ulong k, const ulong first, const ulong end,
                      __global REAL *w, const ulong ld, __global const int *pivots,
                      __global const REAL *diagonal) {
  const size_t t = get_global_id(0);
  const size_t p = pivots[k];
  const REAL pivot = diagonal[k];
  if (t < end - first) {
    const size_t j = first + t;
    if (j == k || p == k) return;
    const REAL upper = w[k * ld + j];
    w[k * ld + j] = w[p * ld + j];
    w[p * ld + j] = upper;
    return;
  }
  const size_t i = k + 1 + t - (end - first);
  if (i >= n || pivot == 0) return;
  REAL v = w[i * ld + k];
  if (i == p) {
    v = w[k * ld + k];
    w[k * ld + k] = pivot;
  }
  w[i * ld + k] = v / pivot;
}
