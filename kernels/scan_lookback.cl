/* SPDX-License-Identifier: MIT */
/*
 * scan_lookback: the running results of n elements in one pass over memory, for a GPU
 *
 *     for (i = 0; i < n; i++) out[i] = total = i > 0 ? combine(total, x[i]) : x[i];
 *
 * and with EXCLUSIVE out[i] is the total before element i. A work-group does a tile of GROUP * SHARE
 * elements, and waits for the sums of those before it, as lookback.h has it. A group that waits in
 * vain reads all tiles before its own itself; therefore out is another buffer than x.
 * Global size: tiles times GROUP. Local size: GROUP.
 */
#include "clcompute/lookback.h"

#ifndef SHARE
#define SHARE 15 /* neighbours of a work-item; odd: those of others lie in other banks */
#endif

#define TILE (GROUP * SHARE)

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void scan_lookback(
    const ulong n, volatile __global ulong *state, const ulong state_first, __global RESULT *out,
    const ulong out_first, const int has_init, const VALUE init PARAMETERS) {
  __local VALUE stage[TILE];
  __local Board board;
  const uint me = (uint)get_local_id(0);
  Turn turn;
  begin_turn(&turn, state + state_first, &board, me);
  const uint tile = turn.tile;
  const ulong begin = (ulong)tile * TILE;
  const uint size = (uint)min((ulong)TILE, n - begin);

  if (size == TILE) {
    VALUE element[SHARE];
    UNROLL
    for (uint k = 0; k < SHARE; k++) {
      const long i = (long)(begin + me + k * GROUP);
      LOADS
      element[k] = (VALUE)(EXPRESSION);
    }
    UNROLL
    for (uint k = 0; k < SHARE; k++) stage[me + k * GROUP] = element[k];
  } else { /* what stands behind the last element has no effect */
    for (uint k = me; k < TILE; k += GROUP) {
      const long i = (long)(begin + min(k, size - 1));
      LOADS
      stage[k] = (VALUE)(EXPRESSION);
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  __local VALUE *mine = stage + me * SHARE;
  VALUE sum_of_mine = mine[0];
  UNROLL
  for (uint k = 1; k < SHARE; k++) sum_of_mine = combine(sum_of_mine, mine[k]);
  board.found[PLACE(me)] = sum_of_mine;
  scan_lines(board.found, me, GROUP);
  if (me == 0) publish_sum(&turn, fold_lines(board.found, GROUP));
  VALUE before; /* this work-item, in the tile */
  if (me >= LINE) before = fold_lines(board.found, me / LINE * LINE);
  if (me % LINE > 0) ADD(before, me >= LINE, board.found[PLACE(me - 1)]);
  barrier(CLK_LOCAL_MEM_FENCE);

  if (tile > 0) {
    if (await_base(&turn, &board, me, has_init, init)) {
      Recount r;
      r.base = init;
      for (uint at = 0; at < tile; at++) {
        VALUE sum;
        for (uint k = 0; k < SHARE; k++) {
          const long i = (long)((ulong)at * TILE + me * SHARE + k);
          LOADS
          ADD(sum, k > 0, (VALUE)(EXPRESSION));
        }
        recount(&r, &turn, at, sum, &board, me, has_init);
      }
    }
    if (me == 0) publish_base(&turn, &board);
  }

  const bool has_base = tile > 0 || has_init;
  if (has_base) {
    const VALUE base = tile > 0 ? board.base : init;
    before = me > 0 ? combine(base, before) : base;
  }
  UNROLL
  for (uint k = 0; k < SHARE; k++) {
    VALUE next = mine[k];
    if (k > 0 || me > 0 || has_base) next = combine(before, next);
    mine[k] = EXCLUSIVE ? before : next;
    before = next;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  UNROLL
  for (uint k = 0; k < SHARE; k++)
    if (me + k * GROUP < size) WRITE(out_first + begin + me + k * GROUP, stage[me + k * GROUP]);

  if (me == 0) end_turn(&turn);
}
