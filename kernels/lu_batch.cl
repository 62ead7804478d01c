/* SPDX-License-Identifier: MIT */
/*
 * lu_batch: LU factors with partial pivoting of many small matrices, one after the other in memory
 *
 *     for each matrix A, n x n, and its copy W:
 *       facts[0] = the largest sum of magnitudes of a column of A;
 *       for (k = 0; k < n; k++) {
 *         p = the first row from k on with the largest |W[p][k]|;
 *         pivots[k] = p;  diagonal[k] = W[p][k];
 *         for (j = 0; j < n; j++) swap(W[k][j], W[p][j]);
 *         for (i = k + 1; i < n; i++) {
 *           W[i][k] /= W[k][k];
 *           for (j = k + 1; j < n; j++) W[i][j] -= W[i][k] * W[k][j];
 *         }
 *       }
 *       facts[1] = 1 + the first k whose diagonal[k] is zero or not finite, or 0;
 *
 * A pivot that is zero leaves its column as it is. a0 elements lie before the first matrix. Loops that wait for memory
 * are not unrolled: with them a GPU's driver takes twice as long to build.
 * One work-group of GROUP work-items a matrix.
 */
#ifndef REAL
#define REAL float /* element type: float or double */
#endif
#ifndef GROUP
#define GROUP 1 /* work-items, a power of two */
#endif
#ifndef V
#define V 4 /* elements of a vector, at most n, where GROUP is 1; 1: none */
#endif

#include "clcompute/vector.h"

#if GROUP == 1 && V > 1
/* Columns j .. j + V - 1 of the rows below row k: of those only the ones from `low` to `high` - 1
   change, for the others' multiple is zero. */
static inline void update_columns(__global REAL *w, const int n, const int k, const int j,
                                  const int low, const int high) {
  REAL part[V];
  for (int i = 0; i < V; i++) part[i] = j + i >= low && j + i < high ? -w[k * n + j + i] : 0;
  const VECTOR y = LOAD(0, part);
  for (int i = k + 1; i < n; i++)
    STORE(fma((VECTOR)(w[i * n + k]), y, LOAD(0, w + i * n + j)), 0, w + i * n + j);
}
#endif

/* The rows below row k, less multiples of it: by the work-items of the group together, or by one
   in vectors, from the last columns on. n is at least V. */
static inline void update(__global REAL *w, const int n, const int k, const int t) {
#if GROUP == 1 && V > 1
  for (int high = n; high > k + 1; high -= V)
    update_columns(w, n, k, max(high - V, 0), k + 1, high);
#else
  const int m = n - k - 1;
#pragma unroll 1
  for (int e = t; e < m * m; e += GROUP) {
    const int i = k + 1 + e / m, j = k + 1 + e % m;
    w[i * n + j] -= w[i * n + k] * w[k * n + j];
  }
#endif
}

/* Leaves the larger magnitude of the group, or of equal ones the upper row, at the front. */
static inline void find_largest(__local REAL *best, __local int *row, const int t) {
#pragma unroll 1
  for (int half_way = GROUP / 2; half_way > 0; half_way /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t < half_way) {
      const REAL other = best[t + half_way];
      const int other_row = row[t + half_way];
      if (other > best[t] || (other == best[t] && other_row < row[t])) {
        best[t] = other;
        row[t] = other_row;
      }
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void lu_batch(
    const int n, __global const REAL *a, const ulong a0, __global REAL *w, __global int *pivots,
    __global REAL *diagonal, __global REAL *facts) {
  __local REAL best[GROUP];
  __local int row[GROUP];
  const int t = (int)get_local_id(0);
  const size_t matrix = get_group_id(0);
  a += a0 + matrix * n * n;
  w += matrix * n * n;
  pivots += matrix * n;
  diagonal += matrix * n;
  facts += matrix * 2;
  best[t] = 0;
  row[t] = 0;
  for (int j = t; j < n; j += GROUP) {
    REAL sum = 0;
#pragma unroll 1
    for (int i = 0; i < n; i++) {
      const REAL v = a[i * n + j];
      w[i * n + j] = v;
      sum += fabs(v);
    }
    if (!(sum <= best[t])) best[t] = isnan(sum) ? INFINITY : sum;
  }
  find_largest(best, row, t);
  int fault = 0;
  if (t == 0) facts[0] = best[0];
  for (int k = 0; k < n; k++) {
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    best[t] = -1;
    row[t] = k;
#pragma unroll 1
    for (int i = k + t; i < n; i += GROUP)
      if (fabs(w[i * n + k]) > best[t]) {
        best[t] = fabs(w[i * n + k]);
        row[t] = i;
      }
    find_largest(best, row, t);
    const int p = row[0];
    const REAL pivot = w[p * n + k];
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (t == 0) {
      pivots[k] = p;
      diagonal[k] = pivot;
      if (fault == 0 && !(fabs(pivot) > 0 && fabs(pivot) < INFINITY)) fault = k + 1;
    }
    for (int j = t; j < n && p != k; j += GROUP) {
      const REAL upper = w[k * n + j];
      w[k * n + j] = w[p * n + j];
      w[p * n + j] = upper;
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
#pragma unroll 1
    for (int i = k + 1 + t; i < n && pivot != 0; i += GROUP) w[i * n + k] /= pivot;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    update(w, n, k, t);
  }
  if (t == 0) facts[1] = fault;
}
