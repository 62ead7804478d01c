/* SPDX-License-Identifier: MIT */
/*
 * Solving with a triangle T of the n x n matrix W, packed, by a group that has an item a row, n at
 * most ROWS. Needs REAL, ROWS and SIDE (columns of T that a step takes: 4, 8, 16 or 32):
 *
 *     for (each row k of T, from the first, or of an upper triangle from the last)
 *       x[k] = has_ones ? x[k] : x[k] / T[k][k];
 *       for (each i beyond k) x[i] -= T[i][k] * x[k];
 *
 * is_transposed: element (k, i) of W is (i, k) of T; has_ones: the diagonal is ones.
 */
#ifndef CLC_STRIP_H
#define CLC_STRIP_H

#include "triangle.h"
#define STRIDE (SIDE + 4)

typedef struct {
  REAL strip[ROWS * STRIDE] __attribute__((aligned(32))); /* SIDE columns of T */
  REAL x[SIDE] __attribute__((aligned(32)));              /* that become known */
} Strip;

/* Columns k .. k + SIDE - 1 of rows i0 .. i1 - 1, of n. */
INLINE void load_strip(__local Strip *s, const int n, __global const REAL *w,
                       const int is_transposed, const int k, const int i0, const int i1,
                       const int t) {
  const int across = t % SIDE, down = t / SIDE;
  if (is_transposed) {
    if (t >= i0 && t < i1) {
      UNROLL for (int c = 0; c < SIDE; c++)
        s->strip[t * STRIDE + c] = k + c < n ? w[(k + c) * n + t] : 0;
    }
    return;
  }
  for (int i = i0 + down; i < i1; i += ROWS / SIDE)
    s->strip[i * STRIDE + across] = k + across < n ? w[i * n + k + across] : 0;
}

/* The product of a row of the strip and x. */
INLINE REAL multiply_row(__local const Strip *s, const int t) {
  REAL sums[4] = {0, 0, 0, 0};
  UNROLL for (int k = 0; k < SIDE; k += 4) {
    const QUAD l = *(__local const QUAD *)&s->strip[t * STRIDE + k],
               q = *(__local const QUAD *)&s->x[k];
    sums[0] = fma(l.s0, q.s0, sums[0]), sums[1] = fma(l.s1, q.s1, sums[1]);
    sums[2] = fma(l.s2, q.s2, sums[2]), sums[3] = fma(l.s3, q.s3, sums[3]);
  }
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/* Returns x[t], which was v. */
INLINE REAL substitute(__local Strip *s, const int n, __global const REAL *w, const int is_lower,
                       const int has_ones, const int is_transposed, const int t, REAL v) {
  const REAL pivot = has_ones || t >= n ? 1 : w[t * n + t];
  const REAL scale = SCALE(fabs(pivot)), inverse = 1 / (pivot * scale);
  const int last = (n - 1) / SIDE * SIDE;
  for (int step = 0; step <= last; step += SIDE) {
    const int r = is_lower ? step : last - step, end = min(r + SIDE, n);
    load_strip(s, n, w, is_transposed, r, is_lower ? r : 0, is_lower ? n : end, t);
    if (t >= end && t < r + SIDE) s->x[t - r] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    v = solve_triangle(s->strip + t * STRIDE, s->x, r, end - r, is_lower, has_ones, t, v, inverse,
                       scale);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (is_lower ? t >= r + SIDE && t < n : t < r) v -= multiply_row(s, t);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  return v;
}

#endif
