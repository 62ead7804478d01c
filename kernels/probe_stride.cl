/* SPDX-License-Identifier: MIT */
/*
 * probe_stride: reads of global memory with a distance between those of neighbouring
 * work-items, and a start that need not be aligned, for what of the memory's work is of use.
 *
 *     for (each group g, work-item l of it) {
 *       sum = 0;
 *       for (u = 0; u < READS; u++) sum += in[offset + ((g * READS + u) * GROUP + l) * stride];
 *       out[work-item] = sum;
 *     }
 *
 * Each element that is a multiple of the stride away from the offset is read once; sums are
 * modulo 2^32. Global size: any number of groups of GROUP work-items; local size: GROUP.
 */
#ifndef READS
#define READS 8 /* elements of a work-item */
#endif
#ifndef GROUP
#define GROUP 64 /* work-items of a group */
#endif

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void probe_stride(
    const ulong stride, const ulong offset, __global const uint *in, __global uint *out) {
  const ulong first = (ulong)get_group_id(0) * (READS * GROUP) + get_local_id(0);
  uint sum = 0;
#pragma unroll
  for (int u = 0; u < READS; u++) sum += in[offset + (first + u * GROUP) * stride];
  out[get_global_id(0)] = sum;
}
