/* SPDX-License-Identifier: MIT */
/*
 * gemm_pack_tiles: an operand of gemm_warpgroups in tiles of SIDE x DEPTH elements, one behind the other
 *
 *     for each tile (u, v), v < depths first:
 *       for each place of a tile: its element (i, l) is
 *         u * SIDE + i < sides && v * DEPTH + l < k ? X[(u * SIDE + i) * x_i + (v * DEPTH + l) * x_l] : 0
 *
 * i counts along m or n, l along k. FRAGMENTS 0: a tile is SIDE rows of 128 bytes, which begin with l 0;
 * of row r the 16 bytes c stand at place c ^ (r & 7), which is how a tensor core reads rows without
 * conflicts. PAIRED: of 16 rows those that a work-item of gemm_warpgroups owns follow one another in the
 * matrix. FRAGMENTS 1: a tile is as work-items take it to their registers, 16 bytes each. PARTS 2: the
 * rounded elements, then in a tile of its own what is left of them; ROUND 1: the rounded ones alone.
 *
 * Work-groups go by squares of 32 x 32. x0, x1 as for other operands. Global size: 32 x 8 work-items for
 * each square (l, i), batch; local size 32 x 8.
 */
#ifndef REAL
#define REAL float /* element type: float; doubles are not rounded */
#endif
#ifndef SIDE
#define SIDE 64 /* rows of a tile, a multiple of 32 */
#endif
#ifndef FRAGMENTS
#define FRAGMENTS 0
#endif
#ifndef PAIRED
#define PAIRED 0
#endif
#ifndef PARTS
#define PARTS 1 /* 1 or 2 */
#endif
#ifndef ROUND
#define ROUND 0
#endif
#ifndef ALONG
#define ALONG 1 /* 1: x_l is 1, neighbours read along l; 0: x_i is */
#endif

#define DEPTH 32
#define ROWS 8 /* work-items of a group along i */

#include "clcompute/vector.h"

/* The nearest number of eleven bits. */
#if JOIN(IS_, REAL)
#define BIG(x) (isfinite(x) ? as_float((as_uint(x) + 0x1000u) & 0xffffe000u) : (x))
#else
#define BIG(x) (x)
#endif

__attribute__((reqd_work_group_size(DEPTH, ROWS, 1))) __kernel void gemm_pack_tiles(
    const ulong sides, const ulong k, const ulong depths, __global const REAL *x, const ulong x0,
    const ulong x_i, const ulong x_l, const ulong x1, __global REAL *to, const ulong to1) {
  __local REAL square[DEPTH][DEPTH + 1]; /* one more, so that a column's elements lie in all banks */
  const uint tx = (uint)get_local_id(0), ty = (uint)get_local_id(1);
  const ulong v = get_group_id(0), i0 = get_group_id(1) * DEPTH, l0 = v * DEPTH;
  x += x0 + get_global_id(2) * x1;
  for (uint s = ty; s < DEPTH; s += ROWS) {
    const uint i = ALONG ? s : tx, l = ALONG ? tx : s;
    const int is_there = i0 + i < sides && l0 + l < k;
    square[i][l] = is_there ? x[(i0 + i) * x_i + (l0 + l) * x_l] : 0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);

  const uint first = (uint)(i0 % SIDE); /* of the square in its tile */
  to += get_global_id(2) * to1 + (i0 / SIDE * depths + v) * (PARTS * SIDE * DEPTH);
  for (uint s = ty; s < DEPTH; s += ROWS) {
    uint i, l, at;
    if (FRAGMENTS) { /* 128 elements of a warp's 16 x 8 side by side, four rounds of items for each */
      const uint warp = s / 16, step = s / 4 % 4, lane = s % 4 * 8 + tx / 4, e = tx % 4;
      i = warp * 16 + lane / 4 + e % 2 * 8;
      l = step * 8 + lane % 4 + e / 2 * 4;
      at = ((step * (SIDE / 16) + first / 16 + warp) * 32 + lane) * 4 + e;
    } else {
      const uint t = s % 16;
      i = PAIRED ? s - t + t % 8 / 2 * 4 + t / 8 * 2 + t % 2 : s;
      l = tx;
      at = (first + s) * DEPTH + ((l / 4) ^ (s % 8)) * 4 + l % 4;
    }
    const REAL value = square[i][l], big = PARTS == 2 || ROUND ? BIG(value) : value;
    to[at] = big;
    if (PARTS == 2) to[SIDE * DEPTH + at] = value - big;
  }
}
