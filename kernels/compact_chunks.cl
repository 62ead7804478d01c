/* SPDX-License-Identifier: MIT */
/*
 * compact_chunks: the elements for which EXPRESSION holds, for a CPU: a work-item does a chunk
 *
 *     for (i = 0; i < n; i++)
 *       if (EXPRESSION) out[at++] = KEPT;
 *
 * KEPT is computed of every element, whether it is kept or not.
 * ends[c] is how many the chunks up to and with chunk c keep.
 * Global size: n / chunk, rounded up. Local size: any, 1 is best.
 */
#include "clcompute/move.h"

#ifndef LANES
#define LANES 256 /* elements at a time */
#endif

__kernel void compact_chunks(const ulong n, const ulong chunk, __global RESULT *out,
                             const ulong out_first, __global const COUNT *ends,
                             const ulong ends_first PARAMETERS) {
  FIND_CHUNK(get_global_id(0))
  ulong to = FIRST_KEPT(get_global_id(0));
  uchar holds[LANES];
  RESULT kept[LANES];
  for (ulong block = begin; block < end; block += LANES) {
    const uint lanes = (uint)min((ulong)LANES, end - block);
    for (uint lane = 0; lane < lanes; lane++) {
      const long i = (long)(block + lane);
      LOADS
      holds[lane] = (EXPRESSION) != 0;
    }
    uint all = 0;
    for (uint lane = 0; lane < lanes; lane++) { /* without a branch, which would be mispredicted */
      const long i = (long)(block + lane);
      LOADS
      kept[all] = KEPT;
      all += holds[lane];
    }
    for (uint k = 0; k < all; k++) out[to + k] = kept[k];
    to += all;
  }
}
