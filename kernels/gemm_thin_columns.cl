/* SPDX-License-Identifier: MIT */
/*
 * gemm_thin_columns: C = alpha * M' * V + beta * C, of a matrix and COUNT vectors, where the elements
 * of a row of M lie along C
 *
 *     for (i = 0; i < columns; i++)
 *       for (j = 0; j < COUNT; j++) {
 *         sum = 0;
 *         for (l = 0; l < k; l++) sum += M[l][i] * V[j][l];
 *         C[j][i] = alpha * sum + beta * C[j][i];
 *       }
 *
 * M is read once. A group does ACROSS neighbouring columns, or as many quads of them where WIDE: each
 * of its GROUP / ACROSS rows of work-items takes every GROUP / ACROSS-th row of M, and their sums are
 * added up in local memory, halving. In dimension 2 a group does part z % parts of k, `depth` rows, of
 * matrix z / parts. m0, v0, c0: elements before each operand; ldm: from row to row of M; vl, vj: from
 * element to element of a vector, from vector to vector; ci, cj: from element to element of C along i
 * and j; m1, v1: from one matrix of a batch to the next; c1: from one part or matrix of C to the next.
 * With beta 0, C is not read. ONE_LAUNCH: each group writes its sums to `sums`, COUNT x ACROSS for each part, block of
 * columns by block, and the last group of a block to end adds them up in the order of the parts: `ended` has a count
 * for each block of the batch, 0 before a launch and behind it. Global size: whole groups of ACROSS columns or quads,
 * GROUP work-items each, 1, batch * parts; local size GROUP.
 */
#ifndef REAL
#define REAL float /* element type: float or double */
#endif
#ifndef GROUP
#define GROUP 64 /* work-items of a group, a power of two */
#endif
#ifndef ACROSS
#define ACROSS 16 /* that read neighbours, a power of two */
#endif
#ifndef COUNT
#define COUNT 1 /* vectors */
#endif
#ifndef WIDE
#define WIDE 0 /* 1: m0, ldm, m1 and columns are multiples of 4 */
#endif
#ifndef AHEAD
#define AHEAD 4 /* rows of M that a work-item reads at a time */
#endif

#ifndef ONE_LAUNCH
#define ONE_LAUNCH 0 /* 1: parts are added up here, c1 is from matrix to matrix; among GPUs on NVIDIA's alone */
#endif

#include "clcompute/fence.h"
#include "clcompute/vector.h"

#if WIDE
#define WIDTH 4
#define TAKEN QUAD
#else
#define WIDTH 1
#define TAKEN REAL
#endif
#define DOWN (GROUP / ACROSS)

/* Adds up what work-items found of the same columns: found[0]. */
#define ADD_UP                                            \
  for (uint rows = DOWN / 2; rows > 0; rows /= 2) {       \
    barrier(CLK_LOCAL_MEM_FENCE);                         \
    if (y < rows) found[y][x] += found[y + rows][x];      \
  }                                                       \
  barrier(CLK_LOCAL_MEM_FENCE);

/* To C, of vector j. */
#if WIDE
#define WRITE                                                   \
  {                                                             \
    const TAKEN all = alpha * found[0][x];                      \
    __global REAL *const to = c + i * ci + j * cj;              \
    to[0] = beta == 0 ? all.s0 : all.s0 + beta * to[0];         \
    to[ci] = beta == 0 ? all.s1 : all.s1 + beta * to[ci];       \
    to[2 * ci] = beta == 0 ? all.s2 : all.s2 + beta * to[2 * ci]; \
    to[3 * ci] = beta == 0 ? all.s3 : all.s3 + beta * to[3 * ci]; \
  }
#else
#define WRITE                                      \
  {                                                \
    const TAKEN all = alpha * found[0][x];         \
    __global REAL *const to = c + i * ci + j * cj; \
    *to = beta == 0 ? all : all + beta * *to;      \
  }
#endif

#if ONE_LAUNCH
#define LOOKS 8 /* at parts at a time */
#define SUMS , __global REAL *sums, __global uint *ended
#else
#define SUMS
#endif

__attribute__((reqd_work_group_size(GROUP, 1, 1))) __kernel void gemm_thin_columns(
    const ulong columns, const ulong k, const ulong parts, const ulong depth, const REAL alpha,
    __global const REAL *restrict m, const ulong m0, const ulong ldm, const ulong m1,
    __global const REAL *restrict v, const ulong v0, const ulong vl, const ulong vj,
    const ulong v1, const REAL beta, __global REAL *restrict c, const ulong c0, const ulong ci,
    const ulong cj, const ulong c1 SUMS) {
  __local TAKEN found[DOWN][ACROSS];
  const uint me = (uint)get_local_id(0), x = me % ACROSS, y = me / ACROSS;
  const ulong i = (get_group_id(0) * ACROSS + x) * WIDTH, z = get_global_id(2);
  const ulong first = z % parts * depth, stop = min(k, first + depth);
  m += m0 + z / parts * m1 + (i < columns ? i : 0);
  v += v0 + z / parts * v1;
  c += c0 + (ONE_LAUNCH ? z / parts : z) * c1;

  TAKEN acc[COUNT];
#pragma unroll
  for (int j = 0; j < COUNT; j++) acc[j] = 0;
  ulong l = first + y;
  for (; l + (AHEAD - 1) * DOWN < stop; l += AHEAD * DOWN) {
    TAKEN taken[AHEAD];
#pragma unroll
    for (int r = 0; r < AHEAD; r++)
      taken[r] = *(__global const TAKEN *)&m[(l + r * DOWN) * ldm];
#pragma unroll
    for (int r = 0; r < AHEAD; r++)
#pragma unroll
      for (int j = 0; j < COUNT; j++)
        acc[j] = fma(taken[r], (TAKEN)v[(l + r * DOWN) * vl + j * vj], acc[j]);
  }
  for (; l < stop; l += DOWN) {
    const TAKEN taken = *(__global const TAKEN *)&m[l * ldm];
#pragma unroll
    for (int j = 0; j < COUNT; j++) acc[j] = fma(taken, (TAKEN)v[l * vl + j * vj], acc[j]);
  }

#if ONE_LAUNCH
  __local bool is_last;
  const ulong block = z / parts * get_num_groups(0) + get_group_id(0);
  __global TAKEN *const own = (__global TAKEN *)sums + block * parts * (COUNT * ACROSS) + x;
#pragma unroll
  for (int j = 0; j < COUNT; j++) {
    found[y][x] = acc[j];
    ADD_UP
    if (y == 0) own[(z % parts * COUNT + j) * ACROSS] = found[0][x];
    barrier(CLK_LOCAL_MEM_FENCE); /* all have read what is overwritten */
  }
  FENCE;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (me == 0) {
    is_last = atomic_inc(ended + block) == (uint)parts - 1;
    if (is_last) ended[block] = 0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (!is_last) return;
  FENCE;
#pragma unroll 1
  for (int j = 0; j < COUNT; j++) {
    TAKEN sum = 0;
    for (ulong p = y; p < parts; p += LOOKS * DOWN) {
      TAKEN taken[LOOKS]; /* all are on their way before one is added */
#pragma unroll
      for (int r = 0; r < LOOKS; r++) {
        const ulong at = p + r * DOWN;
        taken[r] = at < parts ? *(volatile __global const TAKEN *)&own[(at * COUNT + j) * ACROSS] : (TAKEN)(0);
      }
#pragma unroll
      for (int r = 0; r < LOOKS; r++) sum += taken[r];
    }
    found[y][x] = sum;
    ADD_UP
    if (y == j % DOWN && i < columns) WRITE
    if (j + 1 < COUNT) barrier(CLK_LOCAL_MEM_FENCE);
  }
#else
#pragma unroll
  for (int j = 0; j < COUNT; j++) {
    found[y][x] = acc[j];
    ADD_UP
    if (y == j % DOWN && i < columns) WRITE
    if (j + 1 < COUNT) barrier(CLK_LOCAL_MEM_FENCE); /* all have read what is overwritten */
  }
#endif
}
