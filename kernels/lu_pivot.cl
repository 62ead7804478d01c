/* SPDX-License-Identifier: MIT */
/*
 * lu_pivot: the row with the largest element of column k, from row k down
 *
 *     p = k;
 *     for (i = k + 1; i < n; i++)
 *       if (fabs(W[i][k]) > fabs(W[p][k])) p = i;
 *     pivots[k] = p;  diagonal[k] = W[p][k];
 *
 * The lowest such row, so the result does not depend on the group. W has n rows,
 * ld elements apart. One work-group of GROUP work-items.
 */
#ifndef REAL
#define REAL float /* element type: float or double */
#endif
#ifndef GROUP
#define GROUP 64 /* work-items, a power of two */
#endif

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void lu_pivot(
    const ulong n, const ulong k, __global const REAL *w, const ulong ld, __global int *pivots,
    __global REAL *diagonal) {
  __local REAL best[GROUP];
  __local ulong row[GROUP];
  const uint t = get_local_id(0);
  REAL most = -1;
  ulong at = k;
  for (ulong i = k + t; i < n; i += GROUP) {
    const REAL v = fabs(w[i * ld + k]);
    if (v > most) {
      most = v;
      at = i;
    }
  }
  best[t] = most;
  row[t] = at;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint half_way = GROUP / 2; half_way > 0; half_way /= 2) {
    if (t < half_way) {
      const REAL other = best[t + half_way];
      const ulong other_row = row[t + half_way];
      if (other > best[t] || (other == best[t] && other_row < row[t])) {
        best[t] = other;
        row[t] = other_row;
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (t == 0) {
    pivots[k] = (int)row[0];
    diagonal[k] = w[row[0] * ld + k];
  }
}
