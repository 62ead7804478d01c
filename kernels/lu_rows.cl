/* SPDX-License-Identifier: MIT */
/*
 * lu_rows: exchanges rows of X as a panel's pivots ask, then solves T Y = X, in place, for the
 * rows of X beside the panel
 *
 *     for (k = first; k < first + exchanges; k++) swap(X[k], X[pivots[k]]);
 *     for (i = first; i < first + count; i++)
 *       for (k = first; k < i; k++) X[i] -= W[i][k] * X[k];
 *
 * T is the unit lower triangle of the rows and columns first .. first + count - 1 of W. With LOWER
 * 0 it is the upper one, and rows go from the last to the first:
 *
 *     for (i = first + count - 1; i >= first; i--) {
 *       for (k = i + 1; k < first + count; k++) X[i] -= W[i][k] * X[k];
 *       X[i] /= W[i][i];
 *     }
 *
 * A work-item does this for 2 * V columns of X. Items 0 .. items - 1 have the columns from
 * `left` on, and only exchange rows; the others have those from column `right` on. W and X lie ldw and ldx
 * elements from row to row. ROWS rows of X at a time are kept in registers.
 * Global size: items + (end - right) / (2 * V), rounded up; local size: any.
 */
#ifndef REAL
#define REAL float /* element type: float or double */
#endif
#ifndef V
#define V 16 /* elements of a vector register, or 1 */
#endif
#ifndef LOWER
#define LOWER 1 /* 1: from the first row, a diagonal of ones; 0: from the last */
#endif
#define ROWS 4

#include "clcompute/vector.h"

INLINE void exchange(__global REAL *x, __global REAL *y) {
  UNROLL for (int i = 0; i < 2; i++) {
    const VECTOR upper = LOAD(i, x);
    STORE(LOAD(i, y), i, x);
    STORE(upper, i, y);
  }
}

/* N rows of X from x on: less T's elements, from t on, times `depth` rows from y on; then the
   triangle that is left, whose first element is `corner`. */
#define DEFINE_SOLVE(N)                                                                         \
  INLINE void solve_##N(__global const REAL *t, __global const REAL *corner, const size_t ldw,  \
                        const int depth, __global const REAL *y, __global REAL *x,              \
                        const size_t ldx) {                                                     \
    VECTOR a[N], b[N];                                                                          \
    UNROLL for (int i = 0; i < N; i++) {                                                        \
      a[i] = LOAD(0, x + i * ldx);                                                              \
      b[i] = LOAD(1, x + i * ldx);                                                              \
    }                                                                                           \
    for (int k = 0; k < depth; k++, y += ldx) {                                                 \
      const VECTOR y0 = LOAD(0, y), y1 = LOAD(1, y);                                            \
      UNROLL for (int i = 0; i < N; i++) {                                                      \
        a[i] = fma((VECTOR)(-t[i * ldw + k]), y0, a[i]);                                        \
        b[i] = fma((VECTOR)(-t[i * ldw + k]), y1, b[i]);                                        \
      }                                                                                         \
    }                                                                                           \
    UNROLL for (int s = 0; s < N; s++) {                                                        \
      const int i = LOWER ? s : N - 1 - s;                                                      \
      UNROLL for (int q = 0; q < s; q++) {                                                      \
        const int k = LOWER ? q : N - 1 - q;                                                    \
        a[i] = fma((VECTOR)(-corner[i * ldw + k]), a[k], a[i]);                                 \
        b[i] = fma((VECTOR)(-corner[i * ldw + k]), b[k], b[i]);                                 \
      }                                                                                         \
      if (!LOWER) {                                                                             \
        a[i] /= corner[i * ldw + i];                                                            \
        b[i] /= corner[i * ldw + i];                                                            \
      }                                                                                         \
      STORE(a[i], 0, x + i * ldx);                                                              \
      STORE(b[i], 1, x + i * ldx);                                                              \
    }                                                                                           \
  }

DEFINE_SOLVE(1)
DEFINE_SOLVE(4)

INLINE void solve(__global const REAL *w, const size_t ldw, const int count, __global REAL *x,
                  const size_t ldx) {
  int s = 0;
#if LOWER
  for (; s + ROWS <= count; s += ROWS)
    solve_4(w + s * ldw, w + s * ldw + s, ldw, s, x, x + s * ldx, ldx);
  for (; s < count; s++) solve_1(w + s * ldw, w + s * ldw + s, ldw, s, x, x + s * ldx, ldx);
#else
  for (; s + ROWS <= count; s += ROWS) {
    const int i = count - ROWS - s, after = count - s;
    solve_4(w + i * ldw + after, w + i * ldw + i, ldw, s, x + after * ldx, x + i * ldx, ldx);
  }
  for (; s < count; s++) {
    const int i = count - 1 - s;
    solve_1(w + i * ldw + i + 1, w + i * ldw + i, ldw, s, x + (i + 1) * ldx, x + i * ldx, ldx);
  }
#endif
}

__kernel void lu_rows(const ulong first, const int exchanges, const int count,
                      __global const REAL *w, const ulong ldw, __global const int *pivots,
                      __global REAL *x, const ulong ldx, const ulong left, const ulong items,
                      const ulong right, const ulong end) {
  const size_t t = get_global_id(0);
  const size_t column = t < items ? left + t * 2 * V : right + (t - items) * 2 * V;
  if (t >= items && column >= end) return;
  x += column;
  for (size_t k = first; k < first + exchanges; k++)
    if (pivots[k] != (int)k) exchange(x + k * ldx, x + pivots[k] * ldx);
  if (t >= items) solve(w + first * ldw + first, ldw, count, x + first * ldx, ldx);
}
