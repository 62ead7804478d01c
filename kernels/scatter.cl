/* SPDX-License-Identifier: MIT */
/*
 * scatter: elements to given places, which count from 1; of several for a place the one that
 * scatter_claim found
 *
 *     for (i = 0; i < n; i++)
 *       if (winners[indices[i] - 1] == i + 1) out[indices[i] - 1] = values[i];
 *
 * A group does a chunk: a CPU's is one work-item.
 * Global size: n / chunk, rounded up, times GROUP. Local size: GROUP.
 */
#include "clcompute/move.h"

__kernel OF_GROUP void scatter(const ulong n, const ulong chunk, __global const KEY *values,
                               const ulong values_first, __global const INDEX *indices,
                               const ulong indices_first, __global const uint *winners,
                               const ulong winners_first, __global KEY *out,
                               const ulong out_first) {
  EACH_ELEMENT {
    const ulong to = PLACE_OF(i);
    if (winners[winners_first + to] == (uint)(i + 1))
      out[out_first + to] = values[values_first + i];
  }
}
