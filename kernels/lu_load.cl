/* SPDX-License-Identifier: MIT */
/*
 * lu_load: copies a matrix to where it is factored, with zeros around it, and sums magnitudes
 *
 *     for (i = 0; i < rows; i++)
 *       for (j = 0; j < ld; j++) {
 *         W[i][j] = i < n && j < n ? A[i][j] : 0;
 *         sums[1 + i / CHUNK][j] += fabs(W[i][j]);
 *       }
 *
 * a0 elements lie before A, which has n rows of n elements; W and sums have ld elements, a
 * multiple of V, from row to row.
 * Work-item (j, i) has SPAN * VECTORS * V columns and CHUNK rows. Global size: ld by that x rows by
 * this, rounded up; local size: any.
 */
#ifndef REAL
#define REAL float /* element type: float or double */
#endif
#ifndef V
#define V 16 /* elements of a vector register, or 1 */
#endif
#ifndef VECTORS
#define VECTORS 4 /* that a work-item reads side by side */
#endif
#ifndef SPAN
#define SPAN 1024 /* times as many columns a work-item goes through */
#endif
#ifndef CHUNK
#define CHUNK 128 /* rows of a sum, a multiple of TILE */
#endif
#define TILE 16 /* rows that are read before the next columns */

#include "clcompute/vector.h"

/* Rows r0 .. r1 - 1 of columns `first` to `end`; adds to the sums. */
static inline void load_columns(const size_t n, const size_t first, const size_t end,
                                const size_t r0, const size_t r1, __global const REAL *a,
                                __global REAL *w, const size_t ld, __global REAL *sums) {
  for (size_t j = first; j < end; j++) {
    REAL sum = sums[j];
    for (size_t r = r0; r < r1; r++) {
      const REAL x = r < n && j < n ? a[r * n + j] : 0;
      w[r * ld + j] = x;
      sum += fabs(x);
    }
    sums[j] = sum;
  }
}

static inline void load_vectors(const size_t n, const size_t first, const size_t r0,
                                const size_t r1, __global const REAL *a, __global REAL *w,
                                const size_t ld, __global REAL *sums) {
  VECTOR sum[VECTORS];
  for (int i = 0; i < VECTORS; i++) sum[i] = LOAD(i, sums + first);
  for (size_t r = r0; r < r1; r++)
    for (int i = 0; i < VECTORS; i++) {
      const VECTOR x = LOAD(i, a + r * n + first);
      STORE(x, i, w + r * ld + first);
      sum[i] += fabs(x);
    }
  for (int i = 0; i < VECTORS; i++) STORE(sum[i], i, sums + first);
}

__kernel void lu_load(const ulong n, const ulong rows, __global const REAL *a, const ulong a0,
                      __global REAL *w, const ulong ld, __global REAL *sums) {
  const size_t width = VECTORS * V;
  const size_t first = get_global_id(0) * SPAN * width, r0 = get_global_id(1) * CHUNK;
  const size_t end = min((ulong)(first + SPAN * width), ld), r1 = min((ulong)(r0 + CHUNK), rows);
  a += a0;
  if (first >= ld || r0 >= rows) return;
  sums += (1 + get_global_id(1)) * ld;
  for (size_t j = first; j < end; j++) sums[j] = 0;
  for (size_t r = r0; r < r1; r += TILE) {
    const size_t last = min((ulong)(r + TILE), r1);
    for (size_t j = first; j < end; j += width) {
      if (j + width <= n && last <= n)
        load_vectors(n, j, r, last, a, w, ld, sums);
      else
        load_columns(n, j, min((ulong)(j + width), end), r, last, a, w, ld, sums);
    }
  }
}
