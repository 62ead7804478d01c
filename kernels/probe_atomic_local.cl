/* SPDX-License-Identifier: MIT */
/*
 * probe_atomic_local: n atomic additions of each work-item to one of its group's counters, which
 * are in local memory.
 *
 *     for each group g:
 *       for (k = 0; k < n; k++) c[l % addresses] += 1;
 *       for (a = 0; a < addresses; a++) out[g * addresses + a] = c[a];
 *
 * l counts the work-items of the group; addresses <= local size. Global size: any; local size:
 * any, with `c` of as many elements.
 */
__kernel void probe_atomic_local(const int n, const uint addresses, __global uint *out,
                                 __local uint *c) {
  const uint l = get_local_id(0);
  c[l] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  volatile __local uint *mine = c + l % addresses;
  for (int k = 0; k < n; k++) atomic_add(mine, 1u);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l < addresses) out[get_group_id(0) * addresses + l] = c[l];
}
