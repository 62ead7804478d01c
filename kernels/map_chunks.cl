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
#include "clcompute/elementwise.h"

#ifndef LANES
#define LANES 64 /* elements at a time; under STREAM their bytes are a multiple of 64 */
#endif
#ifndef STREAM
#define STREAM 0 /* 1: past the caches, where the lines of out start on 64 bytes */
#endif

__kernel void map_chunks(const ulong n, const ulong chunk, __global RESULT *out,
                         const ulong out_first PARAMETERS) {
  FIND_CHUNK(get_global_id(0))
  ulong at = begin;
  for (; at + LANES <= end; at += LANES) {
#if STREAM
    union {
      VALUE elements[LANES];
      uint16 line[LANES * sizeof(VALUE) / 64];
    } block;
    VALUE *v = block.elements;
#else
    VALUE v[LANES]; /* of a union a compiler makes no vectors */
#endif
    FETCH
    for (uint lane = 0; lane < LANES; lane++) {
      const long i = (long)(at + lane);
      LOADS
      v[lane] = (VALUE)(EXPRESSION);
    }
#if STREAM
    __global uint16 *lines = (__global uint16 *)(out + out_first + at);
    for (uint k = 0; k < LANES * sizeof(VALUE) / 64; k++)
      __builtin_nontemporal_store(block.line[k], lines + k);
#else
    for (uint lane = 0; lane < LANES; lane++)
      WRITE(out_first + at + lane, v[lane]);
#endif
  }
  for (; at < end; at++) {
    const long i = (long)at;
    LOADS
    WRITE(out_first + i, (VALUE)(EXPRESSION));
  }
}
