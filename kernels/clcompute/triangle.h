/* SPDX-License-Identifier: MIT */
/*
 * Solving with a triangle T of up to SIDE rows by the work-items that have them, one a row: SIDE is a
 * multiple of 4, 32 at most. Needs REAL and SIDE.
 */
#ifndef CLC_TRIANGLE_H
#define CLC_TRIANGLE_H

#include "vector.h"

/* A pivot whose inverse may overflow, or have fewer digits, is multiplied by a power of two first. */
#define SCALE(size) ((size) < 0x1p-100f ? 0x1p60f : (size) > 0x1p100f ? 0x1p-60f : 1.0f)

/* What items are to come by for the rows from r on, a multiple of SIDE, and how they get what item k
   has stored in `known`: a warp in registers, elsewhere the group at a barrier. */
#ifdef __NV_CL_C_VERSION
#define COME_BY(t, r) ((t) / 32 == (r) / 32)

INLINE uint word_of_lane(const uint word, const int k) {
  uint shown;
  asm volatile("shfl.sync.idx.b32 %0, %1, %2, 0x1f, 0xffffffff;"
               : "=r"(shown)
               : "r"(word), "r"(k % 32));
  return shown;
}

INLINE REAL value_of_item(__local const REAL *known, const REAL v, const int k) {
#if JOIN(IS_, REAL)
  return as_float(word_of_lane(as_uint(v), k));
#else
  const uint2 words = as_uint2(v);
  return as_double((uint2)(word_of_lane(words.x, k), word_of_lane(words.y, k)));
#endif
}
#else
#define COME_BY(t, r) 1

INLINE REAL value_of_item(__local const REAL *known, const REAL v, const int k) {
  barrier(CLK_LOCAL_MEM_FENCE);
  return *known;
}
#endif

/* Item t of the group has row t - r of the triangle, with v of its right-hand side: `row` in local
   memory, and the inverse of its diagonal in two factors. Returns its x, which is left in x[t - r]
   too; v, where there is no such row. For an upper triangle the last row is solved first. */
INLINE REAL solve_triangle(__local const REAL *row, __local REAL *x, const int r, const int rows,
                           const int is_lower, const int has_ones, const int t, REAL v,
                           const REAL inverse, const REAL scale) {
  if (!COME_BY(t, r)) return v;
  for (int step = 0; step < rows; step++) {
    const int k = is_lower ? step : rows - 1 - step;
    if (t - r == k) {
      if (!has_ones) v = v * inverse * scale;
      x[k] = v;
    }
    const REAL known = value_of_item(&x[k], v, r + k);
    if (is_lower ? t - r > k && t - r < rows : t >= r && t - r < k) v = fma(-row[k], known, v);
  }
  return v;
}

#endif
