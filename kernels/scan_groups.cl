/* SPDX-License-Identifier: MIT */
/*
 * scan_groups: the running results of each row of n elements, for a GPU: a work-group does a chunk
 *
 *     for (i = 0; i < n; i++) out[i] = total = i > 0 ? combine(total, x[i]) : x[i];
 *
 * and with EXCLUSIVE out[i] is the total before element i. The results of whole chunks are in
 * `sums`; a group combines those of the chunks of the row before its own. Then it goes through its
 * chunk in tiles of GROUP * SHARE elements, which neighbours read and write together, by way of
 * local memory, where a work-item finds its SHARE neighbours. Global size: n / chunk, rounded up,
 * times GROUP, for each row. Local size: GROUP.
 */
#include "clcompute/scan.h"

#ifndef GROUP
#define GROUP 256 /* work-items of a group; a power of two */
#endif
#ifndef SHARE
#define SHARE (sizeof(VALUE) > 4 ? 8 : 12) /* neighbours of a work-item in a tile */
#endif

#define LINE 16 /* work-items whose results one of them scans */
#define LINES ((GROUP + LINE - 1) / LINE)
#define PLACE(i) ((i) + (i) / 32) /* in local memory: neighbours' neighbours in other banks */

/* found[k] <- found[first of its line] to found[k] combined, for the first `busy` ones. */
INLINE void scan_lines(__local VALUE *found, const uint me, const uint busy) {
  barrier(CLK_LOCAL_MEM_FENCE);
  if (me * LINE < busy)
    for (uint k = me * LINE + 1; k < min((me + 1) * LINE, busy); k++)
      found[PLACE(k)] = combine(found[PLACE(k - 1)], found[PLACE(k)]);
  barrier(CLK_LOCAL_MEM_FENCE);
}

/* *total <- *total and `value`, if there is a total yet. */
INLINE void add(VALUE *total, int *has_total, const VALUE value) {
  *total = *has_total ? combine(*total, value) : value;
  *has_total = 1;
}

/* *total <- *total and what `busy` work-items found; returns what stands before work-item `me`. */
INLINE VALUE add_found(__local const VALUE *found, const uint me, const uint busy, VALUE *total,
                       int *has_total, int *has_before) {
  VALUE before = *total;
  *has_before = *has_total;
  for (uint line = 0; line * LINE < busy; line++) {
    add(total, has_total, found[PLACE(min((line + 1) * LINE, busy) - 1)]);
    if (line + 1 == me / LINE) before = *total, *has_before = 1;
  }
  if (me % LINE > 0 && me < busy) add(&before, has_before, found[PLACE(me - 1)]);
  return before;
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void scan_groups(
    const ulong n, const ulong chunk, __global RESULT *out, const ulong out_first,
    __global const VALUE *sums, const ulong sums_first, const int has_init,
    const VALUE init PARAMETERS) {
  __local VALUE found[PLACE(GROUP)], stage[PLACE(GROUP * SHARE)];
  const uint me = (uint)get_local_id(0);
  FIND_PART(get_group_id(0))
  const ulong chunks = nth, sums_of_row = sums_first + place * parts; /* before this one */
  VALUE total = init;
  int has_total = has_init, has_before;

  const ulong share = max((chunks + GROUP - 1) / GROUP, 1ul);
  const uint sharers = (uint)((chunks + share - 1) / share);
  if (me < sharers) {
    VALUE sum = sums[sums_of_row + me * share];
    for (ulong k = me * share + 1; k < min((me + 1) * share, chunks); k++)
      sum = combine(sum, sums[sums_of_row + k]);
    found[PLACE(me)] = sum;
  }
  scan_lines(found, me, sharers);
  add_found(found, me, sharers, &total, &has_total, &has_before);

  for (ulong tile = begin; tile < end; tile += GROUP * SHARE) {
    const uint size = (uint)min((ulong)(GROUP * SHARE), end - tile), first = me * SHARE;
    const uint mine = first < size ? min((uint)SHARE, size - first) : 0;
    VALUE element[SHARE];
    UNROLL
    for (uint k = 0; k < SHARE; k++)
      if (me + k * GROUP < size) {
        const long i = (long)(tile + me + k * GROUP);
        LOADS
        stage[PLACE(me + k * GROUP)] = (VALUE)(EXPRESSION);
      }
    barrier(CLK_LOCAL_MEM_FENCE);
    UNROLL
    for (uint k = 0; k < SHARE; k++)
      if (k < mine) {
        const VALUE next = stage[PLACE(first + k)];
        element[k] = k > 0 ? combine(element[k - 1], next) : next;
        if (k + 1 == mine) found[PLACE(me)] = element[k];
      }
    scan_lines(found, me, (size + SHARE - 1) / SHARE);
    const VALUE before =
        add_found(found, me, (size + SHARE - 1) / SHARE, &total, &has_total, &has_before);
    UNROLL
    for (uint k = 0; k < SHARE; k++)
      if (k < mine) {
        const VALUE inside = k > 0 ? element[k - 1] : before;
        const VALUE sofar = k > 0 && has_before ? combine(before, inside) : inside;
        stage[PLACE(first + k)] = EXCLUSIVE    ? sofar
                                  : has_before ? combine(before, element[k])
                                               : element[k];
      }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = me; k < size; k += GROUP) WRITE(out_first + tile + k, stage[PLACE(k)]);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}
