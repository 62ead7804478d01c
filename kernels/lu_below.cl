/* SPDX-License-Identifier: MIT */
/*
 * lu_below: what a panel that is chosen (lu_tournament) gives to the rows below it, and its exchanges of rows elsewhere
 *
 *     for (i = first + columns; i < n; i++)
 *       for (k = first; k < first + columns; k++) {
 *         W[i][k] /= W[k][k];
 *         for (j = k + 1; j < end; j++) W[i][j] -= W[i][k] * W[k][j];
 *       }
 *     for (j = 0; j < left; j++) rows of column j move as lists + moves says; likewise from column `right` to n - 1
 *
 * A pivot that is zero leaves its column as it is. At lists + moves are 2 * COLUMNS rows to write, or -1, then the
 * rows they had been. Groups 0 .. groups - 1 have DOWN rows each; the others LANES columns each, an item one. Rows of W are ld
 * apart, and are zero from column n on up to the next multiple of 4.
 * Global size: LANES for each group; local size LANES.
 */
#ifndef REAL
#define REAL float /* element type: float or double */
#endif
#ifndef COLUMNS
#define COLUMNS 4 /* of the panel: 4, 8, 16 or 32 */
#endif
#ifndef DOWN
#define DOWN 8 /* rows of a group, a multiple of 4 */
#endif
#ifndef WIDE
#define WIDE 16 /* columns that a group updates at a time, a multiple of 4 */
#endif
#ifndef ACROSS
#define ACROSS 32 /* columns right of the panel at most, a multiple of WIDE */
#endif
#define CHUNKS (ACROSS / WIDE)
#define LANES (DOWN / 4 * (WIDE / 4)) /* work-items: at least DOWN */

#include "clcompute/triangle.h"
#define PAIR JOIN(REAL, 2)

/* F(k) for k = 0, 1, .. COLUMNS - 1, as text: so many steps no compiler unrolls when it is asked to. */
#define REPEAT(F) JOIN(REPEAT_, COLUMNS)(F, 0)

INLINE void move_column(__global const int *moves, __global REAL *w, const ulong ld) {
  REAL held[2 * COLUMNS];
  UNROLL for (int i = 0; i < 2 * COLUMNS; i++) held[i] = w[moves[2 * COLUMNS + i] * ld];
  UNROLL for (int i = 0; i < 2 * COLUMNS; i++)
    if (moves[i] >= 0) w[moves[i] * ld] = held[i];
}

/* Step k of a row's elimination, which leaves its multiplier where column k was. */
INLINE void eliminate(__local const REAL *u, const PAIR inverse, const int k, REAL *x) {
  if (u[k] == 0) return;
  x[k] = x[k] * inverse.s0 * inverse.s1;
  UNROLL for (int j = (k + 1) / 4 * 4; j < COLUMNS; j += 4) {
    const QUAD q = *(__local const QUAD *)&u[j];
    if (j > k) x[j] = fma(-x[k], q.s0, x[j]);
    if (j + 1 > k) x[j + 1] = fma(-x[k], q.s1, x[j + 1]);
    if (j + 2 > k) x[j + 2] = fma(-x[k], q.s2, x[j + 2]);
    if (j + 3 > k) x[j + 3] = fma(-x[k], q.s3, x[j + 3]);
  }
}

__kernel __attribute__((reqd_work_group_size(LANES, 1, 1))) void lu_below(
    const ulong n, const ulong first, const int columns, const ulong end, __global REAL *w,
    const ulong ld, const ulong groups, __global const int *lists, const ulong moves,
    const ulong left, const ulong right) {
  __local REAL u[COLUMNS * COLUMNS] __attribute__((aligned(32)));
  __local PAIR inverses[COLUMNS]; /* of the pivots, in two factors */
  __local REAL l[COLUMNS * DOWN] __attribute__((aligned(32)));
  __local REAL above[COLUMNS * ACROSS] __attribute__((aligned(32)));
  const int t = (int)get_local_id(0);
  const ulong group = get_group_id(0);
  if (group >= groups) {
    const ulong at = (group - groups) * LANES + t, column = at < left ? at : right + at - left;
    if (column < n) move_column(lists + moves, w + column, ld);
    return;
  }
  const ulong i0 = first + columns + group * DOWN, j0 = first + columns;
  const int down = t / (WIDE / 4) * 4, across = t % (WIDE / 4) * 4;
  __global REAL *row = w + (i0 + t) * ld + first, *own = w + (i0 + down) * ld + j0 + across;
  REAL x[COLUMNS];
  QUAD c[CHUNKS][4];
  /* All that is read, at once. */
  UNROLL for (int j = 0; j < COLUMNS; j += 4) {
    const QUAD q = t < DOWN && i0 + t < n ? vload4(0, row + j) : (QUAD)(0);
    x[j] = q.s0, x[j + 1] = q.s1, x[j + 2] = q.s2, x[j + 3] = q.s3;
  }
  UNROLL for (int h = 0; h < CHUNKS; h++)
    UNROLL for (int i = 0; i < 4; i++)
      c[h][i] = i0 + down + i < n && j0 + h * WIDE + across < end ? vload4(0, own + i * ld + h * WIDE) : (QUAD)(0);
  for (int e = t; e < COLUMNS * COLUMNS; e += LANES) {
    const int k = e / COLUMNS;
    u[e] = k < columns ? w[(first + k) * ld + first + e % COLUMNS] : 0;
  }
  if (t < columns) {
    const REAL pivot = w[(first + t) * ld + first + t], scale = SCALE(fabs(pivot));
    inverses[t] = (PAIR)(1 / (pivot * scale), scale);
  }
  for (int e = 4 * t; e < COLUMNS * ACROSS; e += 4 * LANES) {
    const ulong column = j0 + e % ACROSS;
    *(__local QUAD *)&above[e] = column < end ? vload4(0, w + (first + e / ACROSS) * ld + column) : (QUAD)(0);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (t < DOWN) {
#define ELIMINATE(k) eliminate(u + (k) * COLUMNS, inverses[k], k, x);
    REPEAT(ELIMINATE)
    UNROLL for (int j = 0; j < COLUMNS; j += 4)
      if (i0 + t < n) vstore4((QUAD)(x[j], x[j + 1], x[j + 2], x[j + 3]), 0, row + j);
    UNROLL for (int k = 0; k < COLUMNS; k++) l[k * DOWN + t] = x[k];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  UNROLL for (int h = 0; h < CHUNKS; h++) {
    if (j0 + h * WIDE >= end) break;
    UNROLL for (int k = 0; k < COLUMNS; k++) {
      const QUAD a = *(__local const QUAD *)&l[k * DOWN + down];
      const QUAD b = *(__local const QUAD *)&above[k * ACROSS + h * WIDE + across];
      c[h][0] = fma((QUAD)(-a.s0), b, c[h][0]);
      c[h][1] = fma((QUAD)(-a.s1), b, c[h][1]);
      c[h][2] = fma((QUAD)(-a.s2), b, c[h][2]);
      c[h][3] = fma((QUAD)(-a.s3), b, c[h][3]);
    }
    UNROLL for (int i = 0; i < 4; i++)
      if (i0 + down + i < n && j0 + h * WIDE + across < end) vstore4(c[h][i], 0, own + i * ld + h * WIDE);
  }
}
