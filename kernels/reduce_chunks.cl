/* SPDX-License-Identifier: MIT */
/*
 * reduce_chunks: one result of each chunk of rows of n elements, for a CPU: a work-item does a chunk
 *
 *     for (w = 0; w < get_global_size(0); w++)
 *       out[w] = EXPRESSION of the chunk's first element, combined with those up to the next chunk
 *
 * LANES results go side by side, which a compiler makes vectors of, over BLOCK rows of elements;
 * then the block's are combined with those of the blocks before. So a sum of k elements goes
 * through BLOCK + k / (LANES * BLOCK) + log2(LANES) additions instead of k.
 * Global size: n / chunk, rounded up, for each row. Local size: any, 1 is best.
 */
#include "clcompute/reduction.h"

#ifndef LANES
#define LANES 64 /* results side by side; a power of two */
#endif
#ifndef BLOCK
#define BLOCK 32 /* rows of elements */
#endif

__kernel void reduce_chunks(const ulong n, const ulong chunk, __global STORED *out,
                            const ulong out_first, const int has_init,
                            const RESULT init PARAMETERS) {
  FIND_PART(get_global_id(0))
  RESULT total;
  ulong at = begin;
  if (ORDERED || end - begin < LANES) {
    for (; at < end; at++) {
      const long i = (long)at;
      LOADS
      const RESULT value = EXPRESSION;
      total = at == begin ? value : clc_combine(total, value);
    }
  } else {
    RESULT sum[LANES];
    while (at + LANES <= end) {
      const int is_first = at == begin;
      RESULT part[LANES];
      for (uint lane = 0; lane < LANES; lane++) {
        const long i = (long)(at + lane);
        LOADS
        part[lane] = EXPRESSION;
      }
      const ulong stop = min(at + LANES * BLOCK, end - LANES + 1);
      for (at += LANES; at < stop; at += LANES) {
        FETCH
        for (uint lane = 0; lane < LANES; lane++) {
          const long i = (long)(at + lane);
          LOADS
          part[lane] = clc_combine(part[lane], EXPRESSION);
        }
      }
      for (uint lane = 0; lane < LANES; lane++)
        sum[lane] = is_first ? part[lane] : clc_combine(sum[lane], part[lane]);
    }
    for (uint lane = 0; lane < end - at; lane++) {
      const long i = (long)(at + lane);
      LOADS
      sum[lane] = clc_combine(sum[lane], EXPRESSION);
    }
    for (uint k = LANES / 2; k > 0; k /= 2)
      for (uint lane = 0; lane < k; lane++) sum[lane] = clc_combine(sum[lane], sum[lane + k]);
    total = sum[0];
  }
  if (has_init) total = clc_combine(init, total);
  WRITE_RESULT(get_global_id(0), total);
}
