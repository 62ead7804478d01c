/* SPDX-License-Identifier: MIT */
/*
 * probe_links: one work-item follows a chain of links through memory (kernels/probe_table.cl), for
 * the latency of a read: each address is what the read before it returned.
 *
 *     p = at[0];
 *     for (k = 0; k < n; k++) p = links[p];
 *     at[0] = p;
 *
 * Global size: 1; local size: any.
 */
__kernel void probe_links(const uint n, __global const uint *links, __global uint *at) {
  uint p = at[0];
  for (uint k = 0; k < n; k++) p = links[p];
  at[0] = p;
}
