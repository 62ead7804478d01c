/* SPDX-License-Identifier: MIT */
/*
 * sort_starts: where the elements of each chunk go among those of their digit, for sort_move_warps
 *
 *     for (d = 0; d < RADIX; d++) {
 *       for (total = 0, c = 0; c < chunks; c++) {
 *         count = counts[d * chunks + c];
 *         counts[d * chunks + c] = total;
 *         total += count;
 *       }
 *       counts[RADIX * chunks + d] = total;
 *     }
 *
 * A group does a digit: its work-items sum up neighbours, and their sums are scanned in local memory.
 * Global size: RADIX * GROUP. Local size: GROUP.
 */
#ifndef GROUP
#define GROUP 256 /* work-items of a group */
#endif
#include "clcompute/sort.h"

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void sort_starts(
    const ulong chunks, __global COUNT *counts, const ulong counts_first) {
  __local COUNT sums[GROUP];
  const uint me = (uint)get_local_id(0);
  __global COUNT *of_digit = counts + counts_first + get_group_id(0) * chunks;
  const ulong share = (chunks + GROUP - 1) / GROUP, begin = min(me * share, chunks),
              end = min(begin + share, chunks);
  COUNT sum = 0;
  for (ulong c = begin; c < end; c++) sum += of_digit[c];
  sums[me] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint step = 1; step < GROUP; step *= 2) {
    const COUNT before = me >= step ? sums[me - step] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    sums[me] += before;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  COUNT total = sums[me] - sum;
  for (ulong c = begin; c < end; c++) {
    const COUNT count = of_digit[c];
    of_digit[c] = total;
    total += count;
  }
  if (me == GROUP - 1) counts[counts_first + RADIX * chunks + get_group_id(0)] = sums[me];
}
