/* SPDX-License-Identifier: MIT */
/*
 * Part of a matrix by way of local memory, four neighbours at a time, so that it can be written in another order than
 * it is read. A group of 256 work-items has HIGH x ACROSS elements, two quads each:
 *
 *     READ_SQUARES(x, ld, rows, columns, ALONG, WIDE)  reads `square`, element (i0 + i, j0 + j) of x at square[i][j],
 *         with zeros outside of rows x columns. ALONG 1: x has rows of neighbouring j, ld elements apart; 0: of i.
 *         WIDE 1: all of them begin on quads. Behind it stands a barrier.
 *
 * Of a work-item (s, c) are the quads from (s, c) and (s + 32, c) on; c is a multiple of 4.
 */
#ifndef CLC_SQUARES_H
#define CLC_SQUARES_H

#include "vector.h"

#define HIGH 64
#define ACROSS 32
#define ITEMS 256

/* Four elements from x on, of which so many are left. */
INLINE QUAD four_of(__global const REAL *x, const ulong left, const bool is_wide) {
  if (is_wide && left >= 4) return *(__global const QUAD *)x;
  return (QUAD)(left > 0 ? x[0] : 0, left > 1 ? x[1] : 0, left > 2 ? x[2] : 0, left > 3 ? x[3] : 0);
}

#define READ_SQUARES(x, ld, rows, columns, ALONG, WIDE)                                            \
  {                                                                                                \
    QUAD four[2];                                                                                  \
    UNROLL for (uint h = 0; h < 2; h++) {                                                          \
      const ulong i = i0 + 32 * h + (ALONG ? s : c), j = j0 + (ALONG ? c : s);                     \
      const ulong line = ALONG ? i : j, from = ALONG ? j : i, end = ALONG ? columns : rows;        \
      const bool is_there = from < end && line < (ALONG ? rows : columns);                         \
      four[h] = four_of((x) + line * (ld) + from, is_there ? end - from : 0, WIDE);                \
    }                                                                                              \
    UNROLL for (uint h = 0; h < 2; h++) {                                                          \
      __local REAL *const to = &square[32 * h + (ALONG ? s : c)][ALONG ? c : s];                   \
      const uint step = ALONG ? 1 : ACROSS + 1;                                                    \
      to[0] = four[h].s0, to[step] = four[h].s1, to[2 * step] = four[h].s2, to[3 * step] = four[h].s3; \
    }                                                                                              \
  }

#endif
