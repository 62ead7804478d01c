/* SPDX-License-Identifier: MIT */
/*
 * Warps: WARP work-items of a group that run together and see what one another have, by NVIDIA's
 * PTX. Elsewhere they show it in local memory, at barriers of the whole group, all of which has to
 * come by: right, but slow.
 *
 *     WARP_BARRIER              what the warp wrote to local memory before, it sees behind it
 *     clc_ballot(shown, is)     lanes of the warp for which `is` is 1, not 0, as bits; `shown` is local
 *                               memory of GROUP elements
 *     clc_match(shown, bits)    lanes of the warp with the same `bits`, BITS of them, as bits
 */
#ifndef CLC_WARP_H
#define CLC_WARP_H

#include "vector.h"

#ifndef BITS
#define BITS 1 /* of what lanes show one another */
#endif

#ifdef __NV_CL_C_VERSION
#define WARP 32
#define WARP_BARRIER asm volatile("bar.warp.sync 0xffffffff;" ::: "memory")

INLINE uint clc_ballot(__local uint *shown, const uint is) {
  uint lanes;
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; vote.sync.ballot.b32 %0, p, 0xffffffff; }"
               : "=r"(lanes)
               : "r"(is));
  return lanes;
}

INLINE uint clc_match(__local uint *shown, const uint bits) {
  uint peers = 0xffffffff;
  UNROLL for (uint b = 0; b < BITS; b++) {
    const uint bit = bits >> b & 1, lanes = clc_ballot(shown, bit);
    peers &= bit ? lanes : ~lanes;
  }
  return peers;
}
#else
#ifndef WARP
#define WARP 8 /* of a group; at most 32 */
#endif
#define WARP_BARRIER barrier(CLK_LOCAL_MEM_FENCE)

/* Lanes of the warp that show `wanted`. */
INLINE uint clc_showing(__local uint *shown, const uint bits, const uint wanted) {
  const uint me = (uint)get_local_id(0);
  uint lanes = 0;
  shown[me] = bits;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint lane = 0; lane < WARP; lane++)
    if (shown[me / WARP * WARP + lane] == wanted) lanes |= 1u << lane;
  barrier(CLK_LOCAL_MEM_FENCE);
  return lanes;
}

INLINE uint clc_ballot(__local uint *shown, const uint is) {
  return clc_showing(shown, is, 1);
}

INLINE uint clc_match(__local uint *shown, const uint bits) {
  return clc_showing(shown, bits, bits);
}
#endif

#endif
