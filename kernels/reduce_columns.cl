/* SPDX-License-Identifier: MIT */
/*
 * reduce_columns: one result of each column of matrices, and of each part of n rows
 *
 *     for (o = 0; o < matrices; o++)
 *       for (p = 0; p * chunk < n; p++)
 *         for (c = 0; c < inner; c++)
 *           out[o][p][c] = EXPRESSION of element [o][p * chunk][c] of matrices of n x inner, combined
 *                          with those below it up to the next part
 *
 * A task is a part of a strip of `width` columns. Where a strip is as wide as a matrix, `fold` rows, a
 * power of two, are taken as one; their results are combined at the end, halving. So neighbours
 * are read together. On a CPU a work-item does `share` tasks; the results of a strip are in the cache.
 * On a GPU a group does a task, each work-item every fold-th row of LANES columns, by which `width` and
 * `inner` are divided. With ONE_LAUNCH there is one result of each column: the last group of its strip to end
 * combines those of its parts.
 * Global size: CPU tasks / share, rounded up; GPU tasks * GROUP. Local size: GROUP.
 */
#ifndef GROUP
#define GROUP 1 /* work-items of a group, at least width / LANES * fold; 1: for a CPU */
#endif
#if GROUP == 1
#ifndef LANES
#define LANES 64 /* results side by side, of a CPU; of a GPU's work-item 1 or 4 */
#endif
#include "clcompute/reduction.h"
#else
#define RESULT_PLACE (place + lane)
#include "clcompute/group_result.h"
#endif

#ifndef WIDE
#define WIDE 2048 /* of a CPU: width * fold at most, a multiple of LANES */
#endif
#ifndef FOLDED
#define FOLDED 1 /* 0: fold is 1 */
#endif
#ifndef BLOCK
#define BLOCK 128 /* rows whose results are combined before those of other blocks are, of a CPU */
#endif
#ifndef AT_ONCE
#define AT_ONCE (LANES > 1 ? 4 : 8) /* rows on their way at once, of a GPU's work-item */
#endif
#ifndef DEPTH
#define DEPTH 4 /* rows at a time, of a CPU */
#endif

/* Where the result of column c of a task is. */
#define RESULT_OF_TASK(c) ((matrix * parts + nth) * inner + column + (c))

#if GROUP == 1

/* Sets `value` to the elements of a lane in so many rows from `from` on. */
#define FIND_VALUE(element, depth)                           \
  const ulong place = origin + COLUMN(element);              \
  RESULT value;                                              \
  UNROLL for (uint r = 0; r < depth; r++) {                  \
    const long i = (long)(from + r * step + (element));      \
    LOADS                                                    \
    const RESULT next = EXPRESSION;                          \
    value = r == 0 ? next : clc_combine(value, next);        \
  }

/* Does what follows for each lane, where part[l] is the result of a lane. The last LANES are some that
   were done before where LANES does not divide them, with results of their own. */
#define EACH_LANE(depth, ...)                                \
  if (lanes >= LANES) {                                      \
    for (uint to = 0; to < lanes; to += LANES) {             \
      const uint back = min(to, lanes - LANES);              \
      for (uint lane = 0; lane < LANES; lane++) {            \
        const uint l = to + lane;                            \
        FIND_VALUE(back + lane, depth)                       \
        __VA_ARGS__                                          \
      }                                                      \
    }                                                        \
  } else {                                                   \
    for (uint l = 0; l < lanes; l++) {                       \
      FIND_VALUE(l, depth)                                   \
      __VA_ARGS__                                            \
    }                                                        \
  }                                                          \
  k += depth;                                                \
  from += depth * step;

#if FOLDED
#define COLUMN(lane) column_of[lane]
#else
#define COLUMN(lane) (lane)
#endif

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void reduce_columns(
    const ulong n, const ulong inner, const ulong chunk, const ulong width, const ulong fold,
    const ulong tasks, const ulong share, __global STORED *out, const ulong out_first,
    const int has_init, const RESULT init PARAMETERS) {
  RESULT sum[WIDE + LANES], block[WIDE + LANES];
#if FOLDED
  ushort column_of[WIDE];
  for (uint l = 0; l < WIDE; l++) column_of[l] = l % (uint)width;
#endif
  const ulong stop = min((get_global_id(0) + 1) * share, tasks);
  for (ulong task = get_global_id(0) * share; task < stop; task++) {
    FIND_TASK
    const uint folded = (uint)min(fold, rows), lanes = folded * wide;
    const uint used = lanes < LANES ? lanes : (lanes + LANES - 1) / LANES * LANES;
    const ulong begin = (matrix * n + first) * inner + column, origin = matrix * inner + column;
    const ulong step = folded * inner, steps = rows / folded;
    ulong from = begin;
    for (ulong k = 0; k < steps;) {
      const ulong end = min(k + BLOCK, steps);
      RESULT *part = k == 0 ? sum : block;
      if (end - k >= DEPTH) {
        EACH_LANE(DEPTH, part[l] = value;)
      } else {
        EACH_LANE(1, part[l] = value;)
      }
      while (k + DEPTH <= end) { EACH_LANE(DEPTH, part[l] = clc_combine(part[l], value);) }
      while (k < end) { EACH_LANE(1, part[l] = clc_combine(part[l], value);) }
      if (part == block)
        for (uint l = 0; l < used; l++) sum[l] = clc_combine(sum[l], block[l]);
    }
    for (uint l = used - LANES; lanes > LANES && l < used; l++) sum[l - (used - lanes)] = sum[l];
    for (uint l = 0; l < (rows - steps * folded) * wide; l++) {
      FIND_VALUE(l, 1)
      sum[l] = clc_combine(sum[l], value);
    }
    uint busy = folded * wide;
    for (uint k = (uint)fold / 2 * wide; k > 0; k = k / wide / 2 * wide) {
      for (uint l = 0; l < k && l + k < busy; l++) sum[l] = clc_combine(sum[l], sum[l + k]);
      busy = min(busy, k);
    }
    for (uint c = 0; c < wide; c++) {
      if (has_init) sum[c] = clc_combine(init, sum[c]);
      WRITE_RESULT(RESULT_OF_TASK(c), sum[c]);
    }
  }
}

#else

/* Sets part[u][lane] to the elements of this work-item's columns in row k + u * fold. */
#define READ_ROW(u) EACH_VALUE(begin + (k + (u) * fold) * inner, part[u][lane] = value;)

/* Adds row number u of these. */
#define ADD_ROW(u)                                 \
  UNROLL for (uint lane = 0; lane < LANES; lane++) \
    sum[lane] = (u) == 0 && k == mine ? part[u][lane] : clc_combine(sum[lane], part[u][lane]);

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void reduce_columns(
    const ulong n, const ulong inner, const ulong chunk, const ulong width, const ulong fold,
    __global STORED *out, const ulong out_first, const int has_init,
    const RESULT init FOUND_PARTS PARAMETERS) {
#if ONE_LAUNCH
  __local bool is_last;
#endif
  __local RESULT found[LANES * GROUP];
  const uint me = (uint)get_local_id(0), across = (uint)width / LANES;
  const uint mine = me / across, c = (me - mine * across) * LANES; /* first row and column */
  const ulong task = get_group_id(0);
  FIND_TASK
  const bool is_inside = c < wide && mine < fold;
  const ulong place = matrix * inner + column + c;
  uint busy = is_inside ? (uint)min(fold, rows) : 0;
  const ulong begin = (matrix * n + first) * inner + column + c;
  if (mine < busy) {
    RESULT sum[LANES], part[AT_ONCE][LANES];
    ulong k = mine;
    for (; k + (AT_ONCE - 1) * fold < rows; k += AT_ONCE * fold) {
      UNROLL for (uint u = 0; u < AT_ONCE; u++) READ_ROW(u)
      UNROLL for (uint u = 0; u < AT_ONCE; u++) ADD_ROW(u)
    }
    UNROLL for (uint u = 0; u < AT_ONCE - 1; u++)
      if (k + u * fold < rows) READ_ROW(u)
    UNROLL for (uint u = 0; u < AT_ONCE - 1; u++)
      if (k + u * fold < rows) { ADD_ROW(u) }
    UNROLL for (uint lane = 0; lane < LANES; lane++) found[lane * GROUP + me] = sum[lane];
  }
  clc_halve(found, me, mine, across, busy, (uint)fold, LANES);
  ulong at = (matrix * parts + nth) * inner + column + c;
#if ONE_LAUNCH
  if (parts > 1) {
    __global RESULT *of_parts = found_parts + found_parts_first;
    if (mine < busy && mine == 0)
      UNROLL for (uint lane = 0; lane < LANES; lane++) of_parts[at + lane] = found[lane * GROUP + me];
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (me == 0)
      is_last = clc_is_last(ended + ended_first + matrix * strips + (task - of * strips), parts);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (!is_last) return;
    busy = is_inside ? (uint)min(fold, parts) : 0;
    if (mine < busy)
      clc_combine_parts(found, me, of_parts + (matrix * parts + mine) * inner + column + c, fold * inner,
                        (uint)((parts - mine + fold - 1) / fold), LANES);
    clc_halve(found, me, mine, across, busy, (uint)fold, LANES);
  }
  at = place;
#endif
  if (mine < busy && mine == 0)
    UNROLL for (uint lane = 0; lane < LANES; lane++) {
      const RESULT sum = has_init ? clc_combine(init, found[lane * GROUP + me]) : found[lane * GROUP + me];
      WRITE_RESULT(at + lane, sum);
    }
}

#endif
