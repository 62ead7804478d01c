/* SPDX-License-Identifier: MIT */
/*
 * gemm_tensor_double: C = alpha * op(A) * op(B) + beta * C of doubles, on the tensor cores of NVIDIA GPUs
 *
 *     for each block of C, BM x BN:
 *       for (t = 0; t < k; t += BK)
 *         for (l = t; l < min(t + BK, k); l++)
 *           for each element (i, j) of the block: acc[i][j] += op(A)[i][l] * op(B)[l][j];
 *
 * Tensor cores multiply doubles and add with one rounding, as fma does, in an order of their own.
 *
 * Operands are read where they lie. Slices go to local memory as in gemm_pipelined, with zeros beyond m, n
 * and k, which cp.async writes itself. A slice has lines as its operand has: of one l each with elements along
 * m or n side by side (A with TRANSA 1, B with TRANSB 0), or of elements along k. A line is 2 or 4 elements
 * longer, so that 8 work-items that read 16 bytes each meet all banks.
 *
 * A warp's part is 4 * TM x 8 * TN elements of C. A tensor core multiplies 16 x 8 by 8 x 8 elements: of B
 * transposed, whose pairs lie side by side as it takes them where B does not lie transposed, and of A
 * transposed. Which rows, columns and l it takes for which of its own is free: of each 16 x 16 a work-item
 * (g, t) of 8 x 4 owns rows 4 t to 4 t + 3 and columns 2 g and 2 g + 1, and of eight l it gives 2 t and 2 t + 1
 * of rows or columns 2 g and 2 g + 1. Elsewhere than on NVIDIA each work-item computes what it owns.
 *
 * A work-item takes what it gives of the next eight l to registers before the products of the last eight, and so
 * goes on from slice to slice.
 *
 * Blocks follow one another as in gemm_blocks. With beta 0, C is not read. WIDE: c0, ldc and c1 are even;
 * PAIRS: offsets and distances of A and B are even. Global size: ITEMS times the blocks of C, 1, batch;
 * local size ITEMS.
 */
#ifndef REAL
#define REAL double /* element type; of floats nothing goes to tensor cores */
#endif
#ifndef BM
#define BM 32 /* rows of a block of C, a multiple of 4 * TM */
#endif
#ifndef BN
#define BN 32 /* columns of a block of C, a multiple of 8 * TN */
#endif
#ifndef BK
#define BK 16 /* depth of a slice, a multiple of 16; BK * BM and BK * BN are multiples of 2 * ITEMS */
#endif
#ifndef TM
#define TM 4 /* rows of a work-item, a multiple of 4 */
#endif
#ifndef TN
#define TN 2 /* columns of a work-item, a multiple of 2 */
#endif
#ifndef STAGES
#define STAGES 2 /* slices in local memory */
#endif
#ifndef DEPTH
#define DEPTH 4 /* l of an instruction: 4 (8 x 8 elements of C), or from compute capability 9.0 on 8 (16 x 8) */
#endif
#ifndef TRANSA
#define TRANSA 0 /* 1: A is stored k x m */
#endif
#ifndef TRANSB
#define TRANSB 0 /* 1: B is stored n x k */
#endif
#ifndef WIDE
#define WIDE 0 /* 1: C can be written two elements at a time */
#endif
#ifndef PAIRS
#define PAIRS 0 /* 1: A and B can be read two elements at a time */
#endif

#include "clcompute/block.h"
#include "clcompute/copy_async.h"
#include "clcompute/vector.h"

#define DOWN 4 /* work-items of a warp along m, and along n */
#define ACROSS 8
#define WARPS_DOWN (BM / (DOWN * TM))
#define WARPS_ACROSS (BN / (ACROSS * TN))
#define ITEMS (DOWN * ACROSS * WARPS_DOWN * WARPS_ACROSS)
#define PAIR JOIN(REAL, 2)

/* Of a slice with WIDTH elements of each l: elements of a line, and from line to line. */
#define LINE(is_l_first, WIDTH) ((is_l_first) ? (WIDTH) : BK)
#define STEP(is_l_first, WIDTH) ((is_l_first) ? (WIDTH) + 2 : BK + 4)
#define STEP_A STEP(TRANSA, BM)
#define STEP_B STEP(!TRANSB, BN)
#define SIZE_A ((TRANSA ? BK : BM) * STEP_A)
#define SIZE_B ((TRANSB ? BN : BK) * STEP_B)

/* Copies a slice, ITEMS pairs at a time, and goes on to the next one: whole lines, of which a work-item's place
   is in the first. `sides` elements along m or n are there, and `rest` along k. */
#define COPY_SLICE(slice, from, ld, is_l_first, WIDTH, sides)                                          \
  {                                                                                                    \
    const int pairs = LINE(is_l_first, WIDTH) / 2, first = item / pairs, at = item % pairs * 2;        \
    const int lines = is_l_first ? rest : sides, there = is_l_first ? sides : rest;                    \
    const int count = at < there ? min(there - at, 2) : 0;                                             \
    __local REAL *const own = &(slice)[first * STEP(is_l_first, WIDTH) + at];                          \
    _Pragma("unroll") for (int q = 0; q < BK * WIDTH / 2 / pairs; q += ITEMS / pairs)                  \
      COPY_SOME(own + q * STEP(is_l_first, WIDTH), from + (ulong)q * ld, first + q < lines ? count : 0)       \
    from += is_l_first ? BK * ld : BK;                                                                 \
  }
#define COPY_SLICES(stage)                                                          \
  {                                                                                 \
    COPY_SLICE(slices_a + (stage) * SIZE_A, a, lda, TRANSA, BM, rows)               \
    COPY_SLICE(slices_b + (stage) * SIZE_B, b, ldb, !TRANSB, BN, columns)           \
    rest -= BK;                                                                     \
  }
/* Where a work-item's first pair is. */
#define OWN_PAIR(ld, is_l_first, WIDTH)                                             \
  ((ulong)(item / (LINE(is_l_first, WIDTH) / 2)) * (ld) + item % (LINE(is_l_first, WIDTH) / 2) * 2)

#if defined(__NV_CL_C_VERSION) && !JOIN(IS_, REAL)

/* Copies `count` elements of a pair, and zeros in place of the others. */
#define COPY_BYTES(how, to, from, size, count)                                               \
  asm volatile("cp.async." how ".shared.global [%0], [%1], " #size ", %2;" ::"r"(             \
                   (uint)(size_t)(to)),                                                      \
               "l"((ulong)(from)), "r"((count) * 8)                                          \
               : "memory");
#if PAIRS
#define COPY_SOME(to, from, count) COPY_BYTES("cg", to, from, 16, count)
#else
#define COPY_SOME(to, from, count)                        \
  {                                                       \
    COPY_BYTES("ca", to, from, 8, min(count, 1))          \
    COPY_BYTES("ca", (to) + 1, (from) + 1, 8, (count) / 2) \
  }
#endif

/* The two l of two rows or columns from `at` on: part[row or column][l]. */
#define READ(part, slice, step, is_l_first, at, l)                                            \
  _Pragma("unroll") for (int s = 0; s < 2; s++) {                                             \
    const PAIR two = *(__local const PAIR *)&(slice)[is_l_first ? ((l) + s) * (step) + (at)   \
                                                                : ((at) + s) * (step) + (l)]; \
    (part)[is_l_first ? 0 : s][is_l_first ? s : 0] = two.s0;                                  \
    (part)[is_l_first ? 1 : s][is_l_first ? s : 1] = two.s1;                                  \
  }

/* What a work-item gives of eight l from `l` on to the products that follow: xs[row][l], ys[column][l]. */
#define PARTS REAL xs[2][TM / 2][2], ys[2][TN][2];
#define TAKE(p, x, y, l, is_there)                                                           \
  {                                                                                          \
    _Pragma("unroll") for (int i = 0; i < TM / 2; i += 2)                                    \
      READ(&xs[p][i], x, STEP_A, TRANSA, warp_row + 8 * i + 2 * eighth, (l) + 2 * fourth)    \
    _Pragma("unroll") for (int j = 0; j < TN; j += 2)                                        \
      READ(&ys[p][j], y, STEP_B, !TRANSB, warp_col + 8 * j + 2 * eighth, (l) + 2 * fourth)   \
  }

/* Of 16 x 8 elements of C, two of the upper row and two of the lower one: c += x * y. */
#if DEPTH == 4
#define MULTIPLY_HALF(p, q, x, y)                                                     \
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};" \
      : "+d"(p), "+d"(q)                                                              \
      : "d"(x), "d"(y));
#define MULTIPLY_ADD(c0, c1, c2, c3, upper, lower, y)           \
  _Pragma("unroll") for (int s = 0; s < 2; s++) {    \
    MULTIPLY_HALF(c0, c1, (upper)[s], (y)[s])        \
    MULTIPLY_HALF(c2, c3, (lower)[s], (y)[s])        \
  }
#else
#define MULTIPLY_ADD(c0, c1, c2, c3, upper, lower, y)                                              \
  asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "   \
      "{%0,%1,%2,%3};"                                                                             \
      : "+d"(c0), "+d"(c1), "+d"(c2), "+d"(c3)                                                     \
      : "d"((upper)[0]), "d"((lower)[0]), "d"((upper)[1]), "d"((lower)[1]), "d"((y)[0]), "d"((y)[1]));
#endif
#define MULTIPLY(p)                                                                        \
  _Pragma("unroll") for (int j = 0; j < TN; j += 2)                                        \
  _Pragma("unroll") for (int i = 0; i < TM / 2; i++) {                                     \
    const int to = i / 2 * 4 + i % 2;                                                      \
    MULTIPLY_ADD(acc[to][j], acc[to + 2][j], acc[to][j + 1], acc[to + 2][j + 1], ys[p][j], \
                 ys[p][j + 1], xs[p][i])                                                   \
  }

#else

#define COPY_SOME(to, from, count)               \
  {                                              \
    (to)[0] = (count) > 0 ? (from)[0] : (REAL)0; \
    (to)[1] = (count) > 1 ? (from)[1] : (REAL)0; \
  }

/* What is taken is multiplied at once. */
#define PARTS
#define TAKE(p, x, y, first, is_there)                                                          \
  for (int own_l = (first); (is_there) && own_l < (first) + 8; own_l++)                         \
    for (int i = 0; i < TM; i++)                                                                \
      for (int j = 0; j < TN; j++) {                                                            \
        const int in_row = own_row + i / 4 * 16 + i % 4, in_col = own_col + j / 2 * 16 + j % 2; \
        acc[i][j] = fma((x)[TRANSA ? own_l * STEP_A + in_row : in_row * STEP_A + own_l],        \
                        (y)[TRANSB ? in_col * STEP_B + own_l : own_l * STEP_B + in_col], acc[i][j]); \
      }
#define MULTIPLY(p)

#endif

__attribute__((reqd_work_group_size(ITEMS, 1, 1))) __kernel void gemm_tensor_double(
    const ulong m, const ulong n, const ulong k, const REAL alpha, __global const REAL *a,
    const ulong a0, const ulong lda, const ulong a1, __global const REAL *b, const ulong b0,
    const ulong ldb, const ulong b1, const REAL beta, __global REAL *c, const ulong c0,
    const ulong ldc, const ulong c1) {
  __local REAL slices_a[STAGES * SIZE_A] __attribute__((aligned(128)));
  __local REAL slices_b[STAGES * SIZE_B] __attribute__((aligned(128)));
  const int item = (int)get_local_id(0), warp = item / (DOWN * ACROSS);
  const int lane = item % (DOWN * ACROSS), eighth = lane / 4, fourth = lane % 4;
  const int warp_row = warp % WARPS_DOWN * (DOWN * TM), warp_col = warp / WARPS_DOWN * (ACROSS * TN);
  const int own_row = warp_row + fourth * 4, own_col = warp_col + eighth * 2;

  /* The block of this group: bands of BAND blocks of rows, in each down the rows first. */
  const size_t blocks = (n + BN - 1) / BN, down = (m + BM - 1) / BM, number = get_group_id(0);
  FIND_BAND(blocks)
  const size_t column = in_band / height, row = in_band - column * height;
  const ulong i0 = (band + row) * BM, j0 = column * BN;

  a += a0 + get_global_id(2) * a1 + (TRANSA ? i0 : i0 * lda) + OWN_PAIR(lda, TRANSA, BM);
  b += b0 + get_global_id(2) * b1 + (TRANSB ? j0 * ldb : j0) + OWN_PAIR(ldb, !TRANSB, BN);
  c += c0 + get_global_id(2) * c1;
  const int rows = (int)min(m - i0, (ulong)BM), columns = (int)min(n - j0, (ulong)BN);
  const uint slices = (uint)((k + BK - 1) / BK);
  int rest = (int)k;

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
  AWAIT
  barrier(CLK_LOCAL_MEM_FENCE);
  PARTS
  TAKE(0, slices_a, slices_b, 0, 1)
  uint now = 0, next = STAGES - 1;
  for (uint t = 0; t < slices; t++) {
    if (t + STAGES - 1 < slices) COPY_SLICES(next)
    COMMIT
#pragma unroll
    for (int l = 0; l < BK - 8; l += 8) {
      TAKE((l / 8 + 1) % 2, slices_a + now * SIZE_A, slices_b + now * SIZE_B, l + 8, 1)
      MULTIPLY(l / 8 % 2)
    }
    now = now + 1 == STAGES ? 0 : now + 1;
    next = next + 1 == STAGES ? 0 : next + 1;
    AWAIT /* for the slice that comes next; all have taken all of the one that is overwritten */
    barrier(CLK_LOCAL_MEM_FENCE);
    TAKE(0, slices_a + now * SIZE_A, slices_b + now * SIZE_B, 0, t + 1 < slices)
    MULTIPLY(1)
  }

#pragma unroll
  for (int i = 0; i < TM; i++) {
    const ulong at = i0 + own_row + i / 4 * 16 + i % 4;
    if (at >= m) continue;
#pragma unroll
    for (int j = 0; j < TN; j += 2) {
      const ulong col = j0 + own_col + j * 8;
      __global REAL *const to = c + at * ldc + col;
      const PAIR v = alpha * (PAIR)(acc[i][j], acc[i][j + 1]);
      if (WIDE && col + 2 <= n) {
        *(__global PAIR *)to = beta == 0 ? v : v + beta * *(__global PAIR *)to;
        continue;
      }
      if (col < n) to[0] = beta == 0 ? v.s0 : v.s0 + beta * to[0];
      if (col + 1 < n) to[1] = beta == 0 ? v.s1 : v.s1 + beta * to[1];
    }
  }
}
