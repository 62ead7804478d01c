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
 * the next multiple of SIDE; X has n rows of `columns` elements. The second loop goes by SIDE rows, whose triangle all items
 * solve for themselves: it takes no longer than to wait for one.
 * A group has a block, an item a row. Global size: BLOCK for each block beyond, columns; local size BLOCK, 1.
 */
#ifndef REAL
#define REAL float /* element type: float or double */
#endif
#ifndef BLOCK
#define BLOCK 16 /* rows of a block, a multiple of SIDE */
#endif
#ifndef SIDE
#define SIDE 4 /* rows of a triangle that is in registers, a multiple of 4 */
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

#define JOIN_(x, y) x##y
#define JOIN(x, y) JOIN_(x, y)
#define QUAD JOIN(REAL, 4)
#define INLINE static inline __attribute__((always_inline))
#define UNROLL _Pragma("unroll")
#define STRIDE (SIDE + 4)
#define AT(i, k) ((TRANSPOSE ? (k)*ldw + (i) : (i)*ldw + (k)))
#define STEP(s) (LOWER ? (s) : SIDE - 1 - (s)) /* row of a triangle in step s */

/* The product of SIDE elements of row i of T, from column k on, with those of x. */
INLINE REAL multiply(__global const REAL *w, const ulong ldw, const ulong i, const ulong k,
                     const REAL *x) {
  REAL sums[4] = {0, 0, 0, 0};
  UNROLL for (int j = 0; j < SIDE; j += 4) {
    const QUAD q = TRANSPOSE ? (QUAD)(w[AT(i, k + j)], w[AT(i, k + j + 1)], w[AT(i, k + j + 2)],
                                      w[AT(i, k + j + 3)])
                             : vload4(0, w + AT(i, k + j));
    sums[0] = fma(q.s0, x[j], sums[0]);
    sums[1] = fma(q.s1, x[j + 1], sums[1]);
    sums[2] = fma(q.s2, x[j + 2], sums[2]);
    sums[3] = fma(q.s3, x[j + 3], sums[3]);
  }
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/* y with the triangle, whose column k lies at triangle + k * STRIDE. */
INLINE void solve(__local const REAL *triangle, REAL *y) {
  UNROLL for (int s = 0; s < SIDE; s++) {
    const int k = STEP(s);
    if (!UNIT) y[k] /= triangle[k * STRIDE + k];
    UNROLL for (int i = 0; i < SIDE; i += 4) {
      if (LOWER ? i + 3 <= k : i >= k) continue;
      const QUAD q = *(__local const QUAD *)&triangle[k * STRIDE + i];
      if (LOWER ? i > k : i < k) y[i] = fma(-q.s0, y[k], y[i]);
      if (LOWER ? i + 1 > k : i + 1 < k) y[i + 1] = fma(-q.s1, y[k], y[i + 1]);
      if (LOWER ? i + 2 > k : i + 2 < k) y[i + 2] = fma(-q.s2, y[k], y[i + 2]);
      if (LOWER ? i + 3 > k : i + 3 < k) y[i + 3] = fma(-q.s3, y[k], y[i + 3]);
    }
  }
}

__kernel __attribute__((reqd_work_group_size(BLOCK, 1, 1))) void lu_sweep(
    const ulong n, const long known, const ulong columns, __global const REAL *w, const ulong ldw,
    __global REAL *x) {
  __local REAL xs[BLOCK] __attribute__((aligned(32)));
  __local REAL ys[2 * SIDE] __attribute__((aligned(32)));
  __local REAL triangle[2 * SIDE * STRIDE] __attribute__((aligned(32)));
  const int t = (int)get_local_id(0);
  const long group = (long)get_group_id(0), block = LOWER ? known + 1 + group : known - 1 - group;
  const ulong i0 = (ulong)block * BLOCK, i = i0 + t, k0 = (ulong)known * BLOCK;
  const int is_known = LOWER ? known >= 0 : k0 < n;
  x += get_group_id(1);
  REAL v = i < n ? x[i * columns] : 0;
  xs[t] = is_known && k0 + t < n ? x[(k0 + t) * columns] : 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int k = 0; k < BLOCK && is_known && i < n && k0 + k < n; k += SIDE) {
    REAL part[SIDE];
    UNROLL for (int j = 0; j < SIDE; j += 4) {
      const QUAD q = *(__local const QUAD *)&xs[k + j];
      part[j] = q.s0, part[j + 1] = q.s1, part[j + 2] = q.s2, part[j + 3] = q.s3;
    }
    v -= multiply(w, ldw, i, k0 + k, part);
  }
  for (int s = 0; s < BLOCK && group == 0; s += SIDE) {
    const int r = LOWER ? s : BLOCK - SIDE - s, turn = s / SIDE % 2; /* the triangle's first row */
    __local REAL *now = triangle + turn * SIDE * STRIDE;
    for (int e = t; e < SIDE * SIDE; e += BLOCK) {
      const ulong row = i0 + r + e / SIDE, column = i0 + r + e % SIDE;
      /* What lies beyond the matrix is one on the diagonal, else zero. */
      const REAL there = row < n && column < n ? w[row * ldw + column] : (REAL)(row == column);
      now[TRANSPOSE ? e / SIDE * STRIDE + e % SIDE : e % SIDE * STRIDE + e / SIDE] = there;
    }
    if (t >= r && t < r + SIDE) ys[turn * SIDE + t - r] = v;
    barrier(CLK_LOCAL_MEM_FENCE);
    REAL y[SIDE];
    UNROLL for (int j = 0; j < SIDE; j++) y[j] = ys[turn * SIDE + j];
    solve(now, y);
    UNROLL for (int j = 0; j < SIDE; j++)
      if (t == r + j) v = y[j];
    if (i < n && i0 + r < n && (LOWER ? t >= r + SIDE : t < r)) v -= multiply(w, ldw, i, i0 + r, y);
  }
  if (i < n) x[i * columns] = v;
}
