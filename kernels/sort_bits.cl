/* SPDX-License-Identifier: MIT */
/*
 * sort_bits: which digits of the keys differ, and so which passes a radix sort needs
 *
 *     for (i = 0; i < n; i++)
 *       for (p = 0; p < digits; p++)
 *         if (digit p of key i != digit p of key 0) passes |= 1 << p;
 *
 * A group does a chunk: a CPU's is one work-item. passes is 0 before.
 * Global size: n / chunk, rounded up, times GROUP. Local size: GROUP.
 */
#include "clcompute/elementwise.h"
#include "clcompute/sort.h"

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void sort_bits(
    const ulong n, const ulong chunk, __global const KEY *x, const ulong x_first,
    __global uint *passes, const ulong passes_first) {
  FIND_CHUNK(get_group_id(0))
  const KEY first = clc_key(x[x_first]);
  KEY bits = 0;
  for (ulong i = begin + get_local_id(0); i < end; i += GROUP)
    bits |= clc_key(x[x_first + i]) ^ first;
  uint found = 0;
  for (uint p = 0; p * BITS < 8 * sizeof(KEY); p++)
    if (bits >> (p * BITS) & (RADIX - 1)) found |= 1u << p;
#if GROUP > 1
  __local uint all;
  if (get_local_id(0) == 0) all = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_or(&all, found);
  barrier(CLK_LOCAL_MEM_FENCE);
  found = get_local_id(0) == 0 ? all : 0;
#endif
  if (found) atomic_or(passes + passes_first, found);
}
