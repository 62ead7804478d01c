/* SPDX-License-Identifier: MIT */
/*
 * lu_substitute: solves T x = b for each column of X, in place, with a triangle T
 * of the n x n matrix W, whose rows lie ldw elements apart
 *
 *     for (s = 0; s < n; s++) {
 *       k = LOWER ? s : n - 1 - s;
 *       x[k] = UNIT ? x[k] : x[k] / T[k][k];
 *       for (each i beyond k) x[i] -= T[i][k] * x[k];
 *     }
 *
 * T is the lower triangle with ones on its diagonal where UNIT is 1, or the upper
 * one; TRANSPOSE 1 takes the element (k, i) of W for (i, k) of T. X has n rows of
 * `columns` elements. One work-group of GROUP work-items for each column. The
 * final x[k] is stored a step late: until the barrier others still divide the
 * value it replaces.
 */
#ifndef REAL
#define REAL float /* element type: float or double */
#endif
#ifndef GROUP
#define GROUP 64 /* work-items */
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
#define T(i, k) w[TRANSPOSE ? (k)*ldw + (i) : (i)*ldw + (k)]

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void lu_substitute(
    const ulong n, const ulong columns, __global const REAL *w, const ulong ldw,
    __global REAL *x) {
  const uint t = get_local_id(0);
  const ulong column = get_group_id(0);
  REAL previous = 0;
  for (ulong s = 0; s < n; s++) {
    const ulong k = LOWER ? s : n - 1 - s;
    barrier(CLK_GLOBAL_MEM_FENCE);
    if (s > 0 && t == 0) x[(LOWER ? k - 1 : k + 1) * columns + column] = previous;
    const REAL v = UNIT ? x[k * columns + column] : x[k * columns + column] / T(k, k);
    for (ulong d = 1 + t; d < n - s; d += GROUP) {
      const ulong i = LOWER ? k + d : k - d;
      x[i * columns + column] -= T(i, k) * v;
    }
    previous = v;
  }
  barrier(CLK_GLOBAL_MEM_FENCE);
  if (t == 0 && n > 0) x[(LOWER ? n - 1 : 0) * columns + column] = previous;
}
