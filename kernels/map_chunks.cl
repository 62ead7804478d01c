/* SPDX-License-Identifier: MIT */
/*
 * map_chunks: out[i] = EXPRESSION, for a CPU: a work-item does a chunk, LANES elements at a time
 *
 *     for (i = 0; i < n; i++) out[i] = EXPRESSION;
 *
 * The loop over the lanes has a fixed length and no call, so a compiler makes vectors of it. All
 * of its elements are read before one is written: `out` may be an operand.
 * Global size: n / chunk, rounded up. Local size: any, 1 is best.
 */
#ifndef REAL
#define REAL float /* what the defaults below are made of */
#endif
#ifndef RESULT
#define RESULT REAL /* element type of out */
#endif
#ifndef VALUE
#define VALUE REAL /* what is computed: RESULT, or float for half */
#endif
#ifndef HALF
#define HALF 0 /* 1: RESULT is half */
#endif
#ifndef LANES
#define LANES 64 /* elements at a time; their bytes a multiple of 64 */
#endif
#ifndef STREAM
#define STREAM 0 /* 1: past the caches, where the lines of out start on 64 bytes */
#endif
#ifndef EXPRESSION
#define PARAMETERS , __global const REAL *x, const ulong x_first
#define LOADS const REAL arg_x = x[x_first + i];
#define EXPRESSION arg_x
#endif
#ifndef FETCH
#define FETCH /* prefetches what is read some steps after element `at` */
#endif

__kernel void map_chunks(const ulong n, const ulong chunk, __global RESULT *out,
                         const ulong out_first PARAMETERS) {
  const ulong begin = get_global_id(0) * chunk, end = min(begin + chunk, n);
  ulong at = begin;
  for (; at + LANES <= end; at += LANES) {
    union {
      VALUE v[LANES];
      uint16 line[LANES * sizeof(VALUE) / 64];
    } block;
    FETCH
    for (uint lane = 0; lane < LANES; lane++) {
      const long i = (long)(at + lane);
      LOADS
      block.v[lane] = (VALUE)(EXPRESSION);
    }
#if STREAM
    __global uint16 *lines = (__global uint16 *)(out + out_first + at);
    for (uint k = 0; k < LANES * sizeof(VALUE) / 64; k++)
      __builtin_nontemporal_store(block.line[k], lines + k);
#else
    for (uint lane = 0; lane < LANES; lane++)
#if HALF
      vstore_half_rte(block.v[lane], out_first + at + lane, out);
#else
      out[out_first + at + lane] = block.v[lane];
#endif
#endif
  }
  for (; at < end; at++) {
    const long i = (long)at;
    LOADS
#if HALF
    vstore_half_rte((VALUE)(EXPRESSION), out_first + i, out);
#else
    out[out_first + i] = (VALUE)(EXPRESSION);
#endif
  }
}
