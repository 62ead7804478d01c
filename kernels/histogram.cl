/* SPDX-License-Identifier: MIT */
/*
 * histogram: how many elements lie between each two edges
 *
 *     for (i = 0; i < n; i++)
 *       for (k = 0; k < bins; k++)
 *         if (edges[k] <= x[i] && x[i] < edges[k + 1]) out[k]++;
 *
 * The edges are about as far apart from each other, so where an element lies is guessed, and then
 * looked up: the edges decide. scale is bins / (edges[bins] - edges[0]). A group does a chunk, and
 * counts in local memory unless there are too many bins. The last edge counts in the last bin, what lies elsewhere and
 * NaN nowhere. out is 0 before.
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

/* Halves, whose difference does not overflow. */
#if IS_INTEGER
#define DISTANCE(v, low) ((GUESS)((ulong)(v) - (ulong)(low)))
#else
#define DISTANCE(v, low) (((v) / 2 - (low) / 2) * 2)
#endif

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void histogram(
    const ulong n, const ulong chunk, __global const VALUE *edges, const ulong edges_first,
    const uint bins, const GUESS scale, __global uint *out, const ulong out_first PARAMETERS) {
  FIND_CHUNK(get_group_id(0))
  edges += edges_first;
  out += out_first;
#if LOCAL_BINS
  __local uint counts[LOCAL_BINS];
  for (uint k = get_local_id(0); k < bins; k += GROUP) counts[k] = 0;
#if GROUP > 1
  barrier(CLK_LOCAL_MEM_FENCE);
#endif
#endif
  const VALUE low = edges[0], high = edges[bins];
  for (ulong at = begin + get_local_id(0); at < end; at += GROUP) {
    const long i = (long)at;
    LOADS
    const VALUE v = arg_x;
    if (!(v >= low && v <= high)) continue;
    const GUESS guess = DISTANCE(v, low) * scale;
    uint k = guess < bins ? (uint)guess : bins - 1;
    while (k > 0 && v < edges[k]) k--;
    while (k + 1 < bins && v >= edges[k + 1]) k++;
#if !LOCAL_BINS
    atomic_inc(out + k);
#elif GROUP > 1
    atomic_inc(counts + k);
#else
    counts[k]++;
#endif
  }
#if LOCAL_BINS
#if GROUP > 1
  barrier(CLK_LOCAL_MEM_FENCE);
#endif
  for (uint k = get_local_id(0); k < bins; k += GROUP)
    if (counts[k] > 0) atomic_add(out + k, counts[k]);
#endif
}
