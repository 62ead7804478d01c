/* SPDX-License-Identifier: MIT */
/*
 * scan_lookback: the running results of n elements in one pass over memory, for a GPU
 *
 *     for (i = 0; i < n; i++) out[i] = total = i > 0 ? combine(total, x[i]) : x[i];
 *
 * and with EXCLUSIVE out[i] is the total before element i. A work-group does a tile of GROUP * SHARE
 * elements: the first one that no group has begun, so the tiles before it are done or under way. It
 * publishes the tile's sum, and waits for the sums of the tiles before it in its block of BLOCK tiles
 * and for the block's base, the total before the block; the last tile of a block gives the next
 * base. The order of combination depends on n alone, so the bits are the same at every call. A group
 * that waits in vain reads all tiles before its own itself; therefore out is another buffer than x.
 *
 * A word of `state` is the number of a launch and 32 bits that were published in it. The first words
 * count tiles begun, tiles ended and launches. All are 0 before the first launch, which leaves the
 * state as the next one needs it.
 * Global size: tiles times GROUP. Local size: GROUP.
 */
#include "clcompute/scan.h"

#ifndef GROUP
#define GROUP 256 /* work-items of a group; a multiple of 16 */
#endif
#ifndef SHARE
#define SHARE 15 /* neighbours of a work-item; odd: those of others lie in other banks */
#endif
#ifndef BLOCK
#define BLOCK GROUP /* tiles that a group waits for at most; a multiple of 16, up to GROUP */
#endif
#ifndef PATIENCE
#define PATIENCE (1 << 17) /* how often a word is looked at; 0: no group waits */
#endif

#define TILE (GROUP * SHARE)
#define LINE 16 /* values that a work-item combines */
#define PLACE(i) ((i) + (i) / LINE)     /* in local memory: lines begin in other banks */
#define WORDS ((sizeof(VALUE) + 3) / 4) /* of a value */
#define HEAD 4                          /* words before those of values */

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

/* values[PLACE(k)] <- those from the first one of its line to number k, combined; of `count` ones. */
INLINE void scan_lines(__local VALUE *values, const uint me, const uint count) {
  barrier(CLK_LOCAL_MEM_FENCE);
  if (me * LINE < count)
    for (uint k = me * LINE + 1; k < min((me + 1) * LINE, count); k++)
      values[PLACE(k)] = combine(values[PLACE(k - 1)], values[PLACE(k)]);
  barrier(CLK_LOCAL_MEM_FENCE);
}

/* All `count` values, whose lines are scanned, combined. */
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

  if (size == TILE) {
    VALUE element[SHARE];
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
  __local VALUE *mine = stage + me * SHARE;
  VALUE sum_of_mine = mine[0];
  UNROLL
  for (uint k = 1; k < SHARE; k++) sum_of_mine = combine(sum_of_mine, mine[k]);
  found[PLACE(me)] = sum_of_mine;
  scan_lines(found, me, GROUP);
  if (me == 0) publish(sums + (ulong)tile * WORDS, launch, fold_lines(found, GROUP));
  VALUE before; /* this work-item, in the tile */
  if (me >= LINE) before = fold_lines(found, me / LINE * LINE);
  if (me % LINE > 0) ADD(before, me >= LINE, found[PLACE(me - 1)]);
  barrier(CLK_LOCAL_MEM_FENCE);

  if (tile > 0) {
    const uint block = (tile - 1) / BLOCK, awaited = (tile - 1) % BLOCK + 1;
    if (me < awaited) {
      VALUE sum = init;
      if (!await(sums + ((ulong)block * BLOCK + me) * WORDS, launch, &sum)) is_late = 1;
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
        if (is_last || at % LINE == LINE - 1) ADD(of_block, at % BLOCK >= LINE, line);
        if (is_last || at % BLOCK == BLOCK - 1) ADD(base, has_init || at >= BLOCK, of_block);
        barrier(CLK_LOCAL_MEM_FENCE);
      }
      if (me == 0) base_of_tile = base;
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (me == 0 && awaited == BLOCK)
      publish(bases + (ulong)(block + 1) * WORDS, launch, base_of_tile);
  }

  const bool has_base = tile > 0 || has_init;
  if (has_base) {
    const VALUE base = tile > 0 ? base_of_tile : init;
    before = me > 0 ? combine(base, before) : base;
  }
  UNROLL
  for (uint k = 0; k < SHARE; k++) {
    VALUE next = mine[k];
    if (k > 0 || me > 0 || has_base) next = combine(before, next);
    mine[k] = EXCLUSIVE ? before : next;
    before = next;
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
