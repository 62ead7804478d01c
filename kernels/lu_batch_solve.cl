/* SPDX-License-Identifier: MIT */
/*
 * lu_batch_solve: solves A X = B with the LU factors of many small matrices
 *
 *     for each matrix: X = B;
 *       for (k = 0; k < n; k++) swap(X[k], X[pivots[k]]);
 *       for (k = 0; k < n; k++) for (i = k + 1; i < n; i++) X[i] -= W[i][k] * X[k];
 *       for (k = n - 1; k >= 0; k--) {
 *         X[k] /= W[k][k];
 *         for (i = 0; i < k; i++) X[i] -= W[i][k] * X[k];
 *       }
 *
 * A matrix has n x n elements, B and X n rows of `columns`, packed; b0 elements lie before B. A
 * single column is taken as it lies by a single work-item: then sums along the rows of W are
 * vectors. Loops are not unrolled, as in lu_batch. One work-group of GROUP work-items a matrix.
 */
#ifndef REAL
#define REAL float /* element type: float or double */
#endif
#ifndef GROUP
#define GROUP 1 /* work-items */
#endif
#ifndef V
#define V 4 /* elements of a vector register, where GROUP is 1 */
#endif

#include "clcompute/vector.h"
#define TOGETHER barrier(CLK_GLOBAL_MEM_FENCE)

#if GROUP == 1 && V > 1
static inline REAL multiply(__global const REAL *x, __global const REAL *y, const int n) {
  VECTOR sums = 0;
  REAL lanes[V], sum = 0;
  int j = 0;
  for (; j + V <= n; j += V) sums = fma(LOAD(0, x + j), LOAD(0, y + j), sums);
  STORE(sums, 0, lanes);
  for (int i = 0; i < V; i++) sum += lanes[i];
  for (; j < n; j++) sum = fma(x[j], y[j], sum);
  return sum;
}

static inline void solve_vector(const int n, __global const REAL *w, __global REAL *x) {
  for (int i = 1; i < n; i++) x[i] -= multiply(w + i * n, x, i);
  for (int i = n - 1; i >= 0; i--)
    x[i] = (x[i] - multiply(w + i * n + i + 1, x + i + 1, n - 1 - i)) / w[i * n + i];
}
#endif

/* Rows i0 .. i0 + rows - 1 of X, less multiples of row k. */
static inline void subtract(const int n, const int columns, __global const REAL *w,
                            __global REAL *x, const int k, const int i0, const int rows,
                            const int t) {
#pragma unroll 1
  for (int e = t; e < rows * columns; e += GROUP) {
    const int i = i0 + e / columns, j = e % columns;
    x[i * columns + j] -= w[i * n + k] * x[k * columns + j];
  }
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void lu_batch_solve(
    const int n, const int columns, __global const REAL *w, __global const int *pivots,
    __global const REAL *b, const ulong b0, __global REAL *x) {
  const int t = (int)get_local_id(0);
  const size_t matrix = get_group_id(0);
  w += matrix * n * n;
  pivots += matrix * n;
  b += b0 + matrix * n * columns;
  x += matrix * n * columns;
  for (int j = t; j < columns; j += GROUP) { /* a column belongs to one work-item */
#pragma unroll 1
    for (int i = 0; i < n; i++) x[i * columns + j] = b[i * columns + j];
#pragma unroll 1
    for (int k = 0; k < n; k++) {
      const REAL upper = x[k * columns + j];
      x[k * columns + j] = x[pivots[k] * columns + j];
      x[pivots[k] * columns + j] = upper;
    }
  }
#if GROUP == 1 && V > 1
  if (columns == 1) {
    solve_vector(n, w, x);
    return;
  }
#endif
  for (int k = 0; k < n; k++) {
    TOGETHER;
    subtract(n, columns, w, x, k, k + 1, n - 1 - k, t);
  }
  for (int k = n - 1; k >= 0; k--) {
    TOGETHER;
#pragma unroll 1
    for (int j = t; j < columns; j += GROUP) x[k * columns + j] /= w[k * n + k];
    TOGETHER;
    subtract(n, columns, w, x, k, 0, k, t);
  }
}
