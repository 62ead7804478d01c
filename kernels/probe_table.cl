/* SPDX-License-Identifier: MIT */
/*
 * probe_table: a table whose element i names the next to be looked at, for probe_chase.
 *
 *     for (i = 0; i <= mask; i++) next[i] = (1664525 * i + 1013904223) & mask;
 *
 * mask + 1 is a power of two: the way leads through all elements, far apart from each other.
 * Global size: mask + 1; local size: any.
 */
__kernel void probe_table(const uint mask, __global uint *next) {
  const uint i = get_global_id(0);
  next[i] = (1664525u * i + 1013904223u) & mask;
}
