/* SPDX-License-Identifier: MIT */
/*
 * sort_count: how many elements of each chunk have each digit
 *
 *     for (c = 0; c < chunks; c++)
 *       for (d = 0; d < RADIX; d++)
 *         counts[d * chunks + c] = elements of chunk c whose digit number `pass` is d;
 *
 * A group does a chunk: a CPU's is one work-item. Where the pass is not needed all counts are 0.
 * Global size: n / chunk, rounded up, times GROUP. Local size: GROUP.
 */
#include "clcompute/elementwise.h"
#include "clcompute/sort.h"

#ifndef AT_ONCE
#define AT_ONCE 8 /* elements on their way at once, of a GPU's work-item */
#endif

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void sort_count(
    const ulong n, const ulong chunk, const int in_place, const uint pass,
    __global const uint *passes, const ulong passes_first, __global COUNT *counts,
    const ulong counts_first, ELEMENTS) {
  const uint needed = passes[passes_first];
  const int is_needed = needed >> pass & 1;
  FIND_CHUNK(get_group_id(0))
  __global const KEY *from =
      ELEMENTS_AT(clc_place(clc_done(needed, pass), popcount(needed), in_place));
  counts += counts_first + get_group_id(0);
#if GROUP > 1
  __local uint count[RADIX];
  for (uint d = get_local_id(0); d < RADIX; d += GROUP) count[d] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (is_needed) {
    ulong at = begin + get_local_id(0);
    for (; at + (AT_ONCE - 1) * GROUP < end; at += AT_ONCE * GROUP) {
      KEY e[AT_ONCE];
      UNROLL for (uint u = 0; u < AT_ONCE; u++) e[u] = from[at + u * GROUP];
      UNROLL for (uint u = 0; u < AT_ONCE; u++) atomic_inc(&count[clc_digit(e[u], pass)]);
    }
    for (; at < end; at += GROUP) atomic_inc(&count[clc_digit(from[at], pass)]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
#else
  COUNT count[RADIX];
  for (uint d = 0; d < RADIX; d++) count[d] = 0;
  if (is_needed)
    for (ulong i = begin; i < end; i++) count[clc_digit(from[i], pass)]++;
#endif
  for (uint d = get_local_id(0); d < RADIX; d += GROUP) counts[d * get_num_groups(0)] = count[d];
}
