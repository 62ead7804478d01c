/* SPDX-License-Identifier: MIT */
/*
 * reduce_groups: one result of each chunk of rows of n elements, for a GPU: a work-group does a chunk
 *
 *     for (w = 0; w < get_num_groups(0); w++)
 *       out[w] = EXPRESSION of the chunk's first element, combined with those up to the next chunk
 *
 * Neighbours read neighbours, AT_ONCE elements at a time, each into a result of its own, and the few
 * that are left at once too; the work-items' results are combined in local memory, halving. Where
 * order matters, a work-item takes neighbouring elements, and the first one combines what all found.
 * With ONE_LAUNCH the last group to end combines the groups' results too, into the element of `out`
 * behind them: it sees those of the others behind a fence that OpenCL 1.2 lacks.
 * Global size: n / chunk, rounded up, times GROUP, for each row. Local size: GROUP.
 */
#include "clcompute/reduction.h"

#ifndef GROUP
#define GROUP 256 /* work-items of a group; a power of two */
#endif
#ifndef AT_ONCE
#define AT_ONCE 8 /* elements on their way at once; a power of two */
#endif
#ifndef ONE_LAUNCH
#define ONE_LAUNCH 0 /* 1: no second launch for the groups' results; on NVIDIA alone */
#endif

/* What the first `busy` work-items found, in found[0]. */
static void clc_halve(__local RESULT *found, const uint me, const uint busy) {
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint k = GROUP / 2; k > 0; k /= 2) {
    if (me < k && me + k < busy) found[me] = clc_combine(found[me], found[me + k]);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}

#if ONE_LAUNCH
#define FENCE asm volatile("fence.acq_rel.gpu;" ::: "memory")
#define ENDED , __global uint *ended, const ulong ended_first

/* Whether all other groups have ended; the count is 0 again for the next launch. */
static bool clc_is_last(__global uint *ended) {
  FENCE;
  const bool is_last = atomic_inc(ended) == get_num_groups(0) - 1;
  if (is_last) *ended = 0;
  FENCE;
  return is_last;
}

/* The results of all groups, combined by one of them. */
static RESULT clc_combine_all(volatile __global RESULT *all, __local RESULT *found, const uint me) {
  const uint n = (uint)get_num_groups(0);
  if (me < n) {
    RESULT sum = all[me];
    for (uint k = me + GROUP; k < n; k += GROUP) sum = clc_combine(sum, all[k]);
    found[me] = sum;
  }
  clc_halve(found, me, min(n, (uint)GROUP));
  return found[0];
}
#else
#define ENDED
#endif

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void reduce_groups(
    const ulong n, const ulong chunk, __global STORED *out, const ulong out_first,
    const int has_init, const RESULT init ENDED PARAMETERS) {
  __local RESULT found[GROUP];
  const uint me = (uint)get_local_id(0);
  FIND_PART(get_group_id(0))
  const ulong share = ORDERED ? (end - begin + GROUP - 1) / GROUP : 1;
  const uint busy = (uint)min((ulong)GROUP, (end - begin + share - 1) / share);
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
    ulong at = begin + me;
    const ulong rows = (end - at + GROUP - 1) / GROUP; /* elements of this work-item */
    RESULT part[AT_ONCE];
    if (rows >= AT_ONCE) {
#pragma unroll
      for (uint u = 0; u < AT_ONCE; u++) {
        const long i = (long)(at + u * GROUP);
        LOADS
        part[u] = EXPRESSION;
      }
      ulong row = AT_ONCE;
      for (; row + AT_ONCE <= rows; row += AT_ONCE) {
#pragma unroll
        for (uint u = 0; u < AT_ONCE; u++) {
          const long i = (long)(at + (row + u) * GROUP);
          LOADS
          part[u] = clc_combine(part[u], EXPRESSION);
        }
      }
#pragma unroll
      for (uint k = AT_ONCE / 2; k > 0; k /= 2)
        for (uint u = 0; u < k; u++) part[u] = clc_combine(part[u], part[u + k]);
      sum = part[0];
      at += row * GROUP;
    } else {
      const long i = (long)at;
      LOADS
      sum = EXPRESSION;
      at += GROUP;
    }
#pragma unroll
    for (uint u = 0; u < AT_ONCE - 1; u++)
      if (at + u * GROUP < end) {
        const long i = (long)(at + u * GROUP);
        LOADS
        part[u] = EXPRESSION;
      }
#pragma unroll
    for (uint u = 0; u < AT_ONCE - 1; u++)
      if (at + u * GROUP < end) sum = clc_combine(sum, part[u]);
#endif
    found[me] = sum;
  }
#if ORDERED
  barrier(CLK_LOCAL_MEM_FENCE);
#else
  clc_halve(found, me, busy);
#endif
#if ONE_LAUNCH
  __global RESULT *results = out + out_first;
  const size_t groups = get_num_groups(0);
  __local bool is_last;
  if (me == 0) {
    results[get_group_id(0)] = found[0];
    is_last = groups == 1 || clc_is_last(ended + ended_first);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (!is_last) return;
  const RESULT of_all = groups == 1 ? found[0] : clc_combine_all(results, found, me);
  if (me == 0) results[groups] = has_init ? clc_combine(init, of_all) : of_all;
#else
  if (me == 0) {
    RESULT total = found[0];
    for (uint k = 1; ORDERED && k < busy; k++) total = clc_combine(total, found[k]);
    if (has_init) total = clc_combine(init, total);
    WRITE_RESULT(get_group_id(0), total);
  }
#endif
}
