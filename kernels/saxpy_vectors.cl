/* SPDX-License-Identifier: MIT */
/*
 * saxpy_vectors: out = alpha * x + y, for a GPU: a work-item does four neighbours
 *
 *     for (i = 0; i < n; i++) out[i] = alpha * x[i] + y[i];
 *
 * `out` may be `x` or `y`. x0, y0, out0 are the elements before the first one of each, multiples
 * of four.
 * Global size: at least n / 4, rounded up; the rest returns at once. Local size: any.
 */
#ifndef REAL
#define REAL float /* element type: float or double */
#endif
#define JOIN(type, width) type##width
#define VECTOR(type) JOIN(type, 4)

__kernel void saxpy_vectors(const ulong n, const REAL alpha, __global const REAL *x, const ulong x0,
                            __global const REAL *y, const ulong y0, __global REAL *out,
                            const ulong out0) {
  const size_t first = get_global_id(0) * 4;
  if (first + 4 <= n) {
    const VECTOR(REAL) a = *(__global const VECTOR(REAL) *)(x + x0 + first);
    const VECTOR(REAL) b = *(__global const VECTOR(REAL) *)(y + y0 + first);
    *(__global VECTOR(REAL) *)(out + out0 + first) = alpha * a + b;
  } else {
    for (size_t i = first; i < n; i++) out[out0 + i] = alpha * x[x0 + i] + y[y0 + i];
  }
}
