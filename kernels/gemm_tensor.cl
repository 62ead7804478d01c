/* SPDX-License-Identifier: MIT */
/*
 * gemm_tensor: C = alpha * A' * B + beta * C, of A as it lies transposed, k x m, in whole blocks, on
 * the tensor cores of NVIDIA GPUs
 *
 *     for each block of C, BM x BN:
 *       for (t = 0; t < slices * BK; t += 8)
 *         acc[i][j] += sum over l from t to t + 7 of A[l][i] * B[l][j], for each (i, j) of the block;
 *
 * Tensor cores multiply numbers of eleven bits (TF32) and add the products with truncation. So with
 * PRODUCTS 3 each element is split in a big part of eleven bits and a small part, the rest; of the
 * four products of parts small times small is left out, as it is less than the last bit, and a sum
 * of eight goes to `acc` by an addition of floats, which rounds. The big part is rounded, so that small
 * parts have either sign and what is left out cancels. PRODUCTS 1 is plain TF32. An element that is not
 * finite (infinity times a small part) is computed once more, with multiply-adds of floats.
 *
 * Slices, blocks, the operands and the arguments are as in gemm_pipelined, and so are the squares of
 * 8 x 4 work-items that own a warp's part; here a work-item owns 4 x 8 elements side by side of each
 * 32 x 32. Which row of a block a tensor core takes for which of its own is free, so the four elements
 * side by side that a work-item reads at a time are one element each of four 16 x 8 or 8 x 8 operands.
 * Elsewhere than on NVIDIA each work-item computes what it owns. Global size: ITEMS times the blocks
 * of C, 1, batch; local size ITEMS.
 */
#ifndef REAL
#define REAL float /* element type: float; of double nothing goes to tensor cores */
#endif
#ifndef BM
#define BM 32 /* rows of a block of C, a multiple of 8 * TM */
#endif
#ifndef BN
#define BN 32 /* columns of a block of C, a multiple of 4 * TN */
#endif
#ifndef BK
#define BK 8 /* depth of a slice, a multiple of 8; BK * BM and BK * BN are multiples of 4 * ITEMS */
#endif
#ifndef TM
#define TM 4 /* rows of a work-item, a multiple of 4 */
#endif
#ifndef TN
#define TN 8 /* columns of a work-item, a multiple of 8 */
#endif
#ifndef STAGES
#define STAGES 2 /* slices in local memory */
#endif
#ifndef WIDE
#define WIDE 0 /* 1: C can be written four elements at a time */
#endif
#ifndef PRODUCTS
#define PRODUCTS 3 /* of parts: 3 for the accuracy of floats, 1 for that of TF32 */
#endif

#include "clcompute/block.h"
#include "clcompute/copy_async.h"
#include "clcompute/vector.h"

#define DOWN 8 /* work-items of a warp along m, and along n */
#define ACROSS 4
#define WARPS_DOWN (BM / (DOWN * TM))
#define WARPS_ACROSS (BN / (ACROSS * TN))
#define ITEMS (DOWN * ACROSS * WARPS_DOWN * WARPS_ACROSS)
#define ROW_A (BM + 8) /* elements from l to l + 1 of a slice: a warp's reads meet all banks */
#define ROW_B (BN + 8)

/* Copies a slice of WIDTH elements a row, ITEMS quads at a time, and goes on to the next one. */
#define COPY_SLICE(slice, from, ld, WIDTH)                                                  \
  {                                                                                         \
    _Pragma("unroll") for (int q = 0; q < BK * WIDTH / 4; q += ITEMS) {                      \
      const uint quad = q + item, l = quad / (WIDTH / 4), at = quad % (WIDTH / 4) * 4;       \
      COPY(&(slice)[l * (WIDTH + 8) + at], &(from)[(ulong)l * ld + at])                      \
    }                                                                                       \
    from += BK * ld;                                                                        \
  }
#define COPY_SLICES(stage)                                  \
  {                                                         \
    COPY_SLICE(slices_a + (stage) * (BK * ROW_A), a, lda, BM) \
    COPY_SLICE(slices_b + (stage) * (BK * ROW_B), b, ldb, BN) \
  }

#if defined(__NV_CL_C_VERSION) && JOIN(IS_, REAL)

/* The nearest number of eleven bits. Of a number that is not finite there is no need of more than that
   the rest is NaN. */
#define BIG(x) ((as_uint(x) + 0x1000u) & 0xffffe000u)
#define ROUND(y, x) asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(y) : "f"(x));

/* p (+)= of the tile (i, j): x is 16 x 8, y is 8 x 8 elements, of each work-item's four and two. */
#define MULTIPLY_FIRST(p, x, y)                                                                 \
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, " \
      "{%10,%10,%10,%10};"                                                                      \
      : "=f"(p[0]), "=f"(p[1]), "=f"(p[2]), "=f"(p[3])                                          \
      : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]), "f"(0.0f));
#define MULTIPLY_ADD(p, x, y)                                                                   \
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, " \
      "{%0,%1,%2,%3};"                                                                          \
      : "+f"(p[0]), "+f"(p[1]), "+f"(p[2]), "+f"(p[3])                                          \
      : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));

/* Reads of 32 elements side by side in rows l and l + 4 what a work-item has of them: element e of
   `parts` of a tile, two a quad for A and one for B. */
#define READ(part, rest, e, l, from, row)                                              \
  {                                                                                    \
    const float4 quad = *(__local const float4 *)&(from)[(l) * (row)];                  \
    const float four[4] = {quad.s0, quad.s1, quad.s2, quad.s3};                        \
    _Pragma("unroll") for (int s = 0; s < 4; s++) {                                    \
      if (PRODUCTS == 1)                                                               \
        ROUND(part[s][e], four[s])                                                     \
      else                                                                             \
        part[s][e] = BIG(four[s]);                                                     \
      rest[s][e] = as_uint(four[s] - as_float(part[s][e]));                            \
    }                                                                                  \
  }

#define MULTIPLY(x, y)                                                                            \
  {                                                                                               \
    const uint read_col = warp_col + lane / ACROSS * 4;                                           \
    uint big_b[TN / 2][2], small_b[TN / 2][2];                                                    \
    _Pragma("unroll") for (int j = 0; j < TN / 2; j += 4) {                                       \
      READ((&big_b[j]), (&small_b[j]), 0, l + across, y + read_col + 8 * j , ROW_B)               \
      READ((&big_b[j]), (&small_b[j]), 1, l + across + 4, y + read_col + 8 * j , ROW_B)           \
    }                                                                                             \
    _Pragma("unroll") for (int i = 0; i < TM / 2; i += 2) {                                       \
      uint big_a[4][2], small_a[4][2];                                                            \
      READ(big_a, small_a, 0, l + across, x + own_row + 16 * i  , ROW_A)                          \
      READ(big_a, small_a, 1, l + across + 4, x + own_row + 16 * i  , ROW_A)                      \
      _Pragma("unroll") for (int h = 0; h < 2; h++) {                                             \
        const uint *const u = big_a[2 * h], *const v = big_a[2 * h + 1];                          \
        const uint big[4] = {u[0], v[0], u[1], v[1]};                                             \
        const uint *const p = small_a[2 * h], *const q = small_a[2 * h + 1];                      \
        const uint small[4] = {p[0], q[0], p[1], q[1]};                                           \
        _Pragma("unroll") for (int j = 0; j < TN / 2; j++) {                                      \
          float *const upper = acc[2 * (i + h)] + j / 4 * 8 + j % 4;                              \
          float *const lower = acc[2 * (i + h) + 1] + j / 4 * 8 + j % 4;                          \
          float sum[4];                                                                           \
          if (PRODUCTS == 1) {                                                                    \
            sum[0] = upper[0], sum[1] = upper[4], sum[2] = lower[0], sum[3] = lower[4];           \
            MULTIPLY_ADD(sum, big, big_b[j])                                                      \
            upper[0] = sum[0], upper[4] = sum[1], lower[0] = sum[2], lower[4] = sum[3];           \
          } else {                                                                                \
            MULTIPLY_FIRST(sum, small, big_b[j])                                                  \
            MULTIPLY_ADD(sum, big, small_b[j])                                                    \
            MULTIPLY_ADD(sum, big, big_b[j])                                                      \
            upper[0] += sum[0], upper[4] += sum[1], lower[0] += sum[2], lower[4] += sum[3];       \
          }                                                                                       \
        }                                                                                         \
      }                                                                                           \
    }                                                                                             \
  }

#else

#define MULTIPLY(x, y)                                                                         \
  for (int s = 0; s < 8; s++)                                                                  \
    for (int i = 0; i < TM; i++)                                                               \
      for (int j = 0; j < TN; j++)                                                             \
        acc[i][j] = fma(x[(l + s) * ROW_A + own_row + i / 4 * 32 + i % 4],                     \
                        y[(l + s) * ROW_B + own_col + j / 8 * 32 + j % 8], acc[i][j]);

#endif

/* Four elements of C side by side, from (at, col) on. */
#define STORE(value)                                                  \
  {                                                                   \
    __global REAL *const to = c + at * ldc + col;                     \
    const QUAD v = value;                                             \
    if (WIDE && col + 4 <= n) {                                       \
      *(__global QUAD *)to = beta == 0 ? v : v + beta * *(__global QUAD *)to; \
    } else {                                                          \
      if (col < n) to[0] = beta == 0 ? v.s0 : v.s0 + beta * to[0];    \
      if (col + 1 < n) to[1] = beta == 0 ? v.s1 : v.s1 + beta * to[1]; \
      if (col + 2 < n) to[2] = beta == 0 ? v.s2 : v.s2 + beta * to[2]; \
      if (col + 3 < n) to[3] = beta == 0 ? v.s3 : v.s3 + beta * to[3]; \
    }                                                                 \
  }

/* Of one element of C, by multiply-adds of floats. */
static REAL sum_of_products(__global const REAL *a, const ulong lda, __global const REAL *b,
                            const ulong ldb, const ulong k) {
  REAL sum = 0;
  for (ulong l = 0; l < k; l++) sum = fma(a[l * lda], b[l * ldb], sum);
  return sum;
}

__attribute__((reqd_work_group_size(ITEMS, 1, 1))) __kernel void gemm_tensor(
    const ulong m, const ulong n, const ulong slices, const REAL alpha, __global const REAL *a,
    const ulong a0, const ulong lda, const ulong a1, __global const REAL *b, const ulong b0,
    const ulong ldb, const ulong b1, const REAL beta, __global REAL *c, const ulong c0,
    const ulong ldc, const ulong c1) {
  __local REAL slices_a[STAGES * BK * ROW_A] __attribute__((aligned(128)));
  __local REAL slices_b[STAGES * BK * ROW_B] __attribute__((aligned(128)));
  const uint item = (uint)get_local_id(0), warp = item / (DOWN * ACROSS);
  const uint lane = item % (DOWN * ACROSS), across = lane % ACROSS;
  const uint warp_row = warp % WARPS_DOWN * (DOWN * TM), warp_col = warp / WARPS_DOWN * (ACROSS * TN);
  const uint own_row = warp_row + lane / ACROSS * 4, own_col = warp_col + across * 8;

  /* The block of this group: bands of BAND blocks of rows, in each down the rows first. */
  const size_t blocks = (n + BN - 1) / BN, down = (m + BM - 1) / BM, number = get_group_id(0);
  FIND_BAND(blocks)
  const size_t column = in_band / height, row = in_band - column * height;
  const ulong i0 = (band + row) * BM, j0 = column * BN;

  a += a0 + get_global_id(2) * a1 + i0;
  b += b0 + get_global_id(2) * b1 + j0;
  c += c0 + get_global_id(2) * c1;
  __global const REAL *const rows = a, *const columns = b;

  REAL acc[TM][TN];
#pragma unroll
  for (int i = 0; i < TM; i++)
#pragma unroll
    for (int j = 0; j < TN; j++) acc[i][j] = 0;

#pragma unroll
  for (uint stage = 0; stage < STAGES - 1; stage++) {
    if (stage < slices) COPY_SLICES(stage)
    COMMIT
  }
  uint now = 0, next = STAGES - 1;
  for (ulong t = 0; t < slices; t++) {
    AWAIT /* for the slice that is multiplied now; all have left the one that is overwritten */
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t + STAGES - 1 < slices) COPY_SLICES(next)
    COMMIT
    __local const REAL *const x = slices_a + now * (BK * ROW_A);
    __local const REAL *const y = slices_b + now * (BK * ROW_B);
#pragma unroll
    for (uint l = 0; l < BK; l += 8) MULTIPLY(x, y)
    now = now + 1 == STAGES ? 0 : now + 1;
    next = next + 1 == STAGES ? 0 : next + 1;
  }

  ulong rest = 0; /* a bit for each four elements of which one is not finite */
#pragma unroll
  for (int i = 0; i < TM; i++) {
    const ulong at = i0 + own_row + i / 4 * 32 + i % 4;
    if (at >= m) continue;
#pragma unroll
    for (int j = 0; j < TN; j += 4) {
      const ulong col = j0 + own_col + j / 8 * 32 + j % 8;
      const QUAD sums = (QUAD)(acc[i][j], acc[i][j + 1], acc[i][j + 2], acc[i][j + 3]);
      if (all(isfinite(sums)))
        STORE(alpha * sums)
      else
        rest |= 1ul << (i * TN + j) / 4;
    }
  }
  for (uint e = 0; rest != 0; e += 4, rest >>= 1) {
    const uint i = e / TN, j = e % TN, in_row = own_row + i / 4 * 32 + i % 4, in_col = own_col + j / 8 * 32 + j % 8;
    const ulong at = i0 + in_row, col = j0 + in_col;
    REAL sums[4];
    if (!(rest & 1)) continue;
    for (uint s = 0; s < 4; s++)
      sums[s] = sum_of_products(rows + in_row, lda, columns + in_col + s, ldb, slices * BK);
    STORE(alpha * (QUAD)(sums[0], sums[1], sums[2], sums[3]))
  }
}
