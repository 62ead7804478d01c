/* SPDX-License-Identifier: MIT */
/*
 * compact_groups: the elements for which EXPRESSION holds, for a GPU: a work-group does a chunk
 *
 *     for (i = 0; i < n; i++)
 *       if (EXPRESSION) out[at++] = KEPT;
 *
 * ends[c] is how many the chunks up to and with chunk c keep. A group goes through its chunk in
 * tiles of GROUP * SHARE elements: a work-item looks at SHARE neighbours, their counts are scanned,
 * and what is kept goes to local memory and from there out, so neighbours write neighbours.
 * Global size: n / chunk, rounded up, times GROUP. Local size: GROUP.
 */
#ifndef GROUP
#define GROUP 256 /* work-items of a group; a power of two */
#endif
#include "clcompute/move.h"

#ifndef SHARE
#define SHARE 8 /* neighbours of a work-item in a tile, at most 32 */
#endif

__kernel OF_GROUP void compact_groups(const ulong n, const ulong chunk, __global RESULT *out,
                                      const ulong out_first, __global const COUNT *ends,
                                      const ulong ends_first PARAMETERS) {
  __local uint found[GROUP];
  __local RESULT kept[GROUP * SHARE];
  const uint me = (uint)get_local_id(0);
  FIND_CHUNK(get_group_id(0))
  ulong to = FIRST_KEPT(get_group_id(0));
  for (ulong tile = begin; tile < end; tile += GROUP * SHARE) {
    const ulong first = tile + me * SHARE;
    const uint mine = first < end ? (uint)min((ulong)SHARE, end - first) : 0;
    uint holds = 0; /* a bit for each neighbour */
    for (uint k = 0; k < mine; k++) {
      const long i = (long)(first + k);
      LOADS
      if (EXPRESSION) holds |= 1u << k;
    }
    found[me] = popcount(holds);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = 1; step < GROUP; step *= 2) {
      const uint before = me >= step ? found[me - step] : 0;
      barrier(CLK_LOCAL_MEM_FENCE);
      found[me] += before;
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    uint place = found[me] - popcount(holds);
    for (uint k = 0; k < mine; k++) {
      const long i = (long)(first + k);
      LOADS
      if (holds >> k & 1) kept[place++] = KEPT;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint all = found[GROUP - 1];
    for (uint p = me; p < all; p += GROUP) out[to + p] = kept[p];
    to += all;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}
