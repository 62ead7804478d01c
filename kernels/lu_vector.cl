/* SPDX-License-Identifier: MIT */
/*
 * lu_vector: solves A x = b, or A^T x = b, with the LU factors of A, for a core of a CPU
 *
 *     x = b;
 *     if (!transposed) {
 *       for (k = 0; k < n; k++) swap(x[k], x[pivots[k]]);
 *       for (i = 0; i < n; i++) for (k = 0; k < i; k++) x[i] -= W[i][k] * x[k];
 *       for (i = n - 1; i >= 0; i--) {
 *         for (k = i + 1; k < n; k++) x[i] -= W[i][k] * x[k];
 *         x[i] /= W[i][i];
 *       }
 *     } else the same with W[k][i] for W[i][k], in the opposite order
 *
 * for each of several columns of b, by a work-item each. W has ld elements from row to row; rows
 * and columns reach up to the next multiple of V, where they are zero. b0 elements lie before b;
 * `work` has ldv elements (n, rounded up so) for each column.
 *
 * It goes by blocks of V rows. As it is, W gives each row's product with the x that are known;
 * transposed, V new x are subtracted from all that follow: both read rows of W from end to end.
 * Global size: the columns; local size: 1.
 */
#ifndef REAL
#define REAL float /* element type: float or double */
#endif
#ifndef V
#define V 16 /* elements of a vector register: 4, 8 or 16 */
#endif

#include "clcompute/vector.h"

__constant REAL LANES[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

/* One round of a transpose: four of them, for V 16, turn rows of vectors into columns. */
#define ROUND(to, from)                              \
  UNROLL for (int i = 0; i < V / 2; i++) {           \
    to[2 * i].even = from[i].lo;                     \
    to[2 * i].odd = from[i + V / 2].lo;              \
    to[2 * i + 1].even = from[i].hi;                 \
    to[2 * i + 1].odd = from[i + V / 2].hi;          \
  }

/* x, whose vectors are rows, with columns instead. */
INLINE void transpose(VECTOR *x) {
  VECTOR y[V];
  ROUND(y, x)
  if (V == 16) {
    ROUND(x, y)
    ROUND(y, x)
  }
  ROUND(x, y)
  if (V == 8) {
    ROUND(y, x)
    UNROLL for (int i = 0; i < V; i++) x[i] = y[i];
  }
}

/* The products of V rows of W, from w on, with elements j0 .. j1 - 1 of x. */
INLINE VECTOR multiply_rows(__global const REAL *w, const size_t ld, const size_t j0,
                            const size_t j1, __global const REAL *x) {
  VECTOR sums[V];
  UNROLL for (int i = 0; i < V; i++) sums[i] = 0;
  for (size_t j = j0; j < j1; j += V) {
    const VECTOR v = LOAD(0, x + j);
    UNROLL for (int i = 0; i < V; i++) sums[i] = fma(LOAD(0, w + i * ld + j), v, sums[i]);
  }
  transpose(sums);
  UNROLL for (int i = 1; i < V; i++) sums[0] += sums[i];
  return sums[0];
}

/* Subtracts V rows of W, from w on, times V elements y from elements j0 .. j1 - 1 of x. */
INLINE void subtract_rows(__global const REAL *w, const size_t ld, const size_t j0,
                          const size_t j1, __global const REAL *y, __global REAL *x) {
  VECTOR factors[V];
  UNROLL for (int i = 0; i < V; i++) factors[i] = -y[i];
  for (size_t j = j0; j < j1; j += V) {
    VECTOR v = LOAD(0, x + j);
    UNROLL for (int i = 0; i < V; i++) v = fma(LOAD(0, w + i * ld + j), factors[i], v);
    STORE(v, 0, x + j);
  }
}

/* V elements of x with a triangle of which t[k] are the multiples of element k in all others; the
   diagonal, where it counts, is at `diagonal`. Rounding up, rows of zeros divide nothing. */
#define LANE LOAD(0, LANES)
#define FORWARD for (int k = 0; k < V; k++)
#define BACKWARD for (int k = V - 1; k >= 0; k--)
#define SOLVE(ORDER, SIDE, DIVISOR)                                      \
  ORDER {                                                                \
    const REAL divisor = DIVISOR;                                        \
    if (divisor != 0) x[k] /= divisor;                                   \
    const VECTOR l = LANE SIDE(VECTOR) k ? t[k] : 0;                     \
    STORE(fma(l, (VECTOR)(-x[k]), LOAD(0, x)), 0, x);                    \
  }

INLINE void load_rows(__global const REAL *w, const size_t ld, VECTOR *t) {
  UNROLL for (int i = 0; i < V; i++) t[i] = LOAD(0, w + i * ld);
}

/* Block s of a pass: the first pass goes down, the second up. */
INLINE size_t block_of(const int up, const size_t s, const size_t end) {
  return up ? end - V - s : s;
}

/* Both passes are one loop: the compiler takes long over what is unrolled here. */
INLINE void solve(__global const REAL *w, const size_t ld, const size_t end, __global REAL *x0) {
  VECTOR t[V];
  for (size_t pass = 0; pass < 2 * end; pass += V) {
    const int up = pass >= end;
    const size_t i = block_of(up, up ? pass - end : pass, end);
    __global const REAL *corner = w + i * ld + i;
    __global REAL *x = x0 + i;
    const VECTOR known = multiply_rows(w + i * ld, ld, up ? i + V : 0, up ? end : i, x0);
    STORE(LOAD(0, x) - known, 0, x);
    load_rows(corner, ld, t);
    transpose(t);
    if (up)
      SOLVE(BACKWARD, <, corner[k * ld + k])
    else
      SOLVE(FORWARD, >, 1)
  }
}

INLINE void solve_transposed(__global const REAL *w, const size_t ld, const size_t end,
                             __global REAL *x0) {
  VECTOR t[V];
  for (size_t pass = 0; pass < 2 * end; pass += V) {
    const int up = pass >= end;
    const size_t i = block_of(up, up ? pass - end : pass, end);
    __global const REAL *corner = w + i * ld + i;
    __global REAL *x = x0 + i;
    load_rows(corner, ld, t);
    if (up)
      SOLVE(BACKWARD, <, 1)
    else
      SOLVE(FORWARD, >, corner[k * ld + k])
    subtract_rows(w + i * ld, ld, up ? 0 : i + V, up ? i : end, x, x0);
  }
}

INLINE void swap(__global REAL *x, const size_t i, const size_t p) {
  const REAL upper = x[i];
  x[i] = x[p];
  x[p] = upper;
}

__attribute__((reqd_work_group_size(1, 1, 1))) __kernel void lu_vector(
    const ulong n, __global const REAL *w, const ulong ld, __global const int *pivots,
    const int transposed, const ulong columns, __global const REAL *b, const ulong b0,
    __global REAL *work, const ulong ldv, __global REAL *out) {
  const size_t column = get_global_id(0);
  const size_t end = (n + V - 1) / V * V;
  __global REAL *x = work + column * ldv;
  b += b0 + column;
  for (size_t i = 0; i < n; i++) x[i] = b[i * columns];
  for (size_t i = n; i < end; i++) x[i] = 0;
  if (transposed) {
    solve_transposed(w, ld, end, x);
    for (size_t i = n; i-- > 0;) swap(x, i, pivots[i]);
  } else {
    for (size_t i = 0; i < n; i++) swap(x, i, pivots[i]);
    solve(w, ld, end, x);
  }
  for (size_t i = 0; i < n; i++) out[i * columns + column] = x[i];
}
