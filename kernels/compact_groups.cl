/* SPDX-License-Identifier: MIT */
/*
 * compact_groups: the elements for which EXPRESSION holds, for a GPU: a work-group does a chunk
 *
 *     for (i = 0; i < n; i++)
 *       if (EXPRESSION) out[at++] = KEPT;
 *
 * KEPT is computed of every element, whether it is kept or not.
 * ends[c] is how many the chunks up to and with chunk c keep; with SUMMED 0 how many chunk c keeps,
 * and a group sums up those before its own. A group goes through its chunk in tiles of ROWS rows of
 * GROUP * SHARE elements: of each row a work-item looks at SHARE neighbours, the counts of all rows are
 * scanned at once, 16 bits each, and what is kept goes to local memory and from there out, so
 * neighbours write neighbours.
 * Global size: n / chunk, rounded up, times GROUP. Local size: GROUP.
 */
#ifndef GROUP
#define GROUP 256 /* work-items of a group; a power of two */
#endif
#include "clcompute/move.h"

#ifndef SHARE
#define SHARE 4 /* neighbours of a work-item in a row, which has less than 65536 elements */
#endif
#ifndef SUMMED
#define SUMMED 1
#endif

#define ROWS (sizeof(RESULT) > 4 ? 2 : 4)
#define ROW_BITS 16
#define ROW_OF(counts, row) ((uint)((counts) >> (ROW_BITS * (row))) & 0xffff)
#define TILE (ROWS * GROUP * SHARE)

/* counts[me] <- those of the work-items up to and with this one, of GROUP. */
INLINE void clc_scan_counts(__local ulong *counts, const uint me) {
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint step = 1; step < GROUP; step *= 2) {
    const ulong before = me >= step ? counts[me - step] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    counts[me] += before;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}

/* Looks at this work-item's elements of the tile, of which `is_there` says whether there is one. */
#define LOOK(is_there)                                               \
  UNROLL for (uint row = 0; row < ROWS; row++) {                     \
    UNROLL for (uint k = 0; k < SHARE; k++) {                        \
      const long i = (long)(tile + (row * GROUP + me) * SHARE + k);  \
      if (is_there) {                                                \
        LOADS                                                        \
        value[row * SHARE + k] = KEPT;                               \
        if (EXPRESSION) holds |= 1u << (row * SHARE + k);            \
      }                                                              \
    }                                                                \
  }

__kernel OF_GROUP void compact_groups(const ulong n, const ulong chunk, __global RESULT *out,
                                      const ulong out_first, __global const COUNT *ends,
                                      const ulong ends_first PARAMETERS) {
  __local ulong counts[GROUP];
  __local RESULT kept[TILE];
  const uint me = (uint)get_local_id(0);
  FIND_CHUNK(get_group_id(0))
#if SUMMED
  ulong to = FIRST_KEPT(get_group_id(0));
#else
  ulong sum = 0;
  for (ulong c = me; c < get_group_id(0); c += GROUP) sum += ends[ends_first + c];
  counts[me] = sum;
  clc_scan_counts(counts, me);
  ulong to = out_first + counts[GROUP - 1];
  barrier(CLK_LOCAL_MEM_FENCE);
#endif
  for (ulong tile = begin; tile < end; tile += TILE) {
    RESULT value[ROWS * SHARE];
    uint holds = 0; /* a bit for each element */
    if (tile + TILE <= end) {
      LOOK(true)
    } else {
      LOOK(i < (long)end)
    }
    ulong mine = 0;
    UNROLL for (uint row = 0; row < ROWS; row++)
      mine |= (ulong)popcount(holds >> (row * SHARE) & ((1u << SHARE) - 1)) << (ROW_BITS * row);
    counts[me] = mine;
    clc_scan_counts(counts, me);
    const ulong all = counts[GROUP - 1], before = counts[me] - mine;
    uint first = 0; /* of the row */
    UNROLL for (uint row = 0; row < ROWS; row++) {
      uint place = first + ROW_OF(before, row);
      UNROLL for (uint k = row * SHARE; k < (row + 1) * SHARE; k++)
        if (holds >> k & 1) kept[place++] = value[k];
      first += ROW_OF(all, row);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint p = me; p < first; p += GROUP) out[to + p] = kept[p];
    to += first;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}
