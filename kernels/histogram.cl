/* SPDX-License-Identifier: MIT */
/*
 * histogram: how many elements lie between each two edges
 *
 *     for (i = 0; i < n; i++)
 *       for (k = 0; k < bins; k++)
 *         if (edges[k] <= x[i] && x[i] < edges[k + 1]) out[k]++;
 *
 * The edges are about as far apart from each other, so where an element lies is guessed: scale is
 * bins / (edges[bins] - edges[0]). A guess less than slack, of a bin, from an edge is looked up: the
 * edges decide. A group does a chunk, and counts in local memory unless there are too many bins; few
 * edges are there too. The last edge counts in the last bin, what lies elsewhere and NaN nowhere. out
 * is 0 before.
 * Global size: n / chunk, rounded up, times GROUP. Local size: GROUP.
 */
#include "clcompute/elementwise.h"

#ifndef GROUP
#define GROUP 1 /* work-items of a group */
#endif
#ifndef IS_INTEGER
#define IS_INTEGER 0 /* 1: VALUE is an integer */
#endif
#ifndef GUESS
#define GUESS REAL /* type to guess in */
#endif
#ifndef LOCAL_BINS
#define LOCAL_BINS 4096 /* the most that are counted in local memory; 0: there are more */
#endif

#ifndef AT_ONCE
#define AT_ONCE 8 /* elements on their way at once, of a GPU's work-item */
#endif

#define NEAR_EDGES (GROUP > 1 && LOCAL_BINS > 0 && LOCAL_BINS <= 1024) /* they are in local memory */

#if NEAR_EDGES
#define EDGES __local const VALUE *
#else
#define EDGES __global const VALUE *
#endif

/* Halves, whose difference does not overflow. */
#if IS_INTEGER
#define DISTANCE(v, low) ((GUESS)((ulong)(v) - (ulong)(low)))
#else
#define DISTANCE(v, low) (((v) / 2 - (low) / 2) * 2)
#endif

/* The bin of a value within the range. */
INLINE uint clc_bin(const VALUE v, EDGES edges, const uint bins, const VALUE low, const GUESS scale,
                    const GUESS slack) {
  const GUESS guess = DISTANCE(v, low) * scale;
  uint k = guess < bins ? (uint)guess : bins - 1;
  const GUESS inside = guess - (GUESS)k;
  if (inside >= slack && inside <= 1 - slack) return k;
  while (k > 0 && v < edges[k]) k--;
  while (k + 1 < bins && v >= edges[k + 1]) k++;
  return k;
}

#if !LOCAL_BINS
#define COUNT(k) atomic_inc(out + (k))
#elif GROUP > 1
#define COUNT(k) atomic_inc(counts + (k))
#else
#define COUNT(k) counts[k]++
#endif

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void histogram(
    const ulong n, const ulong chunk, __global const VALUE *all_edges, const ulong edges_first,
    const uint bins, const GUESS scale, const GUESS slack, __global uint *out,
    const ulong out_first PARAMETERS) {
  FIND_CHUNK(get_group_id(0))
  all_edges += edges_first;
  out += out_first;
#if LOCAL_BINS
  __local uint counts[LOCAL_BINS];
  for (uint k = get_local_id(0); k < bins; k += GROUP) counts[k] = 0;
#if NEAR_EDGES
  __local VALUE edges[LOCAL_BINS + 1];
  for (uint k = get_local_id(0); k <= bins; k += GROUP) edges[k] = all_edges[k];
#else
  EDGES edges = all_edges;
#endif
#if GROUP > 1
  barrier(CLK_LOCAL_MEM_FENCE);
#endif
#else
  EDGES edges = all_edges;
#endif
  const VALUE low = edges[0], high = edges[bins];
  ulong at = begin + get_local_id(0);
#if GROUP > 1
  for (; at + (AT_ONCE - 1) * GROUP < end; at += AT_ONCE * GROUP) {
    VALUE v[AT_ONCE];
    UNROLL for (uint u = 0; u < AT_ONCE; u++) {
      const long i = (long)(at + u * GROUP);
      LOADS
      v[u] = arg_x;
    }
    UNROLL for (uint u = 0; u < AT_ONCE; u++)
      if (v[u] >= low && v[u] <= high) COUNT(clc_bin(v[u], edges, bins, low, scale, slack));
  }
#endif
  for (; at < end; at += GROUP) {
    const long i = (long)at;
    LOADS
    if (arg_x >= low && arg_x <= high) COUNT(clc_bin(arg_x, edges, bins, low, scale, slack));
  }
#if LOCAL_BINS
#if GROUP > 1
  barrier(CLK_LOCAL_MEM_FENCE);
#endif
  for (uint k = get_local_id(0); k < bins; k += GROUP)
    if (counts[k] > 0) atomic_add(out + k, counts[k]);
#endif
}
