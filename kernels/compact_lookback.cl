/* SPDX-License-Identifier: MIT */
/*
 * compact_lookback: the elements for which EXPRESSION holds, in one pass over memory, for a GPU
 *
 *     for (i = 0; i < n; i++)
 *       if (EXPRESSION) out[total++] = KEPT;
 *
 * KEPT is computed of every element, whether it is kept or not; VALUE counts elements. A work-group
 * does a tile of GROUP * SHARE elements, and waits for how many those before it keep, as lookback.h
 * has it. A warp has SHARE rows of neighbours: of each row an element's place is how many lanes
 * before it keep theirs, behind what the rows before keep. What the tile keeps goes to local memory
 * and from there out, so neighbours write neighbours.
 * Global size: tiles times GROUP. Local size: GROUP.
 */
#ifndef GROUP
#define GROUP 256 /* work-items of a group; a multiple of 16, whole warps */
#endif
#ifndef VALUE
#define VALUE uint
#endif
#include "clcompute/lookback.h"
#include "clcompute/move.h"
#include "clcompute/warp.h"

#ifndef SHARE
#define SHARE 16 /* elements of a work-item, at most 32 */
#endif

#define TILE (GROUP * SHARE)
#define WARPS (GROUP / WARP)

/* Looks at this work-item's elements of the tile, of which `is_there` says whether there is one. */
#define LOOK(is_there)                           \
  UNROLL for (uint k = 0; k < SHARE; k++) {      \
    const uint p = mine + k * WARP;              \
    if (is_there) {                              \
      const long i = (long)(begin + p);          \
      LOADS                                      \
      value[k] = KEPT;                           \
      if (EXPRESSION) holds |= 1u << k;          \
    }                                            \
  }

__kernel OF_GROUP void compact_lookback(const ulong n, volatile __global ulong *state,
                                        const ulong state_first, __global RESULT *out,
                                        const ulong out_first, __global VALUE *total,
                                        const ulong total_first PARAMETERS) {
  __local RESULT kept[TILE];
  __local uint shown[GROUP], of_warps[WARPS];
  __local Board board;
  const uint me = (uint)get_local_id(0), warp = me / WARP, lane = me % WARP;
  const uint mine = warp * WARP * SHARE + lane; /* this lane's first element */
  Turn turn;
  begin_turn(&turn, state + state_first, &board, me);
  const uint tile = turn.tile;
  const ulong begin = (ulong)tile * TILE;
  const uint size = (uint)min((ulong)TILE, n - begin);

  RESULT value[SHARE];
  uint holds = 0; /* a bit for each element */
  if (size == TILE) {
    LOOK(true)
  } else {
    LOOK(p < size)
  }
  uint place[SHARE], of_warp = 0;
  UNROLL for (uint k = 0; k < SHARE; k++) {
    const uint lanes = clc_ballot(shown, holds >> k & 1);
    place[k] = of_warp + popcount(lanes & ((1u << lane) - 1));
    of_warp += popcount(lanes);
  }
  if (lane == 0) of_warps[warp] = of_warp;
  barrier(CLK_LOCAL_MEM_FENCE);
  uint first = 0, all = 0;
  for (uint w = 0; w < WARPS; w++) {
    if (w == warp) first = all;
    all += of_warps[w];
  }
  if (me == 0) publish_sum(&turn, all);
  UNROLL for (uint k = 0; k < SHARE; k++)
    if (holds >> k & 1) kept[first + place[k]] = value[k];

  if (tile == 0) {
    if (me == 0) board.base = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
  } else {
    if (await_base(&turn, &board, me, 0, 0)) {
      Recount r;
      for (uint at = 0; at < tile; at++) {
        VALUE sum = 0;
        for (uint k = 0; k < SHARE; k++) {
          const long i = (long)((ulong)at * TILE + me + k * GROUP);
          LOADS
          sum += (EXPRESSION) != 0;
        }
        recount(&r, &turn, at, sum, &board, me, 0);
      }
    }
    if (me == 0) publish_base(&turn, &board);
  }

  const VALUE base = board.base;
  for (uint p = me; p < all; p += GROUP) out[out_first + base + p] = kept[p];
  if (me == 0) {
    if (tile == turn.tiles - 1) total[total_first] = base + all;
    end_turn(&turn);
  }
}
