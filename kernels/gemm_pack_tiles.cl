/* SPDX-License-Identifier: MIT */
/*
 * gemm_pack_tiles: the operands of gemm_warpgroups in tiles of so many rows x DEPTH elements, one behind the other: A
 * in tiles of 64 rows, B in tiles of BN rows
 *
 *     for each tile (u, v), v < depths first, of `side` rows:
 *       for each place of a tile: its element (i, l) is
 *         u * side + i < m or n && v * DEPTH + l < k ? A[u * side + i][v * DEPTH + l] or B[l][i] of them : 0
 *
 * A tile has rows of 128 bytes, which begin with l 0; of row r the 16 bytes c stand at place c ^ (r & 7), which is how
 * a tensor core reads rows without conflicts. Of 16 rows of B those that a work-item of gemm_warpgroups owns follow one
 * another in the matrix. Elements are rounded to eleven bits. With PARTS 2 a tile of A is as work-items take it to
 * their registers, 16 bytes each, and not rounded; behind a tile of B's rounded elements is what is left of them, in a
 * tile of its own.
 *
 * Work-groups go by squares of 64 x 32, `squares` along A, behind them those along B. ALONG_A, ALONG_B 1: neighbours
 * are along k. Of a batch an operand that is the same for all (a1 or b1 is 0) is there once. Global size: 256 for each
 * 32 of k, a group for each 64 of m and n in whole tiles, batch; local size 256.
 */
#ifndef REAL
#define REAL float /* element type: float; doubles are not rounded */
#endif
#ifndef BN
#define BN 128 /* rows of a tile of B, a multiple of 64 */
#endif
#ifndef PARTS
#define PARTS 1 /* 1 or 2 */
#endif
#ifndef ALONG_A
#define ALONG_A 1 /* 1: A is stored m x k; 0: k x m */
#endif
#ifndef ALONG_B
#define ALONG_B 0 /* 1: B is stored n x k; 0: k x n */
#endif
#ifndef WIDE_A
#define WIDE_A 0 /* 1: a0, lda and a1 are multiples of 4 */
#endif
#ifndef WIDE_B
#define WIDE_B 0 /* 1: b0, ldb and b1 are */
#endif

#include "clcompute/squares.h"

#define DEPTH 32

/* The nearest number of eleven bits. */
#if JOIN(IS_, REAL)
#define BIG(x) (isfinite(x) ? as_float((as_uint(x) + 0x1000u) & 0xffffe000u) : (x))
#else
#define BIG(x) (x)
#endif

__attribute__((reqd_work_group_size(ITEMS, 1, 1))) __kernel void gemm_pack_tiles(
    const ulong m, const ulong n, const ulong k, const ulong depths, const ulong squares,
    __global const REAL *a, const ulong a0, const ulong lda, const ulong a1, __global REAL *to_a,
    const ulong to_a1, __global const REAL *b, const ulong b0, const ulong ldb, const ulong b1,
    __global REAL *to_b, const ulong to_b1) {
  __local REAL square[HIGH][LINE];
  const uint item = (uint)get_local_id(0), s = item / 8, c = item % 8 * 4;
  const ulong v = get_group_id(0), j0 = v * DEPTH, z = get_global_id(2), number = get_group_id(1);
  const bool is_b = number >= squares, is_there = z == 0 || (is_b ? b1 : a1) > 0;
  const ulong i0 = (is_b ? number - squares : number) * HIGH;
  a += a0 + z * a1;
  b += b0 + z * b1;
  if (is_there) {
    if (is_b)
      READ_SQUARES(b, ldb, n, k, ALONG_B, WIDE_B)
    else
      READ_SQUARES(a, lda, m, k, ALONG_A, WIDE_A)
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (!is_there) return;

  if (PARTS == 2 && !is_b) {
    to_a += z * to_a1 + (number * depths + v) * (HIGH * DEPTH) + item * 4;
    UNROLL for (uint step = item / 128; step < 4; step += 2, to_a += ITEMS * 4) {
      __local const REAL *const x = &square[item / 32 % 4 * 16 + item % 32 / 4][step * 8 + item % 4];
      *(__global QUAD *)to_a = (QUAD)(x[0], x[8 * LINE], x[4], x[8 * LINE + 4]);
    }
    return;
  }
  const uint side = is_b ? BN : HIGH, first = (uint)(i0 % side); /* of the square in its tile */
  const ulong tile = (i0 / side * depths + v) * (side * DEPTH);
  __global REAL *const to = is_b ? to_b + z * to_b1 + PARTS * tile : to_a + z * to_a1 + tile;
  UNROLL for (uint r = s; r < HIGH; r += 32) {
    const uint t = r % 16, at = (first + r) * DEPTH + (c ^ r % 8 * 4);
    __local const REAL *const x = &square[is_b ? r - t + t % 8 / 2 * 4 + t / 8 * 2 + t % 2 : r][c];
    const QUAD four = (QUAD)(x[0], x[1], x[2], x[3]);
    const QUAD big = (QUAD)(BIG(four.s0), BIG(four.s1), BIG(four.s2), BIG(four.s3));
    *(__global QUAD *)&to[at] = big;
    if (PARTS == 2) *(__global QUAD *)&to[BN * DEPTH + at] = four - big;
  }
}
