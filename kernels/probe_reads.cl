/* SPDX-License-Identifier: MIT */
/*
 * probe_reads: reads of a small table by every work-item of a group, for what a read of local
 * memory costs, by the stride between neighbouring work-items too; beside it reads of the same
 * table in global memory, which the caches serve, of constant memory, and of registers.
 *
 *     sum = 0;
 *     for (k = 0; k < n; k++)
 *       for (u = 0; u < UNROLL; u++)
 *         sum += table[(local id * stride + k * step) % ENTRIES + u];
 *     out[work-item] = sum;
 *
 * From registers: sum += table[local id * stride % ENTRIES + u], each element loaded once.
 * Stride, step and n come with the launch: no compiler can foresee an address. Stride 0 has
 * all work-items read one address. `in` holds ENTRIES + UNROLL elements, small integers, whose
 * sums are exact in any order.
 * Global size: any number of groups of GROUP work-items; local size: GROUP.
 */
#ifndef REAL
#define REAL float /* element type: float or double */
#endif
#ifndef TYPE
#define TYPE REAL /* what is read at once: also uchar, short, float2, float4 */
#endif
#ifndef SUM
#define SUM TYPE /* what it is added up in: int for the small integers */
#endif
#ifndef SPACE
#define SPACE \
  0 /* of the table: 0 local memory, 1 global, 2 registers (floating types), 3 constant */
#endif
#ifndef ENTRIES
#define ENTRIES 1024 /* elements of the table that reads begin at: a power of two */
#endif
#ifndef UNROLL
#define UNROLL 8 /* reads between two addresses that are computed, each with a sum of its own */
#endif
#ifndef GROUP
#define GROUP 64 /* work-items of a group */
#endif

#if SPACE == 3
#define FROM __constant TYPE
#else
#define FROM __global const TYPE
#endif

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void probe_reads(
    const uint n, const uint stride, const uint step, FROM *in, __global SUM *out) {
#if SPACE == 0
  __local TYPE table[ENTRIES + UNROLL];
  for (uint i = get_local_id(0); i < ENTRIES + UNROLL; i += GROUP) table[i] = in[i];
  barrier(CLK_LOCAL_MEM_FENCE);
#elif SPACE == 1 || SPACE == 3
  FROM *table = in;
#else
  TYPE table[UNROLL];
  const uint begin = (uint)get_local_id(0) * stride & (ENTRIES - 1);
#pragma unroll
  for (int u = 0; u < UNROLL; u++) table[u] = in[begin + u];
#endif
  uint at = (uint)get_local_id(0) * stride;
  SUM sum[UNROLL];
#pragma unroll
  for (int u = 0; u < UNROLL; u++) sum[u] = 0;
  /* n. Where a kernel has a barrier, POCL cuts a loop that is as long for all work-items into
     one over them for each step, and keeps their sums in memory: it must not see that. */
  const uint steps = n + (get_local_id(0) >= GROUP);
  for (uint k = 0; k < steps; k++) {
    const uint first = SPACE == 2 ? 0 : at & (ENTRIES - 1);
#pragma unroll
    for (int u = 0; u < UNROLL; u++) sum[u] += table[first + u];
    at += step;
  }
  SUM total = 0;
#pragma unroll
  for (int u = 0; u < UNROLL; u++) total += sum[u];
  out[get_global_id(0)] = total;
}
