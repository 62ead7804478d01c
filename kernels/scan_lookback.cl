/* SPDX-License-Identifier: MIT */
/*
 * scan_lookback: the running results of n elements in one pass over memory, for a GPU
 *
 *     for (i = 0; i < n; i++) out[i] = total = i > 0 ? combine(total, x[i]) : x[i];
 *
 * and with EXCLUSIVE out[i] is the total before element i. A work-group does a tile of GROUP * SHARE elements: the
 * next one that no group has begun, so tiles before it are done or under way. It publishes the tile's sum, waits for
 * those of the tiles of its block of GROUP before it, and for the block's base, the total before the block; the last
 * one finds the next block's base. What is combined in which order depends on n alone, so the bits are the same
 * at every call. A group that waited in vain reads the tiles before its own itself: out is another buffer than x.
 *
 * A word of `state` is a launch's number and 32 bits that were published in it. Its first words count: tiles begun,
 * tiles ended, launches. All are 0 at first; a launch leaves it to the next one as it is.
 * Global size: tiles times GROUP. Local size: GROUP.
 */
#include "clcompute/scan.h"

#ifndef GROUP
#define GROUP 256 /* work-items of a group, and tiles of a block; a multiple of 16 */
#endif
#ifndef SHARE
#define SHARE 15 /* neighbours of a work-item; odd: those of others lie in other banks */
#endif
#ifndef PATIENCE
#define PATIENCE (1 << 17) /* how often a word is looked at; 0: no group waits */
#endif

#define TILE (GROUP * SHARE)
#define LINE 16 /* values that a work-item combines */
#define LINES (GROUP / LINE)
#define PLACE(i) ((i) + (i) / LINE)        /* in local memory: lines begin in other banks */
#define WORDS ((sizeof(VALUE) + 3) / 4)    /* of a value */
#define HEAD 4                             /* words before those of values */

/* NVIDIA's OpenCL C reads and writes an aligned word of eight bytes at once. */
#ifdef __NV_CL_C_VERSION
#define READ(word) (*(word))
#define PUT(word, bits) *(word) = (bits)
#else
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#define READ(word) atom_add(word, 0ul)
#define PUT(word, bits) atom_xchg(word, bits)
#endif

typedef union {
  VALUE value;
  uint part[2];
} Parts;

INLINE void publish(volatile __global ulong *word, const uint launch, const VALUE value) {
  Parts parts;
  parts.part[0] = 0;
  parts.value = value;
  for (uint k = 0; k < WORDS; k++) PUT(word + k, (ulong)launch << 32 | parts.part[k]);
}

/* Whether the value was published in time. */
INLINE bool await(volatile __global ulong *word, const uint launch, VALUE *value) {
  Parts parts;
  for (uint k = 0; k < WORDS; k++) {
    ulong seen;
    uint tries = 0;
    do {
      if (tries++ == PATIENCE) return false;
      seen = READ(word + k);
    } while ((uint)(seen >> 32) != launch);
    parts.part[k] = (uint)seen;
  }
  *value = parts.value;
  return true;
}

/* values[PLACE(k)] <- the values from the first one of its line on to number k, combined; of `count` ones. */
INLINE void scan_lines(__local VALUE *values, const uint me, const uint count) {
  barrier(CLK_LOCAL_MEM_FENCE);
  if (me * LINE < count)
    for (uint k = me * LINE + 1; k < min((me + 1) * LINE, count); k++)
      values[PLACE(k)] = combine(values[PLACE(k - 1)], values[PLACE(k)]);
  barrier(CLK_LOCAL_MEM_FENCE);
}

/* All of them, whose lines are scanned. */
INLINE VALUE fold_lines(__local const VALUE *values, const uint count) {
  VALUE sum = values[PLACE(min((uint)LINE, count) - 1)];
  for (uint end = 2 * LINE; end < count + LINE; end += LINE)
    sum = combine(sum, values[PLACE(min(end, count) - 1)]);
  return sum;
}

/* *total <- *total and `value`, or the value alone. */
#define ADD(total, has_total, value) total = (has_total) ? combine(total, value) : (value)

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void scan_lookback(
    const ulong n, __global RESULT *out, const ulong out_first, volatile __global ulong *state,
    const ulong state_first, const int has_init, const VALUE init PARAMETERS) {
  __local VALUE stage[TILE], found[PLACE(GROUP)], base_of_tile;
  __local uint ticket, number, is_late;
  const uint me = (uint)get_local_id(0), tiles = (uint)get_num_groups(0);
  volatile __global uint *counts = (volatile __global uint *)(state + state_first);
  if (me == 0) {
    ticket = atomic_inc(counts);
    number = atomic_add(counts + 2, 0) + 1;
    is_late = 0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const uint tile = ticket, launch = number;
  volatile __global ulong *sums = state + state_first + HEAD, *bases = sums + (ulong)tiles * WORDS;
  const ulong begin = (ulong)tile * TILE;
  const uint size = (uint)min((ulong)TILE, n - begin);

  VALUE element[SHARE];
  if (size == TILE) {
    UNROLL
    for (uint k = 0; k < SHARE; k++) {
      const long i = (long)(begin + me + k * GROUP);
      LOADS
      element[k] = (VALUE)(EXPRESSION);
    }
    UNROLL
    for (uint k = 0; k < SHARE; k++) stage[me + k * GROUP] = element[k];
  } else { /* what stands behind the last element has no effect */
    for (uint k = me; k < TILE; k += GROUP) {
      const long i = (long)(begin + min(k, size - 1));
      LOADS
      stage[k] = (VALUE)(EXPRESSION);
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  UNROLL
  for (uint k = 0; k < SHARE; k++) {
    const VALUE next = stage[me * SHARE + k];
    element[k] = k > 0 ? combine(element[k - 1], next) : next;
  }
  found[PLACE(me)] = element[SHARE - 1];
  scan_lines(found, me, GROUP);
  if (me == 0) publish(sums + (ulong)tile * WORDS, launch, fold_lines(found, GROUP));
  VALUE before; /* this work-item, in the tile */
  if (me >= LINE) before = fold_lines(found, me / LINE * LINE);
  if (me % LINE > 0) ADD(before, me >= LINE, found[PLACE(me - 1)]);
  barrier(CLK_LOCAL_MEM_FENCE);

  if (tile > 0) {
    const uint block = (tile - 1) / GROUP, awaited = (tile - 1) % GROUP + 1;
    if (me < awaited) {
      VALUE sum;
      if (!await(sums + ((ulong)block * GROUP + me) * WORDS, launch, &sum)) is_late = 1;
      found[PLACE(me)] = sum;
    }
    scan_lines(found, me, awaited);
    if (me == 0) {
      VALUE total = fold_lines(found, awaited), base = init;
      if (block > 0 && !await(bases + (ulong)block * WORDS, launch, &base)) is_late = 1;
      base_of_tile = block > 0 || has_init ? combine(base, total) : total;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (is_late) {
      VALUE line, of_block, base = init;
      for (uint at = 0; at < tile; at++) {
        VALUE sum;
        for (uint k = 0; k < SHARE; k++) {
          const long i = (long)((ulong)at * TILE + me * SHARE + k);
          LOADS
          ADD(sum, k > 0, (VALUE)(EXPRESSION));
        }
        found[PLACE(me)] = sum;
        scan_lines(found, me, GROUP);
        const bool is_last = at + 1 == tile;
        ADD(line, at % LINE > 0, fold_lines(found, GROUP));
        if (is_last || at % LINE == LINE - 1) ADD(of_block, at % GROUP >= LINE, line);
        if (is_last || at % GROUP == GROUP - 1) ADD(base, has_init || at >= GROUP, of_block);
        barrier(CLK_LOCAL_MEM_FENCE);
      }
      if (me == 0) base_of_tile = base;
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (me == 0 && awaited == GROUP)
      publish(bases + (ulong)(block + 1) * WORDS, launch, base_of_tile);
  }

  const bool has_base = tile > 0 || has_init;
  if (has_base) {
    const VALUE base = tile > 0 ? base_of_tile : init;
    before = me > 0 ? combine(base, before) : base;
  }
  const bool has_before = has_base || me > 0;
  UNROLL
  for (uint k = 0; k < SHARE; k++) {
    const VALUE inside = k > 0 ? element[k - 1] : before;
    const VALUE sofar = k > 0 && has_before ? combine(before, inside) : inside;
    stage[me * SHARE + k] = EXCLUSIVE    ? sofar
                            : has_before ? combine(before, element[k])
                                         : element[k];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  UNROLL
  for (uint k = 0; k < SHARE; k++)
    if (me + k * GROUP < size) WRITE(out_first + begin + me + k * GROUP, stage[me + k * GROUP]);

  if (me == 0 && atomic_inc(counts + 1) == tiles - 1) {
    atomic_xchg(counts, 0);
    atomic_xchg(counts + 1, 0);
    atomic_xchg(counts + 2, launch);
  }
}
