/* SPDX-License-Identifier: MIT */
/*
 * solution_sums: what tells how good the columns of a solution are
 *
 *     for (j = 0; j < columns; j++) {
 *       sums[3 * j] = the largest |X[i][j]|;
 *       sums[3 * j + 1] = the sum of |X[i][j]| in units of the largest, or 0;
 *       sums[3 * j + 2] = the sum of |R[i][j]|;
 *     }
 *
 * X and R have n rows of `columns` elements. One work-group of GROUP x 1 work-items a column.
 */
#ifndef REAL
#define REAL float /* element type: float or double */
#endif
#ifndef GROUP
#define GROUP 16 /* work-items, a power of two */
#endif

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void solution_sums(
    const ulong n, const ulong columns, __global const REAL *x, __global const REAL *r,
    __global REAL *sums) {
  __local REAL largest[GROUP], residues[GROUP];
  const int t = (int)get_local_id(0);
  const size_t j = get_global_id(1);
  REAL most = 0, residue = 0, size = 0;
  for (size_t i = t; i < n; i += GROUP) {
    most = fmax(most, fabs(x[i * columns + j]));
    residue += fabs(r[i * columns + j]);
  }
  largest[t] = most;
  residues[t] = residue;
  for (int half_way = GROUP / 2; half_way > 0; half_way /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t < half_way) {
      largest[t] = fmax(largest[t], largest[t + half_way]);
      residues[t] += residues[t + half_way];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  most = largest[0];
  residue = residues[0];
  for (size_t i = t; i < n && most > 0; i += GROUP) size += fabs(x[i * columns + j]) / most;
  barrier(CLK_LOCAL_MEM_FENCE);
  residues[t] = size;
  for (int half_way = GROUP / 2; half_way > 0; half_way /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t < half_way) residues[t] += residues[t + half_way];
  }
  if (t > 0) return;
  sums[3 * j] = most;
  sums[3 * j + 1] = residues[0];
  sums[3 * j + 2] = residue;
}
