/* SPDX-License-Identifier: MIT */
/*
 * scatter_claim: for each place the last index that names it, from 1
 *
 *     for (i = 0; i < n; i++) winners[indices[i] - 1] = i + 1;
 *
 * A group does a chunk: a CPU's is one work-item. winners is 0 before.
 * Global size: n / chunk, rounded up, times GROUP. Local size: GROUP.
 */
#include "clcompute/move.h"

__kernel OF_GROUP void scatter_claim(const ulong n, const ulong chunk,
                                     __global const INDEX *indices, const ulong indices_first,
                                     __global uint *winners, const ulong winners_first) {
  EACH_ELEMENT atomic_max(winners + winners_first + PLACE_OF(i), (uint)(i + 1));
}
