/* SPDX-License-Identifier: MIT */
/*
 * gemm_thin_rows: C = alpha * M * V + beta * C, of a matrix and COUNT vectors, where the elements of a
 * row of M are neighbours
 *
 *     for (i = 0; i < rows; i++)
 *       for (j = 0; j < COUNT; j++) {
 *         sum = 0;
 *         for (l = 0; l < k; l++) sum += M[i][l] * V[j][l];
 *         C[i][j] = alpha * sum + beta * C[i][j];
 *       }
 *
 * M is read once. A team of `team` work-items, a power of two, does ROWS rows: its neighbours read
 * neighbours, four at a time where WIDE, and their sums are added up in local memory, halving. The
 * vectors, each with its elements side by side, come from the cache. In dimension 2 a group does part
 * z % parts of k, `depth` elements, of matrix z / parts. m0, v0, c0: elements before each operand;
 * ldm, ldv: from row to row of M, from vector to vector; ci, cj: from element to element of C along
 * i and j; m1, v1: from one matrix of a batch to the next; c1: from one part or matrix of C to the
 * next. With beta 0, C is not read. Global size: whole groups of GROUP / team * ROWS rows, 1,
 * batch * parts; local size GROUP.
 */
#ifndef REAL
#define REAL float /* element type: float or double */
#endif
#ifndef GROUP
#define GROUP 64 /* work-items of a group, a power of two */
#endif
#ifndef ROWS
#define ROWS 2 /* rows of M that a team does */
#endif
#ifndef COUNT
#define COUNT 1 /* vectors */
#endif
#ifndef WIDE
#define WIDE 0 /* 1: m0, ldm, m1, v0, ldv, v1 and depth are multiples of 4 */
#endif

#include "clcompute/vector.h"

#if WIDE
#define WIDTH 4
#define TAKEN QUAD
#else
#define WIDTH 1
#define TAKEN REAL
#endif

__attribute__((reqd_work_group_size(GROUP, 1, 1))) __kernel void gemm_thin_rows(
    const ulong rows, const ulong k, const uint team, const ulong parts, const ulong depth,
    const REAL alpha, __global const REAL *restrict m, const ulong m0, const ulong ldm,
    const ulong m1, __global const REAL *restrict v, const ulong v0, const ulong ldv,
    const ulong v1, const REAL beta, __global REAL *restrict c, const ulong c0, const ulong ci,
    const ulong cj, const ulong c1) {
  __local REAL found[ROWS * COUNT][GROUP];
  const uint me = (uint)get_local_id(0), mate = me & (team - 1);
  const ulong i0 = (get_global_id(0) / team) * ROWS, z = get_global_id(2);
  const ulong first = z % parts * depth, stop = min(k, first + depth);
  const ulong whole = first + (stop - first) / WIDTH * WIDTH;
  m += m0 + z / parts * m1;
  v += v0 + z / parts * v1;
  c += c0 + z * c1;

  ulong row[ROWS]; /* beyond the last one the last one again */
  REAL acc[ROWS][COUNT];
#pragma unroll
  for (int r = 0; r < ROWS; r++) {
    row[r] = min(i0 + r, rows - 1) * ldm;
#pragma unroll
    for (int j = 0; j < COUNT; j++) acc[r][j] = 0;
  }
#pragma unroll 2
  for (ulong l = first + mate * WIDTH; l < whole; l += team * WIDTH) {
    TAKEN taken[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; r++) taken[r] = *(__global const TAKEN *)&m[row[r] + l];
#pragma unroll
    for (int j = 0; j < COUNT; j++) {
      const TAKEN q = *(__global const TAKEN *)&v[j * ldv + l];
#pragma unroll
      for (int r = 0; r < ROWS; r++) {
#if WIDE
        acc[r][j] = fma(taken[r].s0, q.s0, acc[r][j]);
        acc[r][j] = fma(taken[r].s1, q.s1, acc[r][j]);
        acc[r][j] = fma(taken[r].s2, q.s2, acc[r][j]);
        acc[r][j] = fma(taken[r].s3, q.s3, acc[r][j]);
#else
        acc[r][j] = fma(taken[r], q, acc[r][j]);
#endif
      }
    }
  }
  for (ulong l = whole + mate; l < stop; l += team)
#pragma unroll
    for (int r = 0; r < ROWS; r++)
#pragma unroll
      for (int j = 0; j < COUNT; j++)
        acc[r][j] = fma(m[row[r] + l], v[j * ldv + l], acc[r][j]);

#pragma unroll
  for (int r = 0; r < ROWS; r++)
#pragma unroll
    for (int j = 0; j < COUNT; j++) found[r * COUNT + j][me] = acc[r][j];
  for (uint half_team = team / 2; half_team > 0; half_team /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (mate < half_team)
#pragma unroll
      for (int s = 0; s < ROWS * COUNT; s++) found[s][me] += found[s][me + half_team];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint s = mate; s < ROWS * COUNT; s += team) {
    const ulong i = i0 + s / COUNT;
    if (i >= rows) return;
    __global REAL *to = c + i * ci + s % COUNT * cj;
    const REAL sum = alpha * found[s][me - mate];
    *to = beta == 0 ? sum : sum + beta * *to;
  }
}
