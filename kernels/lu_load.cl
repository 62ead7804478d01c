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
 * Work-item (j, i) has VECTORS * V columns and CHUNK rows. Global size: ld / (VECTORS * V) x
 * rows / CHUNK, rounded up; local size: any.
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
#ifndef CHUNK
#define CHUNK 256 /* rows of a sum */
#endif

#define JOIN_(x, y) x##y
#define JOIN(x, y) JOIN_(x, y)
#if V == 1
#define VECTOR REAL
#define LOAD(i, x) (x)[i]
#define STORE(v, i, x) (x)[i] = (v)
#else
#define VECTOR JOIN(REAL, V)
#define LOAD JOIN(vload, V)
#define STORE JOIN(vstore, V)
#endif

__kernel void lu_load(const ulong n, const ulong rows, __global const REAL *a, const ulong a0,
                      __global REAL *w, const ulong ld, __global REAL *sums) {
  const size_t first = get_global_id(0) * VECTORS * V, r0 = get_global_id(1) * CHUNK;
  const size_t r1 = min((ulong)(r0 + CHUNK), rows), there = min((ulong)r1, n);
  if (first >= ld || r0 >= rows) return;
  sums += (1 + get_global_id(1)) * ld;
  if (first + VECTORS * V <= n) {
    VECTOR sum[VECTORS];
    for (int i = 0; i < VECTORS; i++) sum[i] = 0;
    for (size_t r = r0; r < there; r++)
      for (int i = 0; i < VECTORS; i++) {
        const VECTOR x = LOAD(i, a + a0 + r * n + first);
        STORE(x, i, w + r * ld + first);
        sum[i] += fabs(x);
      }
    for (int i = 0; i < VECTORS; i++) STORE(sum[i], i, sums + first);
  } else {
    for (size_t j = first; j < min((ulong)(first + VECTORS * V), ld); j++) {
      REAL sum = 0;
      for (size_t r = r0; r < there; r++) {
        const REAL x = j < n ? a[a0 + r * n + j] : 0;
        w[r * ld + j] = x;
        sum += fabs(x);
      }
      sums[j] = sum;
    }
  }
  for (size_t r = max((ulong)r0, n); r < r1; r++)
    for (size_t j = first; j < min((ulong)(first + VECTORS * V), ld); j++) w[r * ld + j] = 0;
}
