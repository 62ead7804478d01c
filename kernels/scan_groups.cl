/* SPDX-License-Identifier: MIT */
/*
 * scan_groups: the running results of each row of n elements, for a GPU: a work-group does a chunk
 *
 *     for (i = 0; i < n; i++) out[i] = total = i > 0 ? combine(total, x[i]) : x[i];
 *
 * and with EXCLUSIVE out[i] is the total before element i. The results of whole chunks are in
 * `sums`; a group combines those of the chunks of the row before its own. Then it goes through its chunk in
 * tiles of GROUP * SHARE elements: a work-item combines SHARE neighbours, the group scans the work-items'
 * results in local memory, and each work-item goes through its neighbours once more.
 * Global size: n / chunk, rounded up, times GROUP, for each row. Local size: GROUP.
 */
#include "clcompute/scan.h"

#ifndef GROUP
#define GROUP 256 /* work-items of a group; a power of two */
#endif
#ifndef SHARE
#define SHARE 8 /* neighbours of a work-item in a tile */
#endif

/* found[k] <- found[0] to found[k] combined, for the first `busy` ones. */
#define SCAN_FOUND                                                              \
  for (uint step = 1; step < GROUP; step *= 2) {                                \
    VALUE seen;                                                                 \
    if (me < busy)                                                              \
      seen = me >= step ? combine(found[me - step], found[me]) : found[me];     \
    barrier(CLK_LOCAL_MEM_FENCE);                                               \
    if (me < busy) found[me] = seen;                                            \
    barrier(CLK_LOCAL_MEM_FENCE);                                               \
  }

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void scan_groups(
    const ulong n, const ulong chunk, __global RESULT *out, const ulong out_first,
    __global const VALUE *sums, const ulong sums_first, const int has_init,
    const VALUE init PARAMETERS) {
  __local VALUE found[GROUP];
  const uint me = (uint)get_local_id(0);
  FIND_PART(get_group_id(0))
  const ulong chunks = nth, sums_of_row = sums_first + place * parts; /* before this one */
  VALUE total = init;
  int has_total = has_init;

  const ulong share = max((chunks + GROUP - 1) / GROUP, 1ul);
  uint busy = (uint)((chunks + share - 1) / share);
  if (me < busy) {
    VALUE sum = sums[sums_of_row + me * share];
    for (ulong k = me * share + 1; k < min((me + 1) * share, chunks); k++)
      sum = combine(sum, sums[sums_of_row + k]);
    found[me] = sum;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  SCAN_FOUND
  if (chunks > 0) {
    total = has_total ? combine(total, found[busy - 1]) : found[busy - 1];
    has_total = 1;
  }
  barrier(CLK_LOCAL_MEM_FENCE);

  for (ulong tile = begin; tile < end; tile += GROUP * SHARE) {
    const ulong first = tile + me * SHARE;
    const uint mine = first < end ? (uint)min((ulong)SHARE, end - first) : 0;
    VALUE element[SHARE];
    busy = (uint)min((ulong)GROUP, (end - tile + SHARE - 1) / SHARE);
    if (mine > 0) {
      VALUE sum;
      for (uint k = 0; k < mine; k++) {
        const long i = (long)(first + k);
        LOADS
        element[k] = (VALUE)(EXPRESSION);
        sum = k > 0 ? combine(sum, element[k]) : element[k];
      }
      found[me] = sum;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    SCAN_FOUND
    VALUE running = total;
    int has_running = has_total;
    if (mine > 0 && me > 0) {
      running = has_running ? combine(running, found[me - 1]) : found[me - 1];
      has_running = 1;
    }
    for (uint k = 0; k < mine; k++) {
      const VALUE next = has_running ? combine(running, element[k]) : element[k];
      const VALUE result = EXCLUSIVE ? running : next;
      running = next;
      has_running = 1;
      WRITE(out_first + first + k, result);
    }
    total = has_total ? combine(total, found[busy - 1]) : found[busy - 1];
    has_total = 1;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}
