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
#define COLUMNS 4 /* of the panel, a multiple of 4 */
#endif
#ifndef DOWN
#define DOWN 8 /* rows of a group, a multiple of 4 */
#endif
#ifndef WIDE
#define WIDE 16 /* columns that a group updates at a time, a multiple of 4 */
#endif
#define LANES (DOWN / 4 * (WIDE / 4)) /* work-items: at least DOWN */

#define JOIN_(x, y) x##y
#define JOIN(x, y) JOIN_(x, y)
#define QUAD JOIN(REAL, 4)
#define INLINE static inline __attribute__((always_inline))
#define UNROLL _Pragma("unroll")

INLINE void move_column(__global const int *moves, __global REAL *w, const ulong ld) {
  REAL held[2 * COLUMNS];
  UNROLL for (int i = 0; i < 2 * COLUMNS; i++) held[i] = w[moves[2 * COLUMNS + i] * ld];
  UNROLL for (int i = 0; i < 2 * COLUMNS; i++)
    if (moves[i] >= 0) w[moves[i] * ld] = held[i];
}

/* A row's multipliers, where its elements of the panel are. Row k of u has those of the panel's own row from column k
   on, then zeros; what is done moves to the end. */
INLINE void divide_row(__local const REAL *u, __global REAL *row, REAL *x) {
  UNROLL for (int j = 0; j < COLUMNS; j += 4) {
    const QUAD q = vload4(0, row + j);
    x[j] = q.s0, x[j + 1] = q.s1, x[j + 2] = q.s2, x[j + 3] = q.s3;
  }
  for (int k = 0; k < COLUMNS; k++, u += COLUMNS) {
    const REAL pivot = u[0], l = pivot != 0 ? x[0] / pivot : 0, kept = pivot != 0 ? l : x[0];
    UNROLL for (int j = 0; j < COLUMNS; j += 4) {
      const QUAD q = *(__local const QUAD *)&u[j];
      if (j > 0) x[j - 1] = fma(-l, q.s0, x[j]);
      x[j] = fma(-l, q.s1, x[j + 1]);
      x[j + 1] = fma(-l, q.s2, x[j + 2]);
      x[j + 2] = fma(-l, q.s3, x[j + 3]);
    }
    x[COLUMNS - 1] = kept;
  }
  UNROLL for (int j = 0; j < COLUMNS; j += 4)
    vstore4((QUAD)(x[j], x[j + 1], x[j + 2], x[j + 3]), 0, row + j);
}

__kernel __attribute__((reqd_work_group_size(LANES, 1, 1))) void lu_below(
    const ulong n, const ulong first, const int columns, const ulong end, __global REAL *w,
    const ulong ld, const ulong groups, __global const int *lists, const ulong moves,
    const ulong left, const ulong right) {
  __local REAL u[COLUMNS * COLUMNS] __attribute__((aligned(32)));
  __local REAL l[COLUMNS * DOWN] __attribute__((aligned(32)));
  __local REAL above[COLUMNS * WIDE] __attribute__((aligned(32)));
  const int t = (int)get_local_id(0);
  const ulong group = get_group_id(0);
  if (group >= groups) {
    const ulong at = (group - groups) * LANES + t, column = at < left ? at : right + at - left;
    if (column < n) move_column(lists + moves, w + column, ld);
    return;
  }
  const ulong i0 = first + columns + group * DOWN;
  for (int e = t; e < COLUMNS * COLUMNS; e += LANES) {
    const int k = e / COLUMNS, j = k + e % COLUMNS;
    u[e] = k < columns && j < COLUMNS ? w[(first + k) * ld + first + j] : 0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (t < DOWN) {
    REAL x[COLUMNS];
    UNROLL for (int k = 0; k < COLUMNS; k++) x[k] = 0;
    if (i0 + t < n) divide_row(u, w + (i0 + t) * ld + first, x);
    UNROLL for (int k = 0; k < COLUMNS; k++) l[k * DOWN + t] = x[k];
  }
  const int down = t / (WIDE / 4) * 4, across = t % (WIDE / 4) * 4;
  for (ulong j0 = first + columns; j0 < end; j0 += WIDE) {
    for (int e = 4 * t; e < COLUMNS * WIDE; e += 4 * LANES) {
      const ulong column = j0 + e % WIDE;
      *(__local QUAD *)&above[e] = column < end ? vload4(0, w + (first + e / WIDE) * ld + column) : (QUAD)(0);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    QUAD sums[4];
    UNROLL for (int i = 0; i < 4; i++) sums[i] = 0;
    UNROLL for (int k = 0; k < COLUMNS; k++) {
      const QUAD a = *(__local const QUAD *)&l[k * DOWN + down];
      const QUAD b = *(__local const QUAD *)&above[k * WIDE + across];
      sums[0] = fma((QUAD)(a.s0), b, sums[0]);
      sums[1] = fma((QUAD)(a.s1), b, sums[1]);
      sums[2] = fma((QUAD)(a.s2), b, sums[2]);
      sums[3] = fma((QUAD)(a.s3), b, sums[3]);
    }
    UNROLL for (int i = 0; i < 4; i++) {
      __global REAL *to = w + (i0 + down + i) * ld + j0 + across;
      if (i0 + down + i < n && j0 + across < end) vstore4(vload4(0, to) - sums[i], 0, to);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}
