/* SPDX-License-Identifier: MIT */
/*
 * sort_finish: out = what a radix sort left elsewhere: at x, where no pass was needed, or in
 * `spare`
 *
 *     for (i = 0; i < n; i++) out[i] = from[i];
 *
 * A group does a chunk: a CPU's is one work-item.
 * Global size: n / chunk, rounded up, times GROUP. Local size: GROUP.
 */
#include "clcompute/elementwise.h"
#include "clcompute/sort.h"

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void sort_finish(
    const ulong n, const ulong chunk, const int in_place, __global const uint *passes,
    const ulong passes_first, ELEMENTS CARRIES) {
  FIND_CHUNK(get_group_id(0))
  const uint all = popcount(passes[passes_first]);
  const int place = clc_place(all, all, in_place);
  if (place == AT_OUT) return;
  __global const KEY *from = ELEMENTS_AT(place);
  if (!(in_place && place == AT_X))
    for (ulong i = begin + get_local_id(0); i < end; i += GROUP) out[out_first + i] = from[i];
#if CARRIED
  for (ulong i = begin + get_local_id(0); i < end; i += GROUP)
    v_out[v_out_first + i] = CARRY_OF(place, i);
#endif
}
