/* SPDX-License-Identifier: MIT */
/*
 * saxpy_chunks: out = alpha * x + y, for a CPU: a work-item does a chunk, LANES elements at a time
 *
 *     for (i = 0; i < n; i++) out[i] = alpha * x[i] + y[i];
 *
 * `out` may be `x` or `y`. x0, y0, out0 are the elements before the first one of each.
 * Global size: n / chunk, rounded up. Local size: any, 1 is best.
 */
#ifndef REAL
#define REAL float /* element type: float or double */
#endif
#ifndef LANES
#define LANES 16 /* elements at a time, which a compiler makes vectors of */
#endif
#ifndef AHEAD
#define AHEAD 0 /* bytes to prefetch; 0 where the compiler cannot */
#endif
#if AHEAD
#define FETCH(p)                                               \
  for (uint byte = 0; byte < LANES * sizeof(REAL); byte += 64) \
    __builtin_prefetch((const void *)((size_t)(p) + byte + AHEAD), 0, 3);
#else
#define FETCH(p)
#endif

__kernel void saxpy_chunks(const ulong n, const ulong chunk, const REAL alpha,
                           __global const REAL *x, const ulong x0, __global const REAL *y,
                           const ulong y0, __global REAL *out, const ulong out0) {
  const ulong begin = get_global_id(0) * chunk, end = min(begin + chunk, n);
  ulong i = begin;
  for (; i + LANES <= end; i += LANES) {
    REAL v[LANES];
    FETCH(x + x0 + i)
    FETCH(y + y0 + i)
    for (uint k = 0; k < LANES; k++) v[k] = alpha * x[x0 + i + k] + y[y0 + i + k];
    for (uint k = 0; k < LANES; k++) out[out0 + i + k] = v[k];
  }
  for (; i < end; i++) out[out0 + i] = alpha * x[x0 + i] + y[y0 + i];
}
