/* SPDX-License-Identifier: MIT */
/*
 * lu_exchange: repeats the exchanges of rows that a panel made, in other columns
 *
 *     for (k = 0; k < count; k++)
 *       for (j = 0; j < columns; j++) swap(W[first + k][j], W[first + pivots[k]][j]);
 *
 * Rows of W are packed, and pivots[k] >= k. A work-item has a column. AHEAD exchanges are read before any is written,
 * where none of them has a row of another one. Global size: at least columns; local size: any.
 */
#ifndef REAL
#define REAL float /* element type: float or double */
#endif
#ifndef AHEAD
#define AHEAD 8 /* exchanges whose rows are on their way at once */
#endif

__kernel void lu_exchange(const ulong count, const ulong columns, const ulong first,
                          __global const int *pivots, __global REAL *w) {
  const size_t j = get_global_id(0);
  if (j >= columns) return;
  __global REAL *x = w + first * columns + j;
  for (int k = 0; k < (int)count; k += AHEAD) {
    int is_apart = k + AHEAD <= (int)count;
    for (int i = 0; is_apart && i < AHEAD; i++) {
      const int p = pivots[k + i];
      is_apart = p == k + i || p >= k + AHEAD;
      for (int l = 0; l < i; l++) is_apart &= pivots[k + l] != p;
    }
    if (is_apart) {
      REAL upper[AHEAD], lower[AHEAD];
      for (int i = 0; i < AHEAD; i++) {
        upper[i] = x[(k + i) * columns];
        lower[i] = x[pivots[k + i] * columns];
      }
      for (int i = 0; i < AHEAD; i++) {
        x[(k + i) * columns] = lower[i];
        x[pivots[k + i] * columns] = upper[i];
      }
    } else {
      for (int i = k; i < (int)count && i < k + AHEAD; i++) {
        const REAL upper = x[i * columns];
        x[i * columns] = x[pivots[i] * columns];
        x[pivots[i] * columns] = upper;
      }
    }
  }
}
