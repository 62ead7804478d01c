/* SPDX-License-Identifier: MIT */
/*
 * probe_nothing: what a launch costs that does next to nothing.
 *
 *     out[0] = value;
 *
 * Global size: any; local size: any.
 */
__kernel void probe_nothing(const uint value, __global uint *out) {
  if (get_global_id(0) == 0) out[0] = value;
}
