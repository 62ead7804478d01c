/* SPDX-License-Identifier: MIT */
/*
 * reduce_groups: one result of each chunk of rows of n elements, for a GPU: a work-group does a chunk
 *
 *     for (w = 0; w < get_num_groups(0); w++)
 *       out[w] = EXPRESSION of the chunk's first element, combined with those up to the next chunk
 *
 * Neighbours read neighbours, LANES elements as one vector and AT_ONCE elements at a time; each vector of
 * these has a result of its own. The few that are left are read one by one, at once too. The work-items'
 * results are combined in local memory, halving. Where order matters, a work-item takes neighbouring
 * elements, and the first one combines what all found.
 * With ONE_LAUNCH there is a result for each row: its last group to end combines those of its chunks.
 * With TOLD the result goes to that address too, unless it is 0, where the host has pinned memory: to
 * the place of a number of one row.
 * With TURNS there is one row, and unless order matters groups take turns at tiles of it: they go through
 * memory side by side.
 * Global size: n / chunk, rounded up, times GROUP, for each row. Local size: GROUP.
 */
#ifndef GROUP
#define GROUP 256 /* work-items of a group; a power of two */
#endif
#include "clcompute/group_result.h"

#ifndef AT_ONCE
#define AT_ONCE (LANES > 1 ? 16 : 8) /* elements on their way at once; a power of two, at least LANES */
#endif

#ifndef TOLD
#define TOLD 0 /* 1: on NVIDIA alone */
#endif
#if TOLD
#define TELL , const ulong told
#else
#define TELL
#endif
#ifndef TURNS
#define TURNS 0
#endif

#define VECTORS_AT_ONCE (AT_ONCE / LANES)
#define TILE (GROUP * AT_ONCE)

#if TURNS
#define FIND_SHARE(number)                                                                 \
  const ulong parts = get_num_groups(0), place = 0, nth = (number),                        \
              begin = nth * (ORDERED ? chunk : TILE), end = ORDERED ? min(begin + chunk, n) : n, \
              step = parts * TILE;
#else
#define FIND_SHARE(number) FIND_PART(number) const ulong step = TILE;
#endif

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void reduce_groups(
    const ulong n, const ulong chunk, __global STORED *out, const ulong out_first,
    const int has_init, const RESULT init FOUND_PARTS TELL PARAMETERS) {
#if ONE_LAUNCH
  __local bool is_last;
#endif
  __local RESULT found[GROUP];
  const uint me = (uint)get_local_id(0);
  FIND_SHARE(get_group_id(0))
  const ulong share = ORDERED ? (end - begin + GROUP - 1) / GROUP : 1;
  uint busy = (uint)min((ulong)GROUP, (end - begin + share - 1) / share);
  if (me < busy) {
    RESULT sum;
#if ORDERED
    for (ulong at = begin + me * share; at < min(begin + (me + 1) * share, end); at++) {
      const long i = (long)at;
      LOADS
      const RESULT value = EXPRESSION;
      sum = at == begin + me * share ? value : clc_combine(sum, value);
    }
#else
    ulong tile = begin;
    if (tile + TILE <= end) {
      RESULT part[VECTORS_AT_ONCE];
      for (; tile + TILE <= end; tile += step) {
        UNROLL for (uint u = 0; u < VECTORS_AT_ONCE; u++) {
          RESULT of_vector;
          EACH_VALUE(tile + (u * GROUP + me) * LANES,
                     of_vector = lane == 0 ? value : clc_combine(of_vector, value);)
          part[u] = tile == begin ? of_vector : clc_combine(part[u], of_vector);
        }
      }
      UNROLL for (uint k = VECTORS_AT_ONCE / 2; k > 0; k /= 2)
        for (uint u = 0; u < k; u++) part[u] = clc_combine(part[u], part[u + k]);
      sum = part[0];
    }
    if (tile < end) {
      RESULT left[AT_ONCE];
      UNROLL for (uint u = 0; u < AT_ONCE; u++)
        if (tile + u * GROUP + me < end) {
          const long i = (long)(tile + u * GROUP + me);
          LOADS
          left[u] = EXPRESSION;
        }
      UNROLL for (uint u = 0; u < AT_ONCE; u++)
        if (tile + u * GROUP + me < end)
          sum = u == 0 && tile == begin ? left[0] : clc_combine(sum, left[u]);
    }
#endif
    found[me] = sum;
  }
#if ORDERED
  barrier(CLK_LOCAL_MEM_FENCE);
#else
  clc_halve(found, me, me, 1, busy, GROUP, 1);
#endif
  ulong at = get_group_id(0);
#if ONE_LAUNCH
  if (parts > 1) {
    __global RESULT *of_row = found_parts + found_parts_first + place * parts;
    if (me == 0) {
      of_row[nth] = found[0];
      is_last = clc_is_last(ended + ended_first + place, parts);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (!is_last) return;
    busy = (uint)min((ulong)GROUP, parts);
    if (me < busy)
      clc_combine_parts(found, me, of_row + me, GROUP, (uint)((parts - me + GROUP - 1) / GROUP), 1);
    clc_halve(found, me, me, 1, busy, GROUP, 1);
  }
  at = place;
#endif
  if (me == 0) {
    RESULT total = found[0];
    for (uint k = 1; ORDERED && k < busy; k++) total = clc_combine(total, found[k]);
    if (has_init) total = clc_combine(init, total);
    WRITE_RESULT(at, total);
#if TOLD
    if (told != 0) *(volatile __global RESULT *)told = total;
#endif
  }
}
