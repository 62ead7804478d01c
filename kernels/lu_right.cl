/* SPDX-License-Identifier: MIT */
/*
 * lu_right: rows of U right of a block whose columns are factored
 *
 *     for (i = first; i < first + BLOCK; i++)
 *       for (k = first; k < i; k++)
 *         for (j = begin; j < end; j++) W[i][j] -= W[i][k] * W[k][j];
 *
 * A group has ACROSS columns, and an item one row of them in registers. It goes by COLUMNS rows: those have got all
 * from the rows above, ACROSS items solve with their triangle, a column each, and the items of the rows below subtract
 * what they give. Rows of W are ld apart, and are zero up to the next multiple of 4 columns.
 * Global size: BLOCK for each group; local size BLOCK.
 */
#ifndef REAL
#define REAL float /* element type: float or double */
#endif
#ifndef BLOCK
#define BLOCK 16 /* rows: a multiple of COLUMNS, at least ACROSS */
#endif
#ifndef COLUMNS
#define COLUMNS 4 /* rows and columns of a triangle, a multiple of 4 */
#endif
#ifndef ACROSS
#define ACROSS 8 /* columns of a group, a multiple of 4 */
#endif

#include "clcompute/vector.h"
#define STRIDE (COLUMNS + 4)

#define QUADS (COLUMNS / 4)

/* What a work-item brings of the block's columns k .. k + COLUMNS - 1; neighbours read one row. */
INLINE void fetch(__global const REAL *block, const ulong ld, const int k, const int t, QUAD *next) {
  UNROLL for (int q = 0; q < QUADS; q++) {
    const int e = q * BLOCK + t;
    next[q] = vload4(0, block + e / QUADS * ld + k + e % QUADS * 4);
  }
}

/* A column of `rows` with the unit lower triangle, whose column k lies from lower + k * STRIDE on, zeros behind it. What
   is done moves to the end. */
INLINE void solve_column(__local const REAL *lower, __local REAL *rows) {
  REAL y[COLUMNS];
  UNROLL for (int i = 0; i < COLUMNS; i++) y[i] = rows[i * ACROSS];
  for (int k = 0; k < COLUMNS; k++, lower += STRIDE) {
    const REAL done = y[0];
    UNROLL for (int i = 0; i < COLUMNS; i += 4) {
      const QUAD l = *(__local const QUAD *)&lower[i];
      if (i > 0) y[i - 1] = fma(-l.s0, done, y[i]);
      y[i] = fma(-l.s1, done, y[i + 1]);
      y[i + 1] = fma(-l.s2, done, y[i + 2]);
      y[i + 2] = fma(-l.s3, done, y[i + 3]);
    }
    y[COLUMNS - 1] = done;
  }
  UNROLL for (int i = 1; i < COLUMNS; i++) rows[i * ACROSS] = y[i];
}

/* x -= l * a row of `rows`. */
INLINE void subtract_row(const REAL l, __local const REAL *row, REAL *x) {
  UNROLL for (int j = 0; j < ACROSS; j += 4) {
    const QUAD q = *(__local const QUAD *)&row[j];
    x[j] = fma(-l, q.s0, x[j]);
    x[j + 1] = fma(-l, q.s1, x[j + 1]);
    x[j + 2] = fma(-l, q.s2, x[j + 2]);
    x[j + 3] = fma(-l, q.s3, x[j + 3]);
  }
}

__kernel __attribute__((reqd_work_group_size(BLOCK, 1, 1))) void lu_right(
    const ulong first, __global REAL *w, const ulong ld, const ulong begin, const ulong end) {
  __local REAL tile[BLOCK * STRIDE] __attribute__((aligned(32))); /* columns of the block */
  __local REAL lower[COLUMNS * STRIDE] __attribute__((aligned(32)));
  __local REAL rows[COLUMNS * ACROSS] __attribute__((aligned(32)));
  const int t = (int)get_local_id(0);
  const ulong j0 = begin + get_group_id(0) * ACROSS;
  __global const REAL *block = w + first * ld + first;
  __global REAL *own = w + (first + t) * ld + j0;
  QUAD next[QUADS];
  REAL x[ACROSS];
  fetch(block, ld, 0, t, next);
  UNROLL for (int j = 0; j < ACROSS; j += 4) {
    const QUAD q = j0 + j < end ? vload4(0, own + j) : (QUAD)(0);
    x[j] = q.s0, x[j + 1] = q.s1, x[j + 2] = q.s2, x[j + 3] = q.s3;
  }
  for (int s = 0; s < BLOCK; s += COLUMNS) {
    const int row = t - s; /* within the triangle's */
    if (row >= 0 && row < COLUMNS)
      UNROLL for (int j = 0; j < ACROSS; j += 4)
        *(__local QUAD *)&rows[row * ACROSS + j] = (QUAD)(x[j], x[j + 1], x[j + 2], x[j + 3]);
    UNROLL for (int q = 0; q < QUADS; q++) {
      const int e = q * BLOCK + t;
      *(__local QUAD *)&tile[e / QUADS * STRIDE + e % QUADS * 4] = next[q];
    }
    if (s + COLUMNS < BLOCK) fetch(block, ld, s + COLUMNS, t, next);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int e = t; e < COLUMNS * COLUMNS; e += BLOCK) {
      const int k = e / COLUMNS, i = e % COLUMNS;
      lower[k * STRIDE + i] = k + i < COLUMNS ? tile[(s + k + i) * STRIDE + k] : 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t < ACROSS) solve_column(lower, rows + t);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (row >= 0 && row < COLUMNS)
      UNROLL for (int j = 0; j < ACROSS; j += 4) {
        const QUAD q = *(__local const QUAD *)&rows[row * ACROSS + j];
        x[j] = q.s0, x[j + 1] = q.s1, x[j + 2] = q.s2, x[j + 3] = q.s3;
      }
    if (row >= COLUMNS)
      for (int k = 0; k < COLUMNS; k += 4) {
        const QUAD q = *(__local const QUAD *)&tile[t * STRIDE + k];
        subtract_row(q.s0, rows + k * ACROSS, x);
        subtract_row(q.s1, rows + (k + 1) * ACROSS, x);
        subtract_row(q.s2, rows + (k + 2) * ACROSS, x);
        subtract_row(q.s3, rows + (k + 3) * ACROSS, x);
      }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  UNROLL for (int j = 0; j < ACROSS; j += 4)
    if (j0 + j < end) vstore4((QUAD)(x[j], x[j + 1], x[j + 2], x[j + 3]), 0, own + j);
}
