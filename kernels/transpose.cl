/* SPDX-License-Identifier: MIT */
/*
 * transpose: B = the matrices of A, rows x columns each, with their indices exchanged
 *
 *     for (o = 0; o < batches / inner; o++)
 *       for (k = 0; k < inner; k++)
 *         for (c = 0; c < columns; c++)
 *           for (r = 0; r < rows; r++)
 *             B[o * to_outer + k * to_inner + c * to_column + r] =
 *                 A[o * from_outer + k * from_inner + r * from_row + c];
 *
 * A task is a tile of TALL x WIDE elements. A group of a GPU reads it row by row, all of it at once, keeps it
 * in local memory, and writes it column by column; so neighbours read and write neighbours, and where a
 * matrix is narrow, tiles are too, and the longer. A work-item of a CPU does
 * `share` tiles; of blocks of 16 x 16 it reads 16 vectors, exchanges the indices in registers, four rounds
 * of zipping two vectors each, and writes 16 vectors.
 * Global size: GPU tasks * GROUP, CPU tasks / share, rounded up. Local size: GROUP.
 */
#ifndef REAL
#define REAL float /* element type */
#endif
#ifndef ELEMENT
#define ELEMENT REAL /* dtype of A and B */
#define MOVED REAL   /* a type as large, which all devices have vectors of */
#endif
#ifndef GROUP
#define GROUP 1 /* work-items of a group; 1: for a CPU */
#endif
#ifndef TALL
#define TALL 64 /* rows of a tile, a power of two for a GPU */
#define WIDE 64 /* columns */
#endif

#ifndef LANES
#define LANES 1 /* elements that a GPU's work-item moves at once; 4: rows of A and B begin where a vector may */
#endif
#ifndef TASK
#define TASK ulong /* uint where that has all tasks, and is quicker to divide */
#endif

#include "clcompute/vector.h"

/* From row r0 and column c0 on of a matrix that begins at `a` and of the result at `b`. */
#define FIND_TILE                                                                        \
  const TASK down = (TASK)((rows + TALL - 1) / TALL);                                    \
  const TASK across = (TASK)((columns + WIDE - 1) / WIDE);                               \
  const TASK batch = task / (down * across), tile = task - batch * down * across;        \
  const TASK column = tile / down, o = batch / (TASK)inner, k = batch - o * (TASK)inner; \
  const ulong r0 = (ulong)(tile - column * down) * TALL, c0 = (ulong)column * WIDE;      \
  __global const MOVED *a =                                                               \
      (__global const MOVED *)(all_a + a_first) + o * from_outer + k * from_inner;        \
  __global MOVED *b = (__global MOVED *)(all_b + b_first) + o * to_outer + k * to_inner;   \
  const uint height = (uint)min((ulong)TALL, rows - r0),                                 \
             width = (uint)min((ulong)WIDE, columns - c0);

#if GROUP == 1

#define VECTOR JOIN(MOVED, 16)
#define ZIP(a, b, e0, e1, e2, e3, e4, e5, e6, e7)                                                 \
  (VECTOR)(a.e0, b.e0, a.e1, b.e1, a.e2, b.e2, a.e3, b.e3, a.e4, b.e4, a.e5, b.e5, a.e6, b.e6, a.e7, \
           b.e7)

/* B's block of 16 x 16, whose rows are `step_b` apart, from that of A. */
INLINE void transpose_block(__global const MOVED *a, const ulong step_a, __global MOVED *b,
                            const ulong step_b) {
  VECTOR v[16], w[16];
  UNROLL for (uint i = 0; i < 16; i++) v[i] = vload16(0, a + i * step_a);
  UNROLL for (uint round = 0; round < 4; round++) {
    UNROLL for (uint i = 0; i < 8; i++) {
      w[2 * i] = ZIP(v[i], v[i + 8], s0, s1, s2, s3, s4, s5, s6, s7);
      w[2 * i + 1] = ZIP(v[i], v[i + 8], s8, s9, sa, sb, sc, sd, se, sf);
    }
    UNROLL for (uint i = 0; i < 16; i++) v[i] = w[i];
  }
  UNROLL for (uint i = 0; i < 16; i++) vstore16(v[i], 0, b + i * step_b);
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void transpose(
    const ulong rows, const ulong columns, const ulong inner, const ulong from_outer,
    const ulong from_inner, const ulong from_row, const ulong to_outer, const ulong to_inner,
    const ulong to_column, const ulong tasks, const ulong share, __global const ELEMENT *all_a,
    const ulong a_first, __global ELEMENT *all_b, const ulong b_first) {
  const ulong stop = min((get_global_id(0) + 1) * share, tasks);
  for (ulong task = get_global_id(0) * share; task < stop; task++) {
    FIND_TILE
    const uint whole_r = height / 16 * 16, whole_c = width / 16 * 16;
    for (uint c = 0; c < whole_c; c += 16)
      for (uint r = 0; r < whole_r; r += 16)
        transpose_block(a + (r0 + r) * from_row + c0 + c, from_row, b + (c0 + c) * to_column + r0 + r, to_column);
    for (uint c = 0; c < width; c++)
      for (uint r = c < whole_c ? whole_r : 0; r < height; r++)
        b[(c0 + c) * to_column + r0 + r] = a[(r0 + r) * from_row + c0 + c];
  }
}

#else

#define EACH ((TALL * WIDE / LANES + GROUP - 1) / GROUP) /* vectors of a work-item */
#define PAD (TALL < 32 ? 32 / TALL : 1)                    /* so that columns begin in banks of their own */
#if LANES == 1
#define VECTOR MOVED
#define LANE(v, lane) v
#else
#define VECTOR JOIN(MOVED, 4)
#define LANE(v, lane) ((MOVED *)&(v))[lane]
#endif

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void transpose(
    const ulong rows, const ulong columns, const ulong inner, const ulong from_outer,
    const ulong from_inner, const ulong from_row, const ulong to_outer, const ulong to_inner,
    const ulong to_column, const ulong tasks, const ulong share, __global const ELEMENT *all_a,
    const ulong a_first, __global ELEMENT *all_b, const ulong b_first) {
  __local MOVED kept[TALL][WIDE + PAD];
  const TASK task = (TASK)get_group_id(0);
  const uint me = (uint)get_local_id(0);
  FIND_TILE
  a += r0 * from_row + c0;
  b += c0 * to_column + r0;
  VECTOR v[EACH];
  UNROLL for (uint e = 0; e < EACH; e++) {
    const uint r = (me + e * GROUP) / (WIDE / LANES), c = (me + e * GROUP) % (WIDE / LANES) * LANES;
    if (r < height && c < width) v[e] = *(__global const VECTOR *)(a + r * from_row + c);
  }
  UNROLL for (uint e = 0; e < EACH; e++) {
    const uint r = (me + e * GROUP) / (WIDE / LANES), c = (me + e * GROUP) % (WIDE / LANES) * LANES;
    if (r < height && c < width)
      UNROLL for (uint lane = 0; lane < LANES; lane++) kept[r][c + lane] = LANE(v[e], lane);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  UNROLL for (uint e = 0; e < EACH; e++) {
    const uint c = (me + e * GROUP) / (TALL / LANES), r = (me + e * GROUP) % (TALL / LANES) * LANES;
    if (r < height && c < width) {
      VECTOR of_column;
      UNROLL for (uint lane = 0; lane < LANES; lane++) LANE(of_column, lane) = kept[r + lane][c];
      *(__global VECTOR *)(b + c * to_column + r) = of_column;
    }
  }
}

#endif
