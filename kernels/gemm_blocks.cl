/* SPDX-License-Identifier: MIT */
/*
 * gemm_blocks: C = alpha * op(A) * op(B) + beta * C for the multiprocessors of a GPU
 *
 *     for each block of C, BM x BN:
 *       for (t = 0; t < k; t += BK)
 *         for (l = t; l < t + BK; l++)
 *           for each element (i, j) of the block: acc[i][j] += op(A)[i][l] * op(B)[l][j];
 *
 *                   BN                A work-group owns a block of C, a work-item TM x TN elements
 *                +------+             of it, in squares of 4 x 4 that lie BM / (TM / 4) rows and
 *             BK |      | op(B)       BN / (TN / 4) columns apart: neighbours read neighbouring
 *                +------+             local memory.
 *        BK      |      |
 *       +--+     +------+             While the group multiplies one BK-deep slice of A and B from
 *    BM |  | --> |  C   |             local memory, its work-items already hold the next one in
 *       +--+     +------+             registers and put it into a second local buffer: one barrier
 *       op(A)                         a slice. In local memory both slices lie with the BM or BN
 *                                     elements of one l side by side.
 *
 * Work-groups follow one another down BAND blocks of rows before they go to the next block of
 * columns, so that what runs at a time shares what the cache holds.
 * op(X) is X, or its transpose where TRANSA / TRANSB is 1. a0, b0, c0 are the elements before each
 * matrix, lda, ldb, ldc those from row to row as stored, a1, b1 those from one matrix of a batch to
 * the next. In dimension 2 a group does part z % parts of k, `depth` elements, a multiple of BK, of
 * matrix z / parts; c1 elements are from one part or matrix of C to the next. With beta 0, C is not
 * read. Elements outside the matrices are zeros.
 * Global size: BN / TN times the blocks along n, BM / TM times those along m, batch * parts; local
 * size BN / TN x BM / TM.
 */
#ifndef REAL
#define REAL float /* element type: float or double */
#endif
#ifndef TRANSA
#define TRANSA 0 /* 1: A is stored k x m */
#endif
#ifndef TRANSB
#define TRANSB 0 /* 1: B is stored n x k */
#endif
#ifndef BM
#define BM 64 /* rows of a block of C */
#endif
#ifndef BN
#define BN 64 /* columns of a block of C */
#endif
#ifndef BK
#define BK 16 /* depth of a slice, a multiple of 4 */
#endif
#ifndef TM
#define TM 4 /* rows of a work-item, a multiple of 4 */
#endif
#ifndef TN
#define TN 4 /* columns of a work-item, a multiple of 4 */
#endif
#ifndef ALIGNED
#define ALIGNED 0 /* 1: k, all offsets and all distances from row to row are multiples of 4 */
#endif

#include "clcompute/block.h"
#include "clcompute/vector.h"

#define GX (BN / TN) /* work-items of a group along n, and along m */
#define GY (BM / TM)
#define ITEMS (GX * GY)
#define PAD 4 /* so that transposed stores of a slice meet fewer banks twice */
#define QUADS_A (BM * BK / 4 / ITEMS) /* that a work-item loads of a slice */
#define QUADS_B (BN * BK / 4 / ITEMS)

/* Four elements of a row of a stored matrix with rows x cols elements, zeros outside. */
static QUAD load_quad(__global const REAL *x, const ulong row, const ulong col, const ulong rows,
                      const ulong cols, const ulong ld) {
  QUAD q = 0;
  if (row >= rows) return q;
  __global const REAL *p = x + row * ld + col;
  if (ALIGNED) {
    if (col + 4 <= cols) return *(__global const QUAD *)p;
  }
  if (col < cols) q.s0 = p[0];
  if (col + 1 < cols) q.s1 = p[1];
  if (col + 2 < cols) q.s2 = p[2];
  if (col + 3 < cols) q.s3 = p[3];
  return q;
}

/*
 * Quad number q of a slice: where it is in the stored matrix (from the slice's corner), and in
 * the slice. ALONG: the matrix's rows lie along the slice's WIDTH, else along its depth.
 */
#define ROW_OF(q, ALONG, WIDTH) ((ALONG) ? (q) / ((WIDTH) / 4) : (q) / (BK / 4))
#define COL_OF(q, ALONG, WIDTH) ((ALONG) ? (q) % ((WIDTH) / 4) * 4 : (q) % (BK / 4) * 4)

#define FETCH(to, QUADS, ALONG, WIDTH, x, row0, col0, rows, cols, ld)                       \
  _Pragma("unroll") for (int i = 0; i < QUADS; i++) {                                       \
    const int q = item + i * ITEMS;                                                         \
    to[i] = load_quad(x, row0 + ROW_OF(q, ALONG, WIDTH), col0 + COL_OF(q, ALONG, WIDTH), rows, \
                      cols, ld);                                                            \
  }

#define KEEP(slice, from, QUADS, ALONG, WIDTH)                                \
  _Pragma("unroll") for (int i = 0; i < QUADS; i++) {                         \
    const int q = item + i * ITEMS;                                           \
    const int row = ROW_OF(q, ALONG, WIDTH), col = COL_OF(q, ALONG, WIDTH);   \
    if (ALONG) {                                                              \
      *(__local QUAD *)&slice[row * (WIDTH + PAD) + col] = from[i];           \
    } else {                                                                  \
      slice[(col + 0) * (WIDTH + PAD) + row] = from[i].s0;                    \
      slice[(col + 1) * (WIDTH + PAD) + row] = from[i].s1;                    \
      slice[(col + 2) * (WIDTH + PAD) + row] = from[i].s2;                    \
      slice[(col + 3) * (WIDTH + PAD) + row] = from[i].s3;                    \
    }                                                                         \
  }

/* The slices of A and B that begin at l = t: into registers, and from there to local memory. */
#define FETCH_SLICES(t)                                                                           \
  FETCH(next_a, QUADS_A, TRANSA, BM, a, (TRANSA ? (t) : i0), (TRANSA ? i0 : (t)), (TRANSA ? k : m), \
        (TRANSA ? m : k), lda)                                                                    \
  FETCH(next_b, QUADS_B, !TRANSB, BN, b, (TRANSB ? j0 : (t)), (TRANSB ? (t) : j0),                \
        (TRANSB ? n : k), (TRANSB ? k : n), ldb)
#define KEEP_SLICES(buffer)                          \
  KEEP(slice_a[buffer], next_a, QUADS_A, TRANSA, BM) \
  KEEP(slice_b[buffer], next_b, QUADS_B, !TRANSB, BN)

__attribute__((reqd_work_group_size(GX, GY, 1))) __kernel void gemm_blocks(
    const ulong m, const ulong n, const ulong k, const ulong parts, const ulong depth,
    const REAL alpha, __global const REAL *a, const ulong a0, const ulong lda, const ulong a1,
    __global const REAL *b, const ulong b0, const ulong ldb, const ulong b1, const REAL beta,
    __global REAL *c, const ulong c0, const ulong ldc, const ulong c1) {
  __local REAL slice_a[2][BK * (BM + PAD)] __attribute__((aligned(32)));
  __local REAL slice_b[2][BK * (BN + PAD)] __attribute__((aligned(32)));
  const int tx = (int)get_local_id(0), ty = (int)get_local_id(1), item = ty * GX + tx;

  /* The block of this group: bands of BAND blocks of rows, in each down the rows first. */
  const size_t across = get_num_groups(0), down = get_num_groups(1);
  const size_t number = get_group_id(1) * across + get_group_id(0);
  FIND_BAND(across)
  const ulong i0 = (band + in_band % height) * BM, j0 = in_band / height * BN;

  const ulong z = get_global_id(2), first = z % parts * depth, stop = min(k, first + depth);
  a += a0 + z / parts * a1;
  b += b0 + z / parts * b1;
  c += c0 + z * c1;

  REAL acc[TM][TN];
#pragma unroll
  for (int i = 0; i < TM; i++)
#pragma unroll
    for (int j = 0; j < TN; j++) acc[i][j] = 0;

  QUAD next_a[QUADS_A], next_b[QUADS_B];
  FETCH_SLICES(first)
  KEEP_SLICES(0)
  barrier(CLK_LOCAL_MEM_FENCE);
  int now = 0;
  for (ulong t = first; t < stop; t += BK, now = 1 - now) {
    const int more = t + BK < stop;
    if (more) { FETCH_SLICES(t + BK) }
#pragma unroll
    for (int l = 0; l < BK; l++) {
      QUAD x[TM / 4], y[TN / 4];
#pragma unroll
      for (int i = 0; i < TM / 4; i++)
        x[i] = *(__local const QUAD *)&slice_a[now][l * (BM + PAD) + i * (4 * GY) + ty * 4];
#pragma unroll
      for (int j = 0; j < TN / 4; j++)
        y[j] = *(__local const QUAD *)&slice_b[now][l * (BN + PAD) + j * (4 * GX) + tx * 4];
#pragma unroll
      for (int i = 0; i < TM / 4; i++)
#pragma unroll
        for (int j = 0; j < TN / 4; j++) {
#define ADD(row, col)                                 \
  acc[4 * i + row][4 * j + col] =                     \
      fma(x[i].s##row, y[j].s##col, acc[4 * i + row][4 * j + col]);
#define ADD_ROW(row) ADD(row, 0) ADD(row, 1) ADD(row, 2) ADD(row, 3)
          ADD_ROW(0) ADD_ROW(1) ADD_ROW(2) ADD_ROW(3)
        }
    }
    if (more) { KEEP_SLICES(1 - now) }
    barrier(CLK_LOCAL_MEM_FENCE);
  }

#pragma unroll
  for (int i = 0; i < TM; i++) {
    const ulong row = i0 + i / 4 * (4 * GY) + ty * 4 + i % 4;
    if (row >= m) continue;
#pragma unroll
    for (int j = 0; j < TN / 4; j++) {
      const ulong col = j0 + j * (4 * GX) + tx * 4;
      __global REAL *to = c + row * ldc + col;
#pragma unroll
      for (int s = 0; s < 4; s++)
        if (col + s < n)
          to[s] = beta == 0 ? alpha * acc[i][4 * j + s] : alpha * acc[i][4 * j + s] + beta * to[s];
    }
  }
}
