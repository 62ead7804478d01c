/* SPDX-License-Identifier: MIT */
/*
 * reduce_groups: one result of each chunk of n elements, for a GPU: a work-group does a chunk
 *
 *     for (w = 0; w < get_num_groups(0); w++)
 *       out[w] = EXPRESSION of element w * chunk, combined with those up to the next chunk
 *
 * Neighbours read neighbours, AT_ONCE elements at a time, each into a result of its own; the
 * work-items' results are combined in local memory, halving. Where order matters, a work-item
 * takes neighbouring elements, and the first one combines what all found.
 * Global size: n / chunk, rounded up, times GROUP, each chunk with an element. Local size: GROUP.
 */
#include "clcompute/elementwise.h"

#ifndef ORDERED
#define ORDERED 0 /* 1: from left to right, for what does not commute */
#endif
#ifndef GROUP
#define GROUP 256 /* work-items of a group; a power of two */
#endif
#ifndef AT_ONCE
#define AT_ONCE 8 /* elements on their way at once; a power of two */
#endif
#ifndef OPERATION
#define OPERATION a + b /* of two results a, b */
#endif
#ifndef STORED
#define STORED RESULT /* dtype of out: uchar, the bytes of structs, where RESULT is one */
#endif

static RESULT clc_combine(const RESULT a, const RESULT b) {
  return OPERATION;
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void reduce_groups(
    const ulong n, const ulong chunk, __global STORED *out, const ulong out_first,
    const int has_init, const RESULT init PARAMETERS) {
  __local RESULT found[GROUP];
  const uint me = (uint)get_local_id(0);
  FIND_CHUNK(get_group_id(0))
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
    if (rows >= AT_ONCE) {
      RESULT part[AT_ONCE];
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
    for (; at < end; at += GROUP) {
      const long i = (long)at;
      LOADS
      sum = clc_combine(sum, EXPRESSION);
    }
#endif
    found[me] = sum;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
#if !ORDERED
  for (uint k = GROUP / 2; k > 0; k /= 2) {
    if (me < k && me + k < busy) found[me] = clc_combine(found[me], found[me + k]);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
#endif
  if (me == 0) {
    RESULT total = found[0];
    for (uint k = 1; ORDERED && k < busy; k++) total = clc_combine(total, found[k]);
    if (has_init) total = clc_combine(init, total);
    ((__global RESULT *)(out + out_first))[get_group_id(0)] = total;
  }
}
