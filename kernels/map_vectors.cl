/* SPDX-License-Identifier: MIT */
/*
 * map_vectors: out[i] = EXPRESSION, for a GPU: a work-item does LANES neighbours
 *
 *     for (i = 0; i < n; i++) out[i] = EXPRESSION;
 *
 * With 4 lanes everything is read and written as vectors of four, so each memory's first element
 * must start on one. All of a work-item's elements are read before one is written: `out` may be
 * an operand.
 * Global size: at least n / LANES, rounded up; the rest returns at once. Local size: any.
 */
#include "clcompute/elementwise.h"

#ifndef LANES
#define LANES 1 /* elements of a work-item: 1 or 4 */
#endif
#ifndef VECTORS
#define VECTORS ELEMENTS_4(REAL, x)      /* of each buffer, where LANES is 4 */
#define LANE_LOADS LANE_ELEMENT(REAL, x) /* in place of LOADS */
#endif
#define VECTOR JOIN(RESULT, 4)

__kernel void map_vectors(const ulong n, __global RESULT *out, const ulong out_first PARAMETERS) {
  const ulong first = get_global_id(0) * LANES;
#if LANES > 1
  if (first + LANES <= n) {
    VALUE v[LANES];
    VECTORS
#pragma unroll
    for (uint lane = 0; lane < LANES; lane++) {
      const long i = (long)(first + lane);
      LANE_LOADS
      v[lane] = (VALUE)(EXPRESSION);
    }
#if HALF
    vstore_half4_rte(vload4(0, v), 0, out + out_first + first);
#else
    *(__global VECTOR *)(out + out_first + first) = (VECTOR)(v[0], v[1], v[2], v[3]);
#endif
    return;
  }
#endif
  for (ulong at = first; at < min(first + LANES, n); at++) {
    const long i = (long)at;
    LOADS
    WRITE(out_first + i, (VALUE)(EXPRESSION));
  }
}
