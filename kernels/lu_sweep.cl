/* SPDX-License-Identifier: MIT */
/*
 * lu_sweep: one step of solving T x = b, in place, by blocks of BLOCK rows, for each column of X
 *
 *     for (each row i beyond block `known`)
 *       for (each k in block `known`) x[i] -= T[i][k] * x[k];
 *     for (each row k of the block after it) {
 *       x[k] = UNIT ? x[k] : x[k] / T[k][k];
 *       for (each i beyond k in that block) x[i] -= T[i][k] * x[k];
 *     }
 *
 * T is the lower triangle of the n x n matrix W, and beyond is below, or with LOWER 0 the upper one and above; with
 * UNIT 1 its diagonal is ones; TRANSPOSE 1 takes element (k, i) of W for (i, k) of T. With `known` -1 or, upwards, the
 * number of blocks, nothing is known and the first block is solved. Rows of W are ldw apart; rows and columns are zero up to
 * the next multiple of SIDE; X has n rows of `columns` elements. Both loops go by SIDE columns of T, whose elements come
 * through local memory; in the second the items of SIDE rows solve with their triangle.
 * A group has a block, an item a row. Global size: BLOCK for each block beyond, columns; local size BLOCK, 1.
 */
#ifndef REAL
#define REAL float /* element type: float or double */
#endif
#ifndef BLOCK
#define BLOCK 16 /* rows of a block, a multiple of SIDE */
#endif
#ifndef SIDE
#define SIDE 4 /* rows of a triangle: 4, 8, 16 or 32 */
#endif
#ifndef LOWER
#define LOWER 1 /* 1: forward, from the first row; 0: backward, from the last */
#endif
#ifndef UNIT
#define UNIT LOWER /* 1: the diagonal is ones */
#endif
#ifndef TRANSPOSE
#define TRANSPOSE 0 /* 1: W holds the transpose of T */
#endif

#include "clcompute/triangle.h"
#define STRIDE (SIDE + 1)
#define QUADS (SIDE / 4)

/* What a work-item brings of columns k .. k + SIDE - 1 of the rows from i0 on: neighbours read one row of W. */
INLINE void fetch(const ulong n, __global const REAL *w, const ulong ldw, const ulong i0,
                  const ulong k, const int t, QUAD *next) {
  UNROLL for (int q = 0; q < QUADS; q++) {
#if TRANSPOSE
    const ulong i = i0 + t;
    __global const REAL *from = w + (k + 4 * q) * ldw + i;
    next[q] = i < n && k < n ? (QUAD)(from[0], from[ldw], from[2 * ldw], from[3 * ldw]) : (QUAD)(0);
#else
    const int e = q * BLOCK + t;
    const ulong i = i0 + e / QUADS;
    next[q] = i < n && k < n ? vload4(0, w + i * ldw + k + e % QUADS * 4) : (QUAD)(0);
#endif
  }
}

INLINE void keep(__local REAL *tile, const int t, const QUAD *next) {
  UNROLL for (int q = 0; q < QUADS; q++) {
    const int e = q * BLOCK + t;
    __local REAL *to =
        TRANSPOSE ? tile + t * STRIDE + 4 * q : tile + e / QUADS * STRIDE + e % QUADS * 4;
    to[0] = next[q].s0, to[1] = next[q].s1, to[2] = next[q].s2, to[3] = next[q].s3;
  }
}

INLINE REAL multiply(__local const REAL *row, __local const REAL *x) {
  REAL sums[4] = {0, 0, 0, 0};
  UNROLL for (int k = 0; k < SIDE; k += 4) {
    const QUAD q = *(__local const QUAD *)&x[k];
    sums[0] = fma(row[k], q.s0, sums[0]), sums[1] = fma(row[k + 1], q.s1, sums[1]);
    sums[2] = fma(row[k + 2], q.s2, sums[2]), sums[3] = fma(row[k + 3], q.s3, sums[3]);
  }
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

__kernel __attribute__((reqd_work_group_size(BLOCK, 1, 1))) void lu_sweep(
    const ulong n, const long known, const ulong columns, __global const REAL *w, const ulong ldw,
    __global REAL *x) {
  __local REAL tile[BLOCK * STRIDE];
  __local REAL xs[BLOCK] __attribute__((aligned(32))); /* that are known */
  __local REAL ys[SIDE] __attribute__((aligned(32)));  /* that become so */
  const int t = (int)get_local_id(0);
  const long group = (long)get_group_id(0), block = LOWER ? known + 1 + group : known - 1 - group;
  const ulong i0 = (ulong)block * BLOCK, i = i0 + t, k0 = (ulong)known * BLOCK;
  const int is_known = LOWER ? known >= 0 : k0 < n;
  QUAD next[QUADS];
  x += get_group_id(1);
  REAL v = i < n ? x[i * columns] : 0;

  xs[t] = is_known && k0 + t < n ? x[(k0 + t) * columns] : 0;
  if (is_known) fetch(n, w, ldw, i0, k0, t, next);
  for (int s = 0; s < BLOCK && is_known; s += SIDE) {
    keep(tile, t, next);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (s + SIDE < BLOCK) fetch(n, w, ldw, i0, k0 + s + SIDE, t, next);
    v -= multiply(tile + t * STRIDE, xs + s);
    barrier(CLK_LOCAL_MEM_FENCE);
  }

  const REAL pivot = UNIT || group > 0 || i >= n ? 1 : w[i * ldw + i];
  const REAL scale = SCALE(fabs(pivot)), inverse = 1 / (pivot * scale);
  if (group == 0) fetch(n, w, ldw, i0, i0 + (LOWER ? 0 : BLOCK - SIDE), t, next);
  for (int s = 0; s < BLOCK && group == 0; s += SIDE) {
    const int r = LOWER ? s : BLOCK - SIDE - s; /* the triangle's first row */
    keep(tile, t, next);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (s + SIDE < BLOCK) fetch(n, w, ldw, i0, i0 + (LOWER ? r + SIDE : r - SIDE), t, next);
    v = solve_triangle(tile + t * STRIDE, ys, r, SIDE, LOWER, UNIT, t, v, inverse, scale);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (LOWER ? t >= r + SIDE : t < r) v -= multiply(tile + t * STRIDE, ys);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (i < n) x[i * columns] = v;
}
