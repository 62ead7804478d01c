/* SPDX-License-Identifier: MIT */
/*
 * residual_vectors: R = B - A X, in twice the precision, for the vectors of a CPU
 *
 *     for (i = 0; i < n; i++)
 *       for (j = 0; j < columns; j++) {
 *         R[i][j] = B[i][j];
 *         for (k = 0; k < n; k++) R[i][j] -= A[i][k] * X[k][j];
 *       }
 *
 * as `residual`, whose head says why. With WIDE 1, for floats where there is double, sums are of
 * doubles, in which a product of floats is exact; else the errors of products and sums are summed
 * beside them. The lanes of a vector hold V elements of a row of A, or with ACROSS 1 V columns of
 * X. A work-item has ROWS rows, of one column or of V.
 * a0, b0, x0: elements before each matrix. Global size: at least columns, or columns / V rounded
 * up, x n / ROWS rounded up; local size: any.
 */
#ifndef REAL
#define REAL float /* element type: float or double */
#endif
#ifndef V
#define V 16 /* elements of a vector register: 4, 8 or 16 */
#endif
#ifndef WIDE
#define WIDE 0 /* 1: sums of doubles */
#endif
#ifndef ACROSS
#define ACROSS 0 /* 1: a vector lies across the columns of X */
#endif
#define ROWS 4
#pragma OPENCL FP_CONTRACT OFF /* a contracted sum would not be the one whose error we take */

#include "clcompute/vector.h"

#if WIDE
#define SUM double
#define WIDEN JOIN(convert_double, V)
#else
#define SUM REAL
#define WIDEN
#endif
#define SUMS JOIN(SUM, V)

/* sum + error <- sum + error + u * v */
INLINE void add_product(const VECTOR u, const VECTOR v, SUMS *sum, SUMS *error) {
#if WIDE
  *sum = fma(WIDEN(u), WIDEN(v), *sum);
#else
  const VECTOR product = u * v;
  const VECTOR next = *sum + product, back = next - *sum;
  *error += (*sum - (next - back)) + (product - back) + fma(u, v, -product);
  *sum = next;
#endif
}

/* b less all lanes. */
INLINE REAL subtract_lanes(const REAL b, const SUMS sums, const SUMS errors) {
  SUM lanes[V], errors_of[V], sum = b, error = 0;
  STORE(sums, 0, lanes);
  STORE(errors, 0, errors_of);
  for (int i = 0; i < V; i++) {
    const SUM next = sum - lanes[i], back = next - sum;
    error += (sum - (next - back)) - (lanes[i] + back) - errors_of[i];
    sum = next;
  }
  return (REAL)(sum + error);
}

/* Elements `step` apart, zeros from the one on that is not there. */
INLINE VECTOR gather(__global const REAL *x, const size_t step, const size_t there) {
  REAL part[V];
  for (int i = 0; i < V; i++) part[i] = (size_t)i < there ? x[i * step] : 0;
  return LOAD(0, part);
}

/* A step: elements of ROWS rows of A, given U, times v. */
#define ADD_ROWS(U)                                                            \
  UNROLL for (int s = 0; s < ROWS; s++) add_product(U, v, &sums[s], &errors[s]);

__kernel void residual_vectors(const ulong n, const ulong columns, __global const REAL *a,
                               const ulong a0, __global const REAL *x, const ulong x0,
                               __global const REAL *b, const ulong b0, __global REAL *r) {
  const size_t j = get_global_id(0) * (ACROSS ? V : 1), i = get_global_id(1) * ROWS;
  if (i >= n || j >= columns) return;
  SUMS sums[ROWS], errors[ROWS];
  UNROLL for (int s = 0; s < ROWS; s++) sums[s] = errors[s] = 0;
  x += x0 + j;
  a += a0 + i * n;
  size_t rows[ROWS]; /* the last one again, where there are fewer */
  UNROLL for (int s = 0; s < ROWS; s++) rows[s] = (i + s < n ? s : n - 1 - i) * n;
  size_t k = 0;
#if ACROSS
  if (columns - j >= V)
    for (; k < n; k++) {
      const VECTOR v = LOAD(0, x + k * columns);
      ADD_ROWS((VECTOR)(a[rows[s] + k]))
    }
  for (; k < n; k++) {
    const VECTOR v = gather(x + k * columns, 1, columns - j);
    ADD_ROWS((VECTOR)(a[rows[s] + k]))
  }
#else
  for (; k + V <= n; k += V) {
    const VECTOR v = columns == 1 ? LOAD(0, x + k) : gather(x + k * columns, columns, V);
    ADD_ROWS(LOAD(0, a + rows[s] + k))
  }
  if (k < n) {
    const VECTOR v = gather(x + k * columns, columns, n - k);
    ADD_ROWS(gather(a + rows[s] + k, 1, n - k))
  }
#endif
  for (int s = 0; s < ROWS && i + s < n; s++) {
    const size_t at = (i + s) * columns + j;
#if ACROSS
    SUM lanes[V], errors_of[V];
    STORE(sums[s], 0, lanes);
    STORE(errors[s], 0, errors_of);
    for (int c = 0; c < V && j + c < columns; c++) {
      const SUM from = b[b0 + at + c], next = from - lanes[c], back = next - from;
      r[at + c] = (REAL)(next + ((from - (next - back)) - (lanes[c] + back) - errors_of[c]));
    }
#else
    r[at] = subtract_lanes(b[b0 + at], sums[s], errors[s]);
#endif
  }
}
