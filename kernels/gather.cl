/* SPDX-License-Identifier: MIT */
/*
 * gather: the elements of x at given indices, which count from 1
 *
 *     for (i = 0; i < n; i++) out[i] = x[indices[i] - 1];
 *
 * A group does a chunk: a CPU's is one work-item.
 * Global size: n / chunk, rounded up, times GROUP. Local size: GROUP.
 */
#include "clcompute/move.h"

__kernel OF_GROUP void gather(const ulong n, const ulong chunk, __global const KEY *x,
                              const ulong x_first, __global const INDEX *indices,
                              const ulong indices_first, __global KEY *out, const ulong out_first) {
  EACH_ELEMENT out[out_first + i] = x[x_first + PLACE_OF(i)];
}
