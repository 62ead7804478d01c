/* SPDX-License-Identifier: MIT */
/*
 * lu_exchange: repeats the exchanges of rows that a panel made, in other columns
 *
 *     for (k = 0; k < count; k++)
 *       for (j = 0; j < columns; j++) swap(W[first + k][j], W[first + pivots[k]][j]);
 *
 * Rows of W are packed, and pivots[k] >= k. A work-item has a column, and AHEAD exchanges are read
 * before any is written, where none of them has a row of another one; or, for the caches of a CPU,
 * it has LANES columns. Global size: at least columns / LANES; local size: any.
 */
#ifndef REAL
#define REAL float /* element type: float or double */
#endif
#ifndef AHEAD
#define AHEAD 8 /* exchanges whose rows are on their way at once */
#endif
#ifndef LANES
#define LANES 1 /* columns of a work-item */
#endif

#if LANES > 1
void exchange(const int count, const ulong columns, const int lanes, __global const int *pivots,
              __global REAL *x) {
  for (int k = 0; k < count; k++) {
    __global REAL *a = x + k * columns, *b = x + pivots[k] * columns;
    for (int l = 0; l < lanes; l++) {
      const REAL upper = a[l];
      a[l] = b[l];
      b[l] = upper;
    }
  }
}
#else
void exchange(const int count, const ulong columns, const int lanes, __global const int *pivots,
              __global REAL *x) {
  for (int k = 0; k < count; k += AHEAD) {
    int is_apart = k + AHEAD <= count;
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
      for (int i = k; i < count && i < k + AHEAD; i++) {
        const REAL upper = x[i * columns];
        x[i * columns] = x[pivots[i] * columns];
        x[pivots[i] * columns] = upper;
      }
    }
  }
}
#endif

__kernel void lu_exchange(const ulong count, const ulong columns, const ulong first,
                          __global const int *pivots, __global REAL *w) {
  const size_t j = get_global_id(0) * LANES;
  if (j >= columns) return;
  const int lanes = columns - j < LANES ? columns - j : LANES;
  exchange(count, columns, lanes, pivots, w + first * columns + j);
}
