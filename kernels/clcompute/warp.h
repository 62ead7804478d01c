/* SPDX-License-Identifier: MIT */
/*
 * Warps: WARP work-items of a group that run together and see what one another have, by NVIDIA's
 * PTX. Elsewhere they show it in local memory, at barriers of the whole group, all of which has to
 * come by: right, but slow.
 *
 *     WARP_BARRIER              what the warp wrote to local memory before, it sees behind it
 *     clc_match(shown, bits)    lanes of the warp with the same `bits`, BITS of them, as bits; `shown`
 *                               is local memory of GROUP elements
 */
#ifndef CLC_WARP_H
#define CLC_WARP_H

#include "vector.h"

#ifdef __NV_CL_C_VERSION
#define WARP 32
#define WARP_BARRIER asm volatile("bar.warp.sync 0xffffffff;" ::: "memory")

INLINE uint clc_match(__local uint *shown, const uint bits) {
  uint peers = 0xffffffff;
  UNROLL for (uint b = 0; b < BITS; b++) {
    const uint bit = bits >> b & 1;
    uint lanes;
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; vote.sync.ballot.b32 %0, p, 0xffffffff; }"
                 : "=r"(lanes)
                 : "r"(bit));
    peers &= bit ? lanes : ~lanes;
  }
  return peers;
}
#else
#ifndef WARP
#define WARP 8 /* of a group; at most 32 */
#endif
#define WARP_BARRIER barrier(CLK_LOCAL_MEM_FENCE)

INLINE uint clc_match(__local uint *shown, const uint bits) {
  const uint me = (uint)get_local_id(0);
  uint peers = 0;
  shown[me] = bits;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint lane = 0; lane < WARP; lane++)
    if (shown[me / WARP * WARP + lane] == bits) peers |= 1u << lane;
  barrier(CLK_LOCAL_MEM_FENCE);
  return peers;
}
#endif

#endif
