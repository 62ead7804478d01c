/* SPDX-License-Identifier: MIT */
/*
 * reduce_rows: one result of each of many short rows of n elements
 *
 *     for (place = 0; place < rows; place++)
 *       out[place] = EXPRESSION of element place * n, combined with those up to the next row
 *
 * On a CPU a work-item does `share` rows. Of the shortest ones, whose length ROW is known, LANES are done
 * side by side, but not PLAIN elements of 4 or 8 a row: to transpose them costs more than it saves. Of
 * others LANES elements are, whose results are combined halving. On a GPU `share` work-items, a power of
 * two, do a row: neighbours read neighbours, LANES elements as one vector and AT_ONCE at a time, and their
 * results are combined in local memory, halving. Long rows are for reduce_chunks and reduce_groups.
 * Global size: CPU rows / share, rounded up; GPU rows * share, rounded up to whole groups. Local size:
 * GROUP.
 */
#ifndef GROUP
#define GROUP 1 /* work-items of a group, a power of two; 1: for a CPU */
#endif
#if GROUP == 1
#ifndef LANES
#define LANES 16 /* side by side, a power of two; of a GPU's work-item 1, or 4 which divide n */
#endif
#include "clcompute/reduction.h"
#else
#include "clcompute/group_result.h"
#endif
#ifndef AT_ONCE
#define AT_ONCE 4 /* elements on their way at once, of a GPU's work-item; a multiple of LANES */
#endif
#ifndef ROW
#define ROW 0 /* n, where it is known to be LANES at most, of a CPU; 0: it is no less */
#endif

/* Sets `sum` to elements `first` to before `stop` of a row, `step` elements at a time. */
#define COMBINE_ROW(sum, first, stop, step)             \
  for (ulong k = first; k < stop; k += step) {          \
    const long i = (long)(place * (ROW ? ROW : n) + k); \
    LOADS                                               \
    const RESULT value = EXPRESSION;                    \
    sum = k == first ? value : clc_combine(sum, value); \
  }

#if ROW

/* The result of a row. */
#define FIND_SUM COMBINE_ROW(sum, 0, ROW, 1)

#ifdef PLAIN
#define ROW_BY_ROW _Pragma("clang loop vectorize(disable)")
#else
#define ROW_BY_ROW
#endif

#else

#define FIND_SUM                                                              \
  RESULT part[LANES];                                                         \
  for (uint lane = 0; lane < LANES; lane++) {                                 \
    const long i = (long)(place * n + lane);                                  \
    LOADS                                                                     \
    part[lane] = EXPRESSION;                                                  \
  }                                                                           \
  ulong at = LANES;                                                           \
  for (; at + LANES <= n; at += LANES)                                        \
    for (uint lane = 0; lane < LANES; lane++) {                               \
      const long i = (long)(place * n + at + lane);                           \
      LOADS                                                                   \
      part[lane] = clc_combine(part[lane], EXPRESSION);                       \
    }                                                                         \
  for (uint k = LANES / 2; k > 0; k /= 2)                                     \
    for (uint lane = 0; lane < k; lane++)                                     \
      part[lane] = clc_combine(part[lane], part[lane + k]);                   \
  sum = part[0];                                                              \
  if (at < n) {                                                               \
    RESULT rest;                                                              \
    COMBINE_ROW(rest, at, n, 1)                                               \
    sum = clc_combine(sum, rest);                                             \
  }
#endif

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void reduce_rows(
    const ulong rows, const ulong n, const ulong share, __global STORED *out, const ulong out_first,
    const int has_init, const RESULT init PARAMETERS) {
#if GROUP == 1
  ulong row = get_global_id(0) * share;
  const ulong stop = min(row + share, rows);
#if ROW
  for (; row + LANES <= stop; row += LANES) {
    RESULT sums[LANES];
    ROW_BY_ROW for (uint lane = 0; lane < LANES; lane++) {
      const ulong place = row + lane;
      RESULT sum;
      UNROLL COMBINE_ROW(sum, 0, ROW, 1)
      sums[lane] = has_init ? clc_combine(init, sum) : sum;
    }
    for (uint lane = 0; lane < LANES; lane++) WRITE_RESULT(row + lane, sums[lane]);
  }
#endif
  for (; row < stop; row++) {
    const ulong place = row;
    RESULT sum;
    FIND_SUM
    if (has_init) sum = clc_combine(init, sum);
    WRITE_RESULT(place, sum);
  }
#else
  __local RESULT found[GROUP];
  const uint me = (uint)get_local_id(0), team = (uint)share, mate = me & (team - 1);
  const ulong place = get_group_id(0) * (GROUP / team) + me / team;
  const uint busy = place < rows ? (uint)min(n / LANES, share) : 0;
  if (mate < busy) {
    RESULT sum;
    for (ulong k = mate * LANES; k < n; k += team * AT_ONCE) {
      RESULT part[AT_ONCE / LANES];
      UNROLL for (uint u = 0; u < AT_ONCE / LANES; u++)
        if (k + u * team * LANES < n)
          EACH_VALUE(place * n + k + u * team * LANES,
                     part[u] = lane == 0 ? value : clc_combine(part[u], value);)
      UNROLL for (uint u = 0; u < AT_ONCE / LANES; u++)
        if (k + u * team * LANES < n)
          sum = u == 0 && k == mate * LANES ? part[0] : clc_combine(sum, part[u]);
    }
    found[me] = sum;
  }
  clc_halve(found, me, mate, 1, busy, team, 1);
  if (mate == 0 && busy > 0) {
    const RESULT sum = has_init ? clc_combine(init, found[me]) : found[me];
    WRITE_RESULT(place, sum);
  }
#endif
}
