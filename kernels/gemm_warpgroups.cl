/* SPDX-License-Identifier: MIT */
/*
 * gemm_warpgroups: C = alpha * A * B + beta * C, of packed tiles, on the tensor cores of NVIDIA's Hopper
 *
 *     for each block of C, BM x BN:
 *       for (v = 0; v < depths; v++)
 *         acc[i][j] += sum over l of A[i][v * 32 + l] * B[v * 32 + l][j], for each (i, j) of the block;
 *
 * A warpgroup, four warps, owns 64 x BN elements. Tiles of A (64 x 32, one for each warpgroup) and of B
 * (BN x 32), as gemm_pack_tiles makes them, go to local memory by the copy engine, up to STAGES of them
 * before they are multiplied; a barrier in local memory tells when they are there (`full`), another one when
 * all have left them (`empty`). With PRODUCTS 3 tiles of B are in two parts, A is split in registers, and
 * each sum of 32 products goes to `acc` by an addition that rounds: gemm_tensor says why. What is small
 * comes first within a sum, as each of its additions truncates. Meanwhile the tensor cores are another
 * warpgroup's: DELAY sees to it that they take turns. With PRODUCTS 1 sums stay in the registers of the
 * tensor cores, and A is read from local memory too.
 *
 * The OpenCL compiler knows no `wgmma`: its target is sm_90, which has it as sm_90a only. So these
 * instructions stand behind //@sm_90a, a comment, which the library takes away from the compiler's
 * PTX before it builds that for sm_90a. Elsewhere than on NVIDIA each work-item computes what it owns.
 *
 * Of a warp's 16 rows a work-item owns two, of 16 columns the four from 4 * (item % 4) on. Elements that
 * are not finite are computed once more by multiply-adds of A and B as they lie: A[i][l] at a0 + i * a_i +
 * l * a_l, B[l][j] at b0 + j * b_j + l * b_l. Work-groups follow one another as in gemm_blocks. With beta 0, C
 * is not read. WIDE: c0, ldc and c1 are multiples of 4. Global size: ITEMS times the blocks of C, 1, batch; local
 * size ITEMS.
 */
#ifndef REAL
#define REAL float /* element type: float; of double nothing goes to tensor cores */
#endif
#ifndef WARPGROUPS
#define WARPGROUPS 2 /* of a work-group: a block has 64 rows for each */
#endif
#ifndef BN
#define BN 128 /* columns of a block: 128, or with PRODUCTS 1 also 256 */
#endif
#ifndef STAGES
#define STAGES 3 /* tiles in local memory, 2 or more */
#endif
#ifndef PRODUCTS
#define PRODUCTS 3 /* of parts: 3 for the accuracy of floats, 1 for that of TF32 */
#endif
#ifndef WIDE
#define WIDE 0 /* 1: C can be written four elements at a time */
#endif
#ifndef DELAY
#define DELAY 300 /* nanoseconds by which a warpgroup begins after the one before: some more than it adds for */
#endif

#include "clcompute/block.h"
#include "clcompute/vector.h"

#define BM (64 * WARPGROUPS)
#define ITEMS (128 * WARPGROUPS)
#define PARTS (PRODUCTS == 3 ? 2 : 1)
#define DEPTH 32
#define TILE_A (64 * DEPTH) /* elements */
#define TILE_B (PARTS * BN * DEPTH)
#define STAGE (WARPGROUPS * TILE_A + TILE_B)
#define OWN (BN / 2) /* elements of C that a work-item owns */
#define FILLER (ITEMS - 128) /* the item that has tiles copied: of the warpgroup that comes last */
#define IN_WORK (PRODUCTS == 3 ? 0 : 1) /* tiles that the tensor core still reads */

#if defined(__NV_CL_C_VERSION) && JOIN(IS_, REAL)
#define HAS_TENSOR_CORES 1

#define ADDRESS(p) ((uint)(size_t)(p))
#define MAKE_BARRIER(p, count) \
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(ADDRESS(p)), "r"(count) : "memory");
#define ARRIVE(p) \
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(ADDRESS(p)) : "memory");
#define EXPECT(p, bytes)                                                                        \
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(ADDRESS(p)),       \
               "r"((uint)(bytes))                                                               \
               : "memory");
#define AWAIT(p, phase)                                                                          \
  asm volatile("{\n.reg .pred done;\nAGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n" \
               "@!done bra AGAIN;\n}" ::"r"(ADDRESS(p)),                                         \
               "r"((uint)(phase))                                                               \
               : "memory");
#define COPY(to, from, bytes, p)                                                               \
  asm volatile(                                                                                \
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" \
      ::"r"(ADDRESS(to)), "l"(from), "r"((uint)(bytes)), "r"(ADDRESS(p))                       \
      : "memory");

/* Copies tile v of A and of B to a stage. */
#define FILL(stage, v)                                                                           \
  {                                                                                              \
    EXPECT(&full[stage], 4 * STAGE)                                                              \
    for (uint w = 0; w < WARPGROUPS; w++)                                                        \
      COPY(tiles + (stage) * STAGE + w * TILE_A, packed_a + (w * depths + (v)) * TILE_A, 4 * TILE_A, \
           &full[stage])                                                                         \
    COPY(tiles + (stage) * STAGE + WARPGROUPS * TILE_A, packed_b + (v) * TILE_B, 4 * TILE_B,       \
         &full[stage])                                                                           \
  }

/* What tells a tensor core where rows of 128 bytes lie: 8 of them every 1024 bytes, their quads swizzled.
   Two more is the next 8 elements of a row. */
#define DESCRIBE(p) \
  ((ulong)(ADDRESS(p) & 0x3ffff) >> 4 | (ulong)1 << 16 | (ulong)64 << 32 | (ulong)1 << 62)

#define ON "//@sm_90a "

/* 64 registers of a name. The compiler does not know them, and so moves none while a tensor core works
   on them. */
#define REST_OF_64(F, x) \
  F(x, 1) F(x, 2) F(x, 3) F(x, 4) F(x, 5) F(x, 6) F(x, 7) F(x, 8) F(x, 9) F(x, 10) F(x, 11)    \
  F(x, 12) F(x, 13) F(x, 14) F(x, 15) F(x, 16) F(x, 17) F(x, 18) F(x, 19) F(x, 20) F(x, 21)    \
  F(x, 22) F(x, 23) F(x, 24) F(x, 25) F(x, 26) F(x, 27) F(x, 28) F(x, 29) F(x, 30) F(x, 31)    \
  F(x, 32) F(x, 33) F(x, 34) F(x, 35) F(x, 36) F(x, 37) F(x, 38) F(x, 39) F(x, 40) F(x, 41)    \
  F(x, 42) F(x, 43) F(x, 44) F(x, 45) F(x, 46) F(x, 47) F(x, 48) F(x, 49) F(x, 50) F(x, 51)    \
  F(x, 52) F(x, 53) F(x, 54) F(x, 55) F(x, 56) F(x, 57) F(x, 58) F(x, 59) F(x, 60) F(x, 61)    \
  F(x, 62) F(x, 63)
#define EACH_OF_64(F, x) F(x, 0) REST_OF_64(F, x)
#define NAME(x, i) "," x #i
#define NAMES(x, more) "{" x "0" REST_OF_64(NAME, x) more "}"
#define SET_ZERO(x, i) ON "mov.f32 " x #i ", 0f00000000;\n"
#define ADD_ONE(x, i) ON "add.f32 %" #i ", %" #i ", " x #i ";\n"
#define OPERAND(x, i) , "+f"(x[i])
#define ZERO(x) asm volatile(EACH_OF_64(SET_ZERO, x)::: "memory");
#define ADD(to, x) \
  asm volatile(EACH_OF_64(ADD_ONE, x) : "+f"((to)[0]) REST_OF_64(OPERAND, (to)) : : "memory");

#if BN == 256
#define ALL NAMES("left", ",right0" REST_OF_64(NAME, "right"))
#define COLUMNS "n256"
#else
#define ALL NAMES("left", )
#define COLUMNS "n128"
#endif
#define MULTIPLY(x, y, is_added)                                                              \
  ON "wgmma.mma_async.sync.aligned.m64" COLUMNS "k8.f32.tf32.tf32 " ALL ", " x ", " y ", " is_added \
     ", 1, 1;\n"
#define BEGIN ON "wgmma.fence.sync.aligned;\n"
#define END ON "wgmma.commit_group.sync.aligned;\n"
#define FINISH(groups_left) \
  asm volatile(ON "wgmma.wait_group.sync.aligned " #groups_left ";\n" ::: "memory");
#define DECLARE                                                                                 \
  asm volatile(ON ".reg .pred yes, no;\n" ON "setp.eq.u32 yes, 0, 0;\n" ON                      \
                  "setp.ne.u32 no, 0, 0;\n" ON ".reg .f32 left<64>, right<64>;\n" ::: "memory"); \
  ZERO("left")                                                                                  \
  ZERO("right")

#if PRODUCTS == 3

#define QUAD_OF(x, s) "r"(x[s][0]), "r"(x[s][1]), "r"(x[s][2]), "r"(x[s][3])

/* 64 x 32 elements of A in registers, split, times a tile of B in two parts. */
#define MULTIPLY_STAGE(tile)                                                                    \
  {                                                                                             \
    uint big[4][4], rest[4][4];                                                                 \
    const ulong y = DESCRIBE((tile) + WARPGROUPS * TILE_A);                                     \
    const ulong z = y + (BN * DEPTH * 4 >> 4);                                                  \
    _Pragma("unroll") for (int s = 0; s < 4; s++) {                                             \
      const float4 quad =                                                                       \
          *(__local const float4 *)&(tile)[warpgroup * TILE_A + (s * 128 + item % 128) * 4];    \
      const float four[4] = {quad.s0, quad.s1, quad.s2, quad.s3};                               \
      _Pragma("unroll") for (int e = 0; e < 4; e++) {                                           \
        big[s][e] = (as_uint(four[e]) + 0x1000u) & 0xffffe000u;                                 \
        rest[s][e] = as_uint(four[e] - as_float(big[s][e]));                                    \
      }                                                                                         \
    }                                                                                           \
    asm volatile(                                                                               \
        BEGIN MULTIPLY("{%16,%17,%18,%19}", "%32", "no")                                        \
            MULTIPLY("{%0,%1,%2,%3}", "%36", "yes")                                             \
            MULTIPLY("{%20,%21,%22,%23}", "%33", "yes")                                         \
            MULTIPLY("{%4,%5,%6,%7}", "%37", "yes")                                             \
            MULTIPLY("{%24,%25,%26,%27}", "%34", "yes")                                         \
            MULTIPLY("{%8,%9,%10,%11}", "%38", "yes")                                           \
            MULTIPLY("{%28,%29,%30,%31}", "%35", "yes")                                         \
            MULTIPLY("{%12,%13,%14,%15}", "%39", "yes")                                         \
            MULTIPLY("{%0,%1,%2,%3}", "%32", "yes")                                             \
            MULTIPLY("{%4,%5,%6,%7}", "%33", "yes")                                             \
            MULTIPLY("{%8,%9,%10,%11}", "%34", "yes")                                           \
            MULTIPLY("{%12,%13,%14,%15}", "%35", "yes") END                                     \
        :                                                                                       \
        : QUAD_OF(big, 0), QUAD_OF(big, 1), QUAD_OF(big, 2), QUAD_OF(big, 3), QUAD_OF(rest, 0), \
          QUAD_OF(rest, 1), QUAD_OF(rest, 2), QUAD_OF(rest, 3), "l"(y), "l"(y + 2), "l"(y + 4),  \
          "l"(y + 6), "l"(z), "l"(z + 2), "l"(z + 4), "l"(z + 6)                                \
        : "memory");                                                                            \
    FINISH(0)                                                                                   \
    ADD(acc, "left")                                                                            \
  }
#define TAKE_SUMS

#else

/* 64 x 32 elements of A times a tile of B. */
#define MULTIPLY_STAGE(tile)                                                             \
  {                                                                                      \
    const ulong x = DESCRIBE((tile) + warpgroup * TILE_A);                               \
    const ulong y = DESCRIBE((tile) + WARPGROUPS * TILE_A);                              \
    asm volatile(BEGIN MULTIPLY("%0", "%4", "yes") MULTIPLY("%1", "%5", "yes")           \
                     MULTIPLY("%2", "%6", "yes") MULTIPLY("%3", "%7", "yes") END         \
                 :                                                                       \
                 : "l"(x), "l"(x + 2), "l"(x + 4), "l"(x + 6), "l"(y), "l"(y + 2),       \
                   "l"(y + 4), "l"(y + 6)                                                \
                 : "memory");                                                            \
    FINISH(1)                                                                            \
  }
#define TAKE_SUMS  \
  FINISH(0)        \
  ADD(acc, "left") \
  if (BN == 256) ADD((acc + BN / 256 * 64), "right")

#endif

#else
#define HAS_TENSOR_CORES 0
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
static REAL sum_of_products(__global const REAL *a, const ulong a_l, __global const REAL *b,
                            const ulong b_l, const ulong k) {
  REAL sum = 0;
  for (ulong l = 0; l < k; l++) sum = fma(a[l * a_l], b[l * b_l], sum);
  return sum;
}

__attribute__((reqd_work_group_size(ITEMS, 1, 1))) __kernel void gemm_warpgroups(
    const ulong m, const ulong n, const ulong k, const ulong depths, const REAL alpha,
    __global const REAL *packed_a, const ulong packed_a1, __global const REAL *packed_b,
    const ulong packed_b1, __global const REAL *a, const ulong a0, const ulong a_i, const ulong a_l,
    const ulong a1, __global const REAL *b, const ulong b0, const ulong b_j, const ulong b_l,
    const ulong b1, const REAL beta, __global REAL *c, const ulong c0, const ulong ldc,
    const ulong c1) {
  const uint item = (uint)get_local_id(0), warpgroup = item / 128, lane = item % 32;
  const uint own_row = item / 32 * 16 + lane / 4, own_col = lane % 4 * 4; /* and 8 more, 16 more, ... */

  /* The block of this group: bands of BAND blocks of rows, in each down the rows first. */
  const size_t across = (n + BN - 1) / BN, down = (m + BM - 1) / BM, number = get_group_id(0);
  FIND_BAND(across)
  const size_t column = in_band / height, row = band + in_band - column * height;
  const ulong i0 = row * BM, j0 = column * BN;

  packed_a += get_global_id(2) * packed_a1 + row * WARPGROUPS * depths * TILE_A;
  packed_b += get_global_id(2) * packed_b1 + column * depths * TILE_B;

  REAL acc[OWN]; /* four side by side of the first row, then of the second, for each 16 columns */
#pragma unroll
  for (int e = 0; e < OWN; e++) acc[e] = 0;

#if HAS_TENSOR_CORES
  __local float tiles[STAGES * STAGE] __attribute__((aligned(1024)));
  __local ulong full[STAGES], empty[STAGES];
  if (item == FILLER) {
    for (uint s = 0; s < STAGES; s++) {
      MAKE_BARRIER(&full[s], 1)
      MAKE_BARRIER(&empty[s], ITEMS)
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (item == FILLER)
    for (uint v = 0; v < STAGES && v < depths; v++) FILL(v, v)
  DECLARE
  asm volatile("nanosleep.u32 %0;" ::"r"(warpgroup * DELAY));
  uint stage = 0, phase = 0; /* of what is multiplied */
  for (ulong v = 0; v < depths; v++) {
    AWAIT(&full[stage], phase)
    __local const float *const tile = tiles + stage * STAGE;
    MULTIPLY_STAGE(tile)
    const uint done = stage >= IN_WORK ? stage - IN_WORK : stage + STAGES - IN_WORK;
    if (v >= IN_WORK) ARRIVE(&empty[done])
    if (item == FILLER && v >= IN_WORK && v - IN_WORK + STAGES < depths) {
      AWAIT(&empty[done], stage >= IN_WORK ? phase : phase ^ 1)
      FILL(done, v - IN_WORK + STAGES)
    }
    asm volatile("bar.warp.sync 0xffffffff;" ::: "memory");
    stage = stage + 1 == STAGES ? 0 : stage + 1;
    phase = stage == 0 ? phase ^ 1 : phase;
  }
  TAKE_SUMS
#else
#define AT(i, l) ((i) * DEPTH + (((l) / 4) ^ ((i) % 8)) * 4 + (l) % 4) /* in a swizzled tile */
  for (ulong v = 0; v < depths; v++) {
    __global const REAL *const x = packed_a + (warpgroup * depths + v) * TILE_A;
    __global const REAL *const y = packed_b + v * TILE_B;
    for (uint l = 0; l < DEPTH; l++)
      for (uint e = 0; e < OWN; e++) {
        const uint i = own_row % 64 + e / 2 % 2 * 8, j = e / 4 * 8 + lane % 4 * 2 + e % 2;
        const uint fragment = ((l / 8 * 4 + i / 16) * 32 + i % 8 * 4 + l % 4) * 4 + l / 4 % 2 * 2 + i / 8 % 2;
        const REAL rest = PARTS == 2 ? y[BN * DEPTH + AT(j, l)] : 0;
        acc[e] = fma(x[PARTS == 2 ? fragment : AT(i, l)], y[AT(j, l)] + rest, acc[e]);
      }
  }
#endif

  a += a0 + get_global_id(2) * a1;
  b += b0 + get_global_id(2) * b1;
  c += c0 + get_global_id(2) * c1;
  ulong rest = 0; /* a bit for each four elements of which one is not finite */
#pragma unroll
  for (int h = 0; h < 2; h++) { /* the upper and the lower row */
    const ulong at = i0 + own_row + h * 8;
    if (at >= m) continue;
#pragma unroll
    for (int q = 0; q < BN / 16; q++) {
      const ulong col = j0 + own_col + q * 16;
      const REAL *const s = acc + q * 8 + h * 2;
      const QUAD sums = (QUAD)(s[0], s[1], s[4], s[5]);
      if (all(isfinite(sums)))
        STORE(alpha * sums)
      else
        rest |= 1ul << (h * (BN / 16) + q);
    }
  }
  for (uint e = 0; rest != 0; e++, rest >>= 1) {
    const ulong at = i0 + own_row + e / (BN / 16) * 8, col = j0 + own_col + e % (BN / 16) * 16;
    REAL sums[4];
    if (!(rest & 1)) continue;
    for (uint s = 0; s < 4; s++)
      sums[s] = col + s < n ? sum_of_products(a + at * a_i, a_l, b + (col + s) * b_j, b_l, k) : 0;
    STORE(alpha * (QUAD)(sums[0], sums[1], sums[2], sums[3]))
  }
}
