/* SPDX-License-Identifier: MIT */
/*
 * gemm_pipelined: C = alpha * A' * B + beta * C, of A as it lies transposed, k x m, or with ALONG
 * C = alpha * A * B + beta * C, of A as it lies, m x k; in whole blocks
 *
 *     for each block of C, BM x BN, and each part of k:
 *       for (t = part * share; t < min((part + 1) * share, slices); t++)
 *         for (l = t * BK; l < (t + 1) * BK; l++)
 *           for each element (i, j) of the block: acc[i][j] += A[l][i] * B[l][j];
 *
 * Slices of A and B go to local memory without a register on their way (cp.async of NVIDIA's PTX;
 * elsewhere they are copied), STAGES - 1 of them ahead of the one that is multiplied. Both lie with
 * the BM or BN elements of one l side by side, as in global memory.
 *
 * A work-item owns TM x TN elements of C, in squares of 4 x 4. 32 of them, 8 down and 4 across, own a
 * warp's part: what they read of a slice at a time is 8 or 4 times 16 bytes side by side, and for each
 * TM + TN elements that are read there are TM * TN multiply-adds. WAYS warps own the same part, each with its
 * share of a slice: their sums are added in local memory, in the order of the warps.
 *
 * With ONE_LAUNCH k goes in parts. Each group writes its sums to `sums`, BM * BN elements for each part, block by
 * block, and the last group of a block to end adds them up in the order of the parts: `ended` has a count for each
 * block of the batch, 0 before a launch and behind it. Else parts is 1.
 *
 * A has BM * ceil(m / BM) columns (ALONG: rows), B has BN * ceil(n / BN); both have slices * BK rows
 * (ALONG: columns). With EDGES they have m, n and k, and zeros are taken for what is outside. a0, lda and a1
 * are multiples of UNIT_A, b0, ldb and b1 of UNIT_B, c0, ldc and c1 with WIDE of 4. Work-groups follow one another
 * as in gemm_blocks. With beta 0, C is not read. Global size: ITEMS times the blocks of C, 1, batch * parts;
 * local size ITEMS.
 */
#ifndef REAL
#define REAL float /* element type: float or double */
#endif
#ifndef BM
#define BM 32 /* rows of a block of C, a multiple of 8 * TM */
#endif
#ifndef BN
#define BN 16 /* columns of a block of C, a multiple of 4 * TN */
#endif
#ifndef BK
#define BK 8 /* depth of a slice; BK * BM and BK * BN are multiples of 4 * ITEMS */
#endif
#ifndef TM
#define TM 4 /* rows of a work-item, a multiple of 4 */
#endif
#ifndef TN
#define TN 4 /* columns of a work-item, a multiple of 4 */
#endif
#ifndef STAGES
#define STAGES 2 /* slices in local memory */
#endif
#ifndef ALONG
#define ALONG 0 /* 1: A lies m x k */
#endif
#ifndef WIDE
#define WIDE 0 /* 1: C can be written four elements at a time */
#endif
#ifndef WAYS
#define WAYS 1 /* warps for the same elements of C; BK is a multiple of 4 * WAYS */
#endif
#ifndef EDGES
#define EDGES 0 /* 1: C's last blocks and the last slice may be parts of one */
#endif
#ifndef UNIT_A
#define UNIT_A 4 /* elements of A that are copied at a time: 4, or 2 or 1 where a slice's lines divide ITEMS */
#endif
#ifndef UNIT_B
#define UNIT_B 4
#endif
#ifndef ONE_LAUNCH
#define ONE_LAUNCH 0 /* 1: k goes in parts; of GPUs NVIDIA's alone */
#endif

#include "clcompute/block.h"
#include "clcompute/copy_async.h"
#include "clcompute/fence.h"
#include "clcompute/vector.h"

#define DOWN 8 /* work-items of a warp along m, and along n */
#define ACROSS 4
#define WARPS_DOWN (BM / (DOWN * TM))
#define WARPS_ACROSS (BN / (ACROSS * TN))
#define WAY (DOWN * ACROSS * WARPS_DOWN * WARPS_ACROSS) /* work-items of one */
#define ITEMS (WAY * WAYS)
#define SHARE (BK / WAYS)

/* A slice of A in local memory: BK rows, or where it lies along k BM rows, whose elements are in other
   banks than those of the seven rows around. */
#define WIDTH_A (ALONG ? BK : BM)
#define LINE_A (ALONG ? BK + 4 : BM)
#define SIZE_A (ALONG ? BM * LINE_A : BK * LINE_A)

#ifdef __NV_CL_C_VERSION
#define KEEP(x) asm volatile("" : "+l"(x));
#else
#define KEEP(x)
#endif
#if EDGES
#define COPY_THERE COPY_FOUR
#else
#define COPY_THERE(to, from, count) COPY(to, from)
#endif
/* Copies a slice of COUNT quads, WIDTH elements a line, ITEMS quads at a time: of `lines` lines and `width` of their
   elements. */
#define COPY_QUADS(slice, from, ld, COUNT, WIDTH, LINE, lines, width)                                 \
  _Pragma("unroll") for (int q = 0; q < (COUNT); q += ITEMS) {                                        \
    const uint quad = q + item, line = quad / ((WIDTH) / 4), col = quad % ((WIDTH) / 4) * 4;          \
    COPY_THERE(&(slice)[line * (LINE) + col], &(from)[(ulong)line * (ld) + col],                      \
               (int)line < (lines) ? clamp((width) - (int)col, 0, 4) : 0)                             \
  }
/* The same UNIT elements an item at a time, whole lines at once. One address goes from line to line: with one for each
   the compiler runs out of registers. */
#define COPY_UNITS(UNIT, slice, from, ld, COUNT, WIDTH, LINE, lines, width)                           \
  {                                                                                                   \
    const uint unit_line = item / ((WIDTH) / (UNIT)), unit_col = item % ((WIDTH) / (UNIT)) * (UNIT);  \
    __global const REAL *unit_from = (from) + (ulong)unit_line * (ld) + unit_col;                     \
    _Pragma("unroll") for (int q = 0; q < (COUNT) * 4 / (UNIT); q += ITEMS) {                         \
      const uint line = q / ((WIDTH) / (UNIT)) + unit_line;                                           \
      COPY_UNIT(UNIT, &(slice)[line * (LINE) + unit_col], unit_from,                                  \
                !EDGES ? (UNIT) : (int)line < (lines) ? clamp((width) - (int)unit_col, 0, UNIT) : 0)  \
      unit_from += ITEMS / ((WIDTH) / (UNIT)) * (ld);                                                 \
      KEEP(unit_from)                                                                                 \
    }                                                                                                 \
  }
#define COPY_SLICE(UNIT, slice, from, ld, COUNT, WIDTH, LINE, lines, width)                           \
  if ((UNIT) < 4) COPY_UNITS(UNIT, slice, from, ld, COUNT, WIDTH, LINE, lines, width)                 \
  else { COPY_QUADS(slice, from, ld, COUNT, WIDTH, LINE, lines, width) }
/* The slices of a step, and goes on to the next one. */
#define COPY_SLICES(stage)                                                                            \
  {                                                                                                   \
    COPY_SLICE(UNIT_A, slices_a + (stage) * SIZE_A, a, lda, BK * BM / 4, WIDTH_A, LINE_A,             \
               (ALONG ? rows : rest), (ALONG ? rest : rows))                                          \
    COPY_SLICE(UNIT_B, slices_b + (stage) * (BK * BN), b, ldb, BK * BN / 4, BN, BN, rest, columns)    \
    a += ALONG ? BK : BK * lda;                                                                       \
    b += BK * ldb;                                                                                    \
    rest -= BK;                                                                                       \
  }
/* Row i of a work-item's rows, from its first one on. */
#define ROW(i) (ALONG ? DOWN * (i) : DOWN * ((i) / 4 * 4) + (i) % 4)

#define ACC(e) acc[(e) / TN][(e) % TN]
#define QUADS (BM * BN / 4) /* of a block */
#if EDGES || ONE_LAUNCH
#define MORE                                                                            \
  , const ulong k, const ulong parts, const ulong share, __global REAL *sums, __global uint *ended
#else
#define MORE
#endif

__attribute__((reqd_work_group_size(ITEMS, 1, 1))) __kernel void gemm_pipelined(
    const ulong m, const ulong n, const ulong slices, const REAL alpha, __global const REAL *a,
    const ulong a0, const ulong lda, const ulong a1, __global const REAL *b, const ulong b0,
    const ulong ldb, const ulong b1, const REAL beta, __global REAL *c, const ulong c0,
    const ulong ldc, const ulong c1 MORE) {
  __local REAL slices_a[STAGES * SIZE_A] __attribute__((aligned(128)));
  __local REAL slices_b[STAGES * BK * BN] __attribute__((aligned(128)));
#if ONE_LAUNCH
  __local bool is_last;
#endif
  const uint item = (uint)get_local_id(0), way = item / WAY, warp = item % WAY / (DOWN * ACROSS);
  const uint first_row = warp % WARPS_DOWN * (DOWN * TM) + item / ACROSS % DOWN * (ALONG ? 1 : 4);
  const uint first_col = warp / WARPS_DOWN * (ACROSS * TN) + item % ACROSS * 4;

  /* The block of this group: bands of BAND blocks of rows, in each down the rows first. */
  const size_t across = (n + BN - 1) / BN, down = (m + BM - 1) / BM, number = get_group_id(0);
  FIND_BAND(across)
  const size_t column = in_band / height, row = in_band - column * height;
  const ulong i0 = (band + row) * BM, j0 = column * BN;

#if EDGES || ONE_LAUNCH
  const ulong matrix = get_global_id(2) / parts, part = get_global_id(2) - matrix * parts;
  const ulong first = part * share, end = min(slices - first, share), l0 = first * BK;
#else
  const ulong matrix = get_global_id(2), end = slices, l0 = 0;
#endif
  a += a0 + matrix * a1 + (ALONG ? i0 * lda + l0 : l0 * lda + i0);
  b += b0 + matrix * b1 + l0 * ldb + j0;
  c += c0 + matrix * c1;
#if EDGES
  const int rows = (int)min(m - i0, (ulong)BM), columns = (int)min(n - j0, (ulong)BN);
  int rest = (int)(k - l0);
#else
  const int rows = BM, columns = BN;
  int rest = 0; /* is not asked for */
#endif

  REAL acc[TM][TN];
#pragma unroll
  for (int i = 0; i < TM; i++)
#pragma unroll
    for (int j = 0; j < TN; j++) acc[i][j] = 0;

#pragma unroll
  for (uint stage = 0; stage < STAGES - 1; stage++) {
    if (stage < end) COPY_SLICES(stage)
    COMMIT
  }
  uint now = 0, next = STAGES - 1;
  for (ulong t = 0; t < end; t++) {
    AWAIT /* for the slice that is multiplied now; all have left the one that is overwritten */
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t + STAGES - 1 < end) COPY_SLICES(next)
    COMMIT
    __local const REAL *x = slices_a + now * SIZE_A +
                            (ALONG ? first_row * LINE_A + way * SHARE : way * SHARE * BM + first_row);
    __local const REAL *y = slices_b + now * (BK * BN) + way * SHARE * BN + first_col;
#pragma unroll
    for (int l = 0; l < SHARE; l += 4) {
      REAL xs[4][TM], ys[4][TN]; /* of four l, so that what is read arrives in time */
#if ALONG
#pragma unroll
      for (int i = 0; i < TM; i++) {
        const QUAD q = *(__local const QUAD *)&x[ROW(i) * LINE_A + l];
        xs[0][i] = q.s0, xs[1][i] = q.s1, xs[2][i] = q.s2, xs[3][i] = q.s3;
      }
#endif
#pragma unroll
      for (int s = 0; s < 4; s++) {
#if !ALONG
#pragma unroll
        for (int i = 0; i < TM; i += 4) {
          const QUAD q = *(__local const QUAD *)&x[(l + s) * BM + DOWN * i];
          xs[s][i] = q.s0, xs[s][i + 1] = q.s1, xs[s][i + 2] = q.s2, xs[s][i + 3] = q.s3;
        }
#endif
#pragma unroll
        for (int j = 0; j < TN; j += 4) {
          const QUAD q = *(__local const QUAD *)&y[(l + s) * BN + ACROSS * j];
          ys[s][j] = q.s0, ys[s][j + 1] = q.s1, ys[s][j + 2] = q.s2, ys[s][j + 3] = q.s3;
        }
      }
#pragma unroll
      for (int s = 0; s < 4; s++)
#pragma unroll
        for (int i = 0; i < TM; i++)
#pragma unroll
          for (int j = 0; j < TN; j++) acc[i][j] = fma(xs[s][i], ys[s][j], acc[i][j]);
    }
    now = now + 1 == STAGES ? 0 : now + 1;
    next = next + 1 == STAGES ? 0 : next + 1;
  }

#if WAYS > 1
  for (uint other = 1; other < WAYS; other++) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (way == other) {
#pragma unroll
      for (int e = 0; e < TM * TN; e++) slices_a[e * WAY + item % WAY] = ACC(e);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (way == 0) {
#pragma unroll
      for (int e = 0; e < TM * TN; e++) ACC(e) += slices_a[e * WAY + item];
    }
  }
#endif
#if ONE_LAUNCH
  const ulong block = matrix * get_num_groups(0) + number;
  __global QUAD *const own = (__global QUAD *)sums + block * parts * QUADS + item;
  if (way == 0) {
#pragma unroll
    for (int e = 0; e < TM * TN; e += 4)
      own[part * QUADS + e / 4 * WAY] = (QUAD)(ACC(e), ACC(e + 1), ACC(e + 2), ACC(e + 3));
  }
  FENCE;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (item == 0) {
    is_last = atomic_inc(ended + block) == (uint)parts - 1;
    if (is_last) ended[block] = 0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (!is_last || way > 0) return;
  FENCE;
#pragma unroll
  for (int e = 0; e < TM * TN; e++) ACC(e) = 0;
#pragma unroll 1
  for (ulong p = 0; p < parts; p++) {
#pragma unroll
    for (int e = 0; e < TM * TN; e += 4) {
      const QUAD v = *(volatile __global const QUAD *)(own + p * QUADS + e / 4 * WAY);
      ACC(e) += v.s0, ACC(e + 1) += v.s1, ACC(e + 2) += v.s2, ACC(e + 3) += v.s3;
    }
  }
#endif
  if (WAYS > 1 && way > 0) return;

#pragma unroll
  for (int i = 0; i < TM; i++) {
    const ulong at = i0 + first_row + ROW(i);
    if (at >= m) continue;
#pragma unroll
    for (int j = 0; j < TN; j += 4) {
      const ulong col = j0 + first_col + ACROSS * j;
      __global REAL *to = c + at * ldc + col;
      const QUAD v = alpha * (QUAD)(acc[i][j], acc[i][j + 1], acc[i][j + 2], acc[i][j + 3]);
      if (WIDE && col + 4 <= n) {
        *(__global QUAD *)to = beta == 0 ? v : v + beta * *(__global QUAD *)to;
        continue;
      }
      if (col < n) to[0] = beta == 0 ? v.s0 : v.s0 + beta * to[0];
      if (col + 1 < n) to[1] = beta == 0 ? v.s1 : v.s1 + beta * to[1];
      if (col + 2 < n) to[2] = beta == 0 ? v.s2 : v.s2 + beta * to[2];
      if (col + 3 < n) to[3] = beta == 0 ? v.s3 : v.s3 + beta * to[3];
    }
  }
}
