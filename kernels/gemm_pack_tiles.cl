/* SPDX-License-Identifier: MIT */
/*
 * gemm_pack_tiles: the operands of gemm_warpgroups in tiles of so many rows x DEPTH elements, one behind the other: A
 * in tiles of 64 rows, B in tiles of BN rows
 *
 *     for each tile (u, v), v < depths first, of `side` rows:
 *       for each place of a tile: its element (i, l) is
 *         u * side + i < m or n && v * DEPTH + l < k ? X[(u * side + i) * x_i + (v * DEPTH + l) * x_l] : 0
 *
 * i counts along m or n, l along k. A tile has rows of 128 bytes, which begin with l 0; of row r the 16 bytes c stand
 * at place c ^ (r & 7), which is how a tensor core reads rows without conflicts. Of 16 rows of B those that a work-item
 * of gemm_warpgroups owns follow one another in the matrix. Elements are rounded to eleven bits. SPLIT: a tile of A is
 * as work-items take it to their registers, 16 bytes each, and not rounded; behind a tile of B's rounded elements is
 * what is left of them, in a tile of its own.
 *
 * Work-groups go by squares of 32 x 32, which lie `squares` high along A and, behind those, along B. Of a batch an
 * operand that is the same for all (a1 or b1 is 0) is there once. Global size: 256 for each square along k, squares of
 * A and B, batch; local size 256.
 */
#ifndef REAL
#define REAL float /* element type: float; doubles are not rounded */
#endif
#ifndef BN
#define BN 128 /* rows of a tile of B, a multiple of 32 */
#endif
#ifndef SPLIT
#define SPLIT 0
#endif
#ifndef ALONG_A
#define ALONG_A 1 /* 1: a_l is 1, neighbours read along l; 0: a_i is */
#endif
#ifndef ALONG_B
#define ALONG_B 0 /* the same of B */
#endif
#ifndef WIDE_A
#define WIDE_A 0 /* 1: a0, a1 and the other distance are multiples of 4 */
#endif
#ifndef WIDE_B
#define WIDE_B 0 /* the same of B */
#endif

#define TILE_ROWS 64 /* of A */
#define DEPTH 32
#define ITEMS 256

#include "clcompute/vector.h"

/* The nearest number of eleven bits. */
#if JOIN(IS_, REAL)
#define BIG(x) (isfinite(x) ? as_float((as_uint(x) + 0x1000u) & 0xffffe000u) : (x))
#else
#define BIG(x) (x)
#endif

/* Four neighbours of a square from place (s, 4 * c) on, s across them, zeros for what is outside. */
#define READ(x, x_i, x_l, ALONG, WIDE)                                                            \
  {                                                                                               \
    const ulong i = ALONG ? i0 + s : i0 + 4 * c, l = ALONG ? l0 + 4 * c : l0 + s;                  \
    const ulong beside = ALONG ? i : l, from = ALONG ? l : i, sides = ALONG ? k : length;          \
    x += i * x_i + l * x_l;                                                                       \
    if (beside >= (ALONG ? length : k)) {                                                         \
      four = (QUAD)(0);                                                                           \
    } else if (WIDE && from + 4 <= sides) {                                                       \
      four = *(__global const QUAD *)x;                                                           \
    } else {                                                                                      \
      four.s0 = from < sides ? x[0] : 0, four.s1 = from + 1 < sides ? x[1] : 0;                   \
      four.s2 = from + 2 < sides ? x[2] : 0, four.s3 = from + 3 < sides ? x[3] : 0;               \
    }                                                                                             \
    if (ALONG)                                                                                    \
      PUT(s, 4 * c, 0, 1)                                                                         \
    else                                                                                          \
      PUT(4 * c, s, 1, 0)                                                                         \
  }
#define PUT(i, l, di, dl)                                                               \
  {                                                                                     \
    square[i][l] = four.s0, square[i + di][l + dl] = four.s1;                           \
    square[i + 2 * di][l + 2 * dl] = four.s2, square[i + 3 * di][l + 3 * dl] = four.s3; \
  }
#define BIG_OF(four) (QUAD)(BIG(four.s0), BIG(four.s1), BIG(four.s2), BIG(four.s3))

__attribute__((reqd_work_group_size(ITEMS, 1, 1))) __kernel void gemm_pack_tiles(
    const ulong m, const ulong n, const ulong k, const ulong depths, const ulong squares,
    __global const REAL *a, const ulong a0, const ulong a_i, const ulong a_l, const ulong a1,
    __global REAL *to_a, const ulong to_a1, __global const REAL *b, const ulong b0, const ulong b_j,
    const ulong b_l, const ulong b1, __global REAL *to_b, const ulong to_b1) {
  __local REAL square[DEPTH][DEPTH + 1]; /* one more, so that a column's elements lie in all banks */
  const uint item = (uint)get_local_id(0), s = item / 8, c = item % 8;
  const ulong v = get_group_id(0), l0 = v * DEPTH, z = get_global_id(2);
  const bool is_b = get_group_id(1) >= squares;
  const ulong i0 = (get_group_id(1) - (is_b ? squares : 0)) * DEPTH, length = is_b ? n : m;
  const bool is_there = z == 0 || (is_b ? b1 : a1) > 0;
  a += a0 + z * a1;
  b += b0 + z * b1;
  QUAD four;
  if (is_there) {
    if (is_b)
      READ(b, b_j, b_l, ALONG_B, WIDE_B)
    else
      READ(a, a_i, a_l, ALONG_A, WIDE_A)
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (!is_there) return;

  const uint side = is_b ? BN : TILE_ROWS, first = (uint)(i0 % side); /* of the square in its tile */
  const ulong tile = (i0 / side * depths + v) * side * DEPTH;
  if (SPLIT && !is_b) {
    const uint warp = s / 16, step = s / 4 % 4, lane = item % 32;
    const uint i = warp * 16 + lane / 4, l = step * 8 + lane % 4;
    const uint at = ((step * (TILE_ROWS / 16) + first / 16 + warp) * 32 + lane) * 4;
    four = (QUAD)(square[i][l], square[i + 8][l], square[i][l + 4], square[i + 8][l + 4]);
    *(__global QUAD *)&to_a[z * to_a1 + tile + at] = four;
    return;
  }
  const uint t = s % 16, i = is_b ? s - t + t % 8 / 2 * 4 + t / 8 * 2 + t % 2 : s;
  const uint at = (first + s) * DEPTH + (c ^ s % 8) * 4;
  four = (QUAD)(square[i][4 * c], square[i][4 * c + 1], square[i][4 * c + 2], square[i][4 * c + 3]);
  const QUAD big = BIG_OF(four);
  __global REAL *const to = is_b ? to_b + z * to_b1 + (SPLIT ? 2 : 1) * tile : to_a + z * to_a1 + tile;
  *(__global QUAD *)&to[at] = big;
  if (SPLIT) *(__global QUAD *)&to[BN * DEPTH + at] = four - big;
}
