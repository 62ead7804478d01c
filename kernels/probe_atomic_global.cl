/* SPDX-License-Identifier: MIT */
/*
 * probe_atomic_global: n atomic additions of each work-item to one of the counters, which lie
 * `apart` elements from each other.
 *
 *     for (k = 0; k < n; k++) counters[i % addresses * apart] += 1;
 *
 * Global size: any; local size: any.
 */
__kernel void probe_atomic_global(const int n, const uint addresses, const uint apart,
                                  __global uint *counters) {
  const uint i = get_global_id(0);
  volatile __global uint *mine = counters + i % addresses * apart;
  for (int k = 0; k < n; k++) atomic_add(mine, 1u);
}
