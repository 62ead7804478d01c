/* SPDX-License-Identifier: MIT */
/*
 * What a GPU's work-items read as vectors, and what a group of them found, combined in local memory,
 * halving. With ONE_LAUNCH the results of parts go to `found_parts`, and the last of their groups to end
 * combines them: it sees those of the others behind a fence that OpenCL 1.2 lacks. `ended` counts groups
 * that ended, of each result; the counts are 0 before a launch and behind it.
 */
#ifndef CLC_GROUP_RESULT_H
#define CLC_GROUP_RESULT_H

#include "fence.h"
#include "reduction.h"

#ifndef LANES
#define LANES 1 /* 4: all that is read begins where a vector of four elements may */
#endif
#ifndef VECTORS
#define VECTORS ELEMENTS_4(REAL, x)
#define LANE_LOADS LANE_ELEMENT(REAL, x)
#endif
#ifndef ONE_LAUNCH
#define ONE_LAUNCH 0 /* 1: no second launch for the results of parts; of GPUs NVIDIA's alone */
#endif
#define PARTS_AT_ONCE 4 /* results of parts on their way at once */

/* Does what follows with the `value` of each `lane` from element `at` on. */
#if LANES == 1
#define EACH_VALUE(at, ...)          \
  {                                  \
    const long i = (long)(at);       \
    const uint lane = 0;             \
    LOADS                            \
    const RESULT value = EXPRESSION; \
    __VA_ARGS__                      \
  }
#else
#define EACH_VALUE(at, ...)                         \
  {                                                 \
    const ulong first = at;                         \
    VECTORS                                         \
    UNROLL for (uint lane = 0; lane < LANES; lane++) { \
      const long i = (long)(first + lane);          \
      LANE_LOADS                                    \
      const RESULT value = EXPRESSION;              \
      __VA_ARGS__                                   \
    }                                               \
  }
#endif

/* Work-items me, me + across, ... are a team, of which `busy` found something, `lanes` results each, GROUP
   apart. Its first one gets their results, combined; this is number `mine` of at most `all`, a power of two. */
INLINE void clc_halve(__local RESULT *found, const uint me, const uint mine, const uint across,
                      const uint busy, const uint all, const uint lanes) {
  for (uint k = all / 2; k > 0; k /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (mine < k && mine + k < busy)
      for (uint at = me; at < lanes * GROUP; at += GROUP)
        found[at] = clc_combine(found[at], found[at + k * across]);
  }
}

#if ONE_LAUNCH
#define FOUND_PARTS                                                                              \
  , __global RESULT *found_parts, const ulong found_parts_first, __global uint *ended, const ulong ended_first

/* For one work-item, when all of the group have written: whether all other groups that add to this
   count have ended. */
static bool clc_is_last(__global uint *ended, const ulong groups) {
  FENCE;
  const bool is_last = atomic_inc(ended) == (uint)groups - 1;
  if (is_last) *ended = 0;
  FENCE;
  return is_last;
}

/* found[me], and of further lanes <- `count` results that are `step` apart, combined. */
INLINE void clc_combine_parts(__local RESULT *found, const uint me,
                              volatile __global const RESULT *from, const ulong step,
                              const uint count, const uint lanes) {
  RESULT sum[LANES];
  for (uint k = 0; k < count; k += PARTS_AT_ONCE) {
    RESULT next[PARTS_AT_ONCE][LANES];
    UNROLL for (uint u = 0; u < PARTS_AT_ONCE; u++)
      if (k + u < count)
        UNROLL for (uint lane = 0; lane < lanes; lane++)
          next[u][lane] = from[(k + u) * step + lane];
    UNROLL for (uint u = 0; u < PARTS_AT_ONCE; u++)
      if (k + u < count)
        UNROLL for (uint lane = 0; lane < lanes; lane++)
          sum[lane] = k + u == 0 ? next[u][lane] : clc_combine(sum[lane], next[u][lane]);
  }
  UNROLL for (uint lane = 0; lane < lanes; lane++) found[lane * GROUP + me] = sum[lane];
}
#else
#define FOUND_PARTS
#endif

#endif
