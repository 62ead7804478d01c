/* SPDX-License-Identifier: MIT */
/*
 * probe_table: a table of places, `apart` elements from each other, whose i-th names the element of
 * the next to be looked at, for probe_chase and probe_links.
 *
 *     for (i = 0; i <= mask; i++) next[i * apart] = ((1664525 * i + 1013904223) & mask) * apart;
 *
 * mask + 1 is a power of two: the way leads through all places, far apart from each other, before it
 * comes back. Global size: mask + 1; local size: any.
 */
__kernel void probe_table(const uint mask, const uint apart, __global uint *next) {
  const uint i = get_global_id(0);
  next[(size_t)i * apart] = ((1664525u * i + 1013904223u) & mask) * apart;
}
