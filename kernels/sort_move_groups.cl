/* SPDX-License-Identifier: MIT */
/*
 * sort_move_groups: a pass of a radix sort, for a GPU: a work-group moves a chunk
 *
 *     for (i = 0; i < n; i++) to[starts[digit of from[i]]++] = from[i];
 *
 * starts[d * chunks + c] is the place of the first element of chunk c with digit d. A group goes
 * through its chunk in tiles of GROUP * SHARE elements, which it sorts in local memory: a work-item
 * counts the digits of SHARE neighbours, the counts of all work-items, digit by digit, are scanned,
 * and so each element has its place. The tile goes out in that order, so neighbours write
 * neighbours. Global size: n / chunk, rounded up, times GROUP. Local size: GROUP.
 */
#ifndef GROUP
#define GROUP 256 /* work-items of a group; a power of two */
#endif
#ifndef SHARE
#define SHARE 8 /* neighbours of a work-item in a tile, which has at most 65535 elements */
#endif
#ifndef BITS
#define BITS 4 /* of a digit */
#endif
#include "clcompute/elementwise.h"
#include "clcompute/sort.h"

#define TILE (GROUP * SHARE)

/* The count of work-item `item` for digit d; what a work-item scans, RADIX neighbours, begins in a
 * bank of its own. */
#define PADDED(i) ((i) + (i) / RADIX * 2)
#define COUNT_OF(d, item) PADDED((d)*GROUP + (item))

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void sort_move_groups(
    const ulong n, const ulong chunk, const int in_place, const uint pass,
    __global const uint *passes, const ulong passes_first, __global const COUNT *starts,
    const ulong starts_first, ELEMENTS CARRIES) {
  __local ushort counts[PADDED(RADIX * GROUP)];
  __local uint sums[GROUP];
  __local KEY tile[TILE];
  __local COUNT next[RADIX];
#if CARRIED
  __local CARRY v_tile[TILE];
#endif
  const uint me = (uint)get_local_id(0);
  const uint needed = passes[passes_first], done = clc_done(needed, pass);
  const int from_place = clc_place(done, popcount(needed), in_place);
  const int to_out = clc_place(done + 1, popcount(needed), in_place) == AT_OUT;
  __global const KEY *from = ELEMENTS_AT(from_place);
  __global KEY *to = to_out ? out + out_first : spare + spare_first;
#if CARRIED
  __global CARRY *v_to = to_out ? v_out + v_out_first : v_spare + v_spare_first;
#endif
  FIND_CHUNK(get_group_id(0))
  const ulong stop = needed >> pass & 1 ? end : begin; /* POCL 3.1: no barrier behind a return */
  for (uint d = me; d < RADIX; d += GROUP)
    next[d] = starts[starts_first + d * get_num_groups(0) + get_group_id(0)];

  for (ulong first = begin; first < stop; first += TILE) {
    const uint busy = (uint)min((ulong)TILE, stop - first);
    for (uint p = me; p < busy; p += GROUP) {
      tile[p] = from[first + p];
#if CARRIED
      v_tile[p] = CARRY_OF(from_place, first + p);
#endif
    }
    for (uint d = 0; d < RADIX; d++) counts[COUNT_OF(d, me)] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);

    KEY mine[SHARE];
    ushort rank[SHARE]; /* among the work-item's elements of the digit */
#if CARRIED
    CARRY v_mine[SHARE];
#endif
#pragma unroll
    for (uint k = 0; k < SHARE; k++) {
      if (me * SHARE + k < busy) {
        mine[k] = tile[me * SHARE + k];
#if CARRIED
        v_mine[k] = v_tile[me * SHARE + k];
#endif
        rank[k] = counts[COUNT_OF(clc_digit(mine[k], pass), me)]++;
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    uint sum = 0;
    for (uint j = 0; j < RADIX; j++) sum += counts[PADDED(me * RADIX + j)];
    sums[me] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = 1; step < GROUP; step *= 2) {
      const uint before = me >= step ? sums[me - step] : 0;
      barrier(CLK_LOCAL_MEM_FENCE);
      sums[me] += before;
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    uint running = sums[me] - sum;
    for (uint j = 0; j < RADIX; j++) {
      const uint count = counts[PADDED(me * RADIX + j)];
      counts[PADDED(me * RADIX + j)] = (ushort)running;
      running += count;
    }
    barrier(CLK_LOCAL_MEM_FENCE);

#pragma unroll
    for (uint k = 0; k < SHARE; k++) {
      if (me * SHARE + k < busy) {
        const uint place = counts[COUNT_OF(clc_digit(mine[k], pass), me)] + rank[k];
        tile[place] = mine[k];
#if CARRIED
        v_tile[place] = v_mine[k];
#endif
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    for (uint p = me; p < busy; p += GROUP) {
      const uint d = clc_digit(tile[p], pass);
      const ulong place = next[d] + (p - counts[COUNT_OF(d, 0)]);
      to[place] = tile[p];
#if CARRIED
      v_to[place] = v_tile[p];
#endif
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint d = me; d < RADIX; d += GROUP)
      next[d] += (d + 1 < RADIX ? counts[COUNT_OF(d + 1, 0)] : busy) - counts[COUNT_OF(d, 0)];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}
