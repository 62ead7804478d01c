/* SPDX-License-Identifier: MIT */
/*
 * sort_move_warps: a pass of a radix sort, for a GPU whose warps match digits: a work-group moves a
 * chunk
 *
 *     for (i = 0; i < n; i++) to[starts[digit of from[i]]++] = from[i];
 *
 * starts[d * chunks + c] is the place of the first element of chunk c with digit d among all with
 * that digit, and starts[RADIX * chunks + d] is how many these are. A group goes through its chunk in
 * tiles of GROUP * SHARE elements, which it sorts in local memory: a warp has SHARE rows of
 * neighbours, and of each row an element's rank is how many lanes before it have the digit, behind
 * those of the rows before; so no element is counted twice, and none waits for another warp. The tile
 * goes out in order, so neighbours write neighbours; then what is carried does, by the same memory: it
 * is read with the keys, so that one wait is for both.
 * Global size: n / chunk, rounded up, times GROUP. Local size: GROUP.
 */
#ifndef GROUP
#define GROUP 256 /* work-items of a group, at least RADIX, whole warps */
#endif
#ifndef SHARE
#define SHARE 16 /* elements of a work-item in a tile, which has at most 65535 */
#endif
#include "clcompute/elementwise.h"
#include "clcompute/sort.h"
#include "clcompute/warp.h"

#define TILE (GROUP * SHARE)
#define WARPS (GROUP / WARP)

#if CARRIED
#define LARGEST_OF_BOTH (sizeof(CARRY) > sizeof(KEY) ? sizeof(CARRY) : sizeof(KEY))
#else
#define LARGEST_OF_BOTH sizeof(KEY)
#endif

/* counts[d] <- what all digits below d have, for each work-item d < RADIX. */
INLINE void clc_scan_digits(__local COUNT *counts, const uint me) {
  const COUNT mine = me < RADIX ? counts[me] : 0;
  for (uint step = 1; step < RADIX; step *= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    const COUNT before = me >= step && me < RADIX ? counts[me - step] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (me < RADIX) counts[me] += before;
  }
  if (me < RADIX) counts[me] -= mine;
  barrier(CLK_LOCAL_MEM_FENCE);
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void sort_move_warps(
    const ulong n, const ulong chunk, const int in_place, const uint pass,
    __global const uint *passes, const ulong passes_first, __global const COUNT *starts,
    const ulong starts_first, ELEMENTS CARRIES) {
  __local ulong memory[TILE * LARGEST_OF_BOTH / sizeof(ulong)];
  __local ushort seen[WARPS][RADIX]; /* elements of each digit, of a warp; then of the warps before */
  __local COUNT begins[RADIX], next[RADIX];
  __local uint shown[GROUP];
  __local KEY *tile = (__local KEY *)memory;
  const uint me = (uint)get_local_id(0), warp = me / WARP, lane = me % WARP;
  const uint needed = passes[passes_first], done = clc_done(needed, pass);
  const int from_place = clc_place(done, popcount(needed), in_place);
  const int to_out = clc_place(done + 1, popcount(needed), in_place) == AT_OUT;
  __global const KEY *from = ELEMENTS_AT(from_place);
  __global KEY *to = to_out ? out + out_first : spare + spare_first;
#if CARRIED
  __local CARRY *v_tile = (__local CARRY *)memory;
  __global CARRY *v_to = to_out ? v_out + v_out_first : v_spare + v_spare_first;
#endif
  FIND_CHUNK(get_group_id(0))
  const ulong stop = needed >> pass & 1 ? end : begin; /* POCL 3.1: no barrier behind a return */
  const ulong chunks = get_num_groups(0);
  starts += starts_first;
  if (me < RADIX) begins[me] = starts[RADIX * chunks + me];
  clc_scan_digits(begins, me);
  if (me < RADIX) next[me] = begins[me] + starts[me * chunks + get_group_id(0)];

  for (ulong first = begin; first < stop; first += TILE) {
    const uint busy = (uint)min((ulong)TILE, stop - first);
    const uint row = warp * WARP * SHARE + lane; /* this lane's first element */
    const uint own = row < busy ? (busy - row + WARP - 1) / WARP : 0; /* elements of it */
    KEY mine[SHARE];
    uint place[SHARE];
    __global const KEY *from_row = from + first + row;
    if (busy == TILE) {
      UNROLL for (uint k = 0; k < SHARE; k++) mine[k] = from_row[k * WARP];
    } else {
      UNROLL for (uint k = 0; k < SHARE; k++) mine[k] = k < own ? from_row[k * WARP] : 0;
    }
#if CARRIED
    CARRY carried[SHARE];
    UNROLL for (uint k = 0; k < SHARE; k++)
      if (k < own) carried[k] = CARRY_OF(from_place, first + row + k * WARP);
#endif
    for (uint d = lane; d < RADIX; d += WARP) seen[warp][d] = 0;
    WARP_BARRIER;

    UNROLL for (uint k = 0; k < SHARE; k++) {
      /* what is behind the last element has the last digit, so it comes behind all */
      const uint d = k < own ? clc_digit(mine[k], pass) : RADIX - 1, peers = clc_match(shown, d);
      const uint before = seen[warp][d], rank = popcount(peers & ((1u << lane) - 1));
      WARP_BARRIER;
      if (rank == 0) seen[warp][d] = (ushort)(before + popcount(peers));
      WARP_BARRIER;
      place[k] = d << 16 | (before + rank);
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    uint all = 0;
    if (me < RADIX) {
      for (uint w = 0; w < WARPS; w++) {
        const uint count = seen[w][me];
        seen[w][me] = (ushort)all;
        all += count;
      }
      begins[me] = all;
    }
    clc_scan_digits(begins, me);
    UNROLL for (uint k = 0; k < SHARE; k++) {
      const uint d = place[k] >> 16;
      place[k] = (place[k] & 0xffff) + (uint)begins[d] + seen[warp][d];
      tile[place[k]] = mine[k];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (me < RADIX) {
      begins[me] = next[me] - begins[me]; /* from the place in the tile to that in all */
      next[me] += all;
    }
    barrier(CLK_LOCAL_MEM_FENCE);

#if CARRIED
    COUNT at[SHARE];
#endif
    UNROLL for (uint k = 0; k < SHARE; k++) {
      const uint p = me + k * GROUP;
      const KEY e = tile[p];
      const COUNT to_place = begins[clc_digit(e, pass)] + p;
      if (p < busy) to[to_place] = e;
#if CARRIED
      at[k] = to_place;
#endif
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#if CARRIED
    UNROLL for (uint k = 0; k < SHARE; k++)
      if (k < own) v_tile[place[k]] = carried[k];
    barrier(CLK_LOCAL_MEM_FENCE);
    UNROLL for (uint k = 0; k < SHARE; k++)
      if (me + k * GROUP < busy) v_to[at[k]] = v_tile[me + k * GROUP];
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
  }
}
