/* SPDX-License-Identifier: MIT */
/*
 * Part of a matrix by way of local memory, four neighbours at a time, so that it can be written in another order than
 * it is read. A group of 256 work-items has HIGH x ACROSS elements, a quad for each work-item of each 32 x 32:
 *
 *     READ_SQUARES(x, ld, rows, columns, ALONG, WIDE)  reads `square`, element (i0 + i, j0 + j) of x at square[i][j],
 *         with zeros outside of rows x columns. ALONG 1: x has rows of neighbouring j, ld elements apart; 0: of i.
 *         WIDE 1: all of them begin on quads. The group waits for it at a barrier.
 *
 * Of each 32 x 32 a work-item has the quad from (s, c) on; c is a multiple of 4.
 */
#ifndef CLC_SQUARES_H
#define CLC_SQUARES_H

#include "vector.h"

#define HIGH 64
#ifndef ACROSS
#define ACROSS 32
#endif
#define LINE (ACROSS + 1) /* one more, so that a column's elements lie in all banks */
#define ITEMS 256
#define EACH_SQUARE(h, w)                   \
  UNROLL for (uint h = 0; h < HIGH; h += 32) \
  UNROLL for (uint w = 0; w < ACROSS; w += 32)

/* Four elements from x on, of which so many are left. */
INLINE QUAD four_of(__global const REAL *x, const ulong left, const bool is_wide) {
  if (is_wide && left >= 4) return *(__global const QUAD *)x;
  return (QUAD)(left > 0 ? x[0] : 0, left > 1 ? x[1] : 0, left > 2 ? x[2] : 0, left > 3 ? x[3] : 0);
}

#define READ_SQUARES(x, ld, rows, columns, ALONG, WIDE)                                      \
  {                                                                                          \
    QUAD four[HIGH / 32][ACROSS / 32]; /* all are on their way before one is awaited */      \
    EACH_SQUARE(h, w) {                                                                      \
      const ulong i = i0 + h + (ALONG ? s : c), j = j0 + w + (ALONG ? c : s);                \
      const ulong line = ALONG ? i : j, from = ALONG ? j : i, end = ALONG ? columns : rows;  \
      const bool is_there = from < end && line < (ALONG ? rows : columns);                   \
      four[h / 32][w / 32] = four_of((x) + line * (ld) + from, is_there ? end - from : 0, WIDE); \
    }                                                                                        \
    EACH_SQUARE(h, w) {                                                                      \
      __local REAL *const to = &square[h + (ALONG ? s : c)][w + (ALONG ? c : s)];            \
      const uint step = ALONG ? 1 : LINE;                                                    \
      const QUAD x_ = four[h / 32][w / 32];                                                  \
      to[0] = x_.s0, to[step] = x_.s1, to[2 * step] = x_.s2, to[3 * step] = x_.s3;           \
    }                                                                                        \
  }

#endif
