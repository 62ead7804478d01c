/* SPDX-License-Identifier: MIT */
/*
 * Passes over memory whose work-groups wait for those before them: scan_lookback and
 * compact_lookback. A group does a tile: the first one that no group has begun, so the tiles before
 * it are done or under way. It publishes what its tile comes to, and waits for the sums of the tiles
 * before it in its block of BLOCK tiles and for the block's base, the total before the block; the
 * last tile of a block gives the next base. The order of combination depends on the number of tiles
 * alone, so the bits are the same at every call. A group that waits in vain sums up all tiles before
 * its own itself.
 *
 * A word of `state` is the number of a launch and 32 bits that were published in it. The first words
 * count tiles begun, tiles ended and launches. All are 0 before the first launch, which leaves the
 * state as the next one needs it.
 */
#ifndef CLC_LOOKBACK_H
#define CLC_LOOKBACK_H

#include "scan.h"

#ifndef GROUP
#define GROUP 256 /* work-items of a group; a multiple of 16 */
#endif
#ifndef BLOCK
#define BLOCK GROUP /* tiles that a group waits for at most; a multiple of 16, up to GROUP */
#endif
#ifndef PATIENCE
#define PATIENCE (1 << 17) /* how often a word is looked at; 0: no group waits */
#endif

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

/* A group's tile, and where the launch's tiles publish. */
typedef struct {
  uint tile, launch, tiles;
  volatile __global uint *counts;
  volatile __global ulong *sums, *bases;
} Turn;

/* What a group needs of local memory, to find what is before its tile. */
typedef struct {
  VALUE found[PLACE(GROUP)], base;
  uint tile, launch, is_late;
} Board;

/* All tiles before one, summed up by its group. */
typedef struct {
  VALUE line, of_block, base;
} Recount;

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

/* The group's tile, in *t. */
INLINE void begin_turn(Turn *t, volatile __global ulong *state, __local Board *board,
                       const uint me) {
  volatile __global uint *counts = (volatile __global uint *)state;
  if (me == 0) {
    board->tile = atomic_inc(counts);
    board->launch = atomic_add(counts + 2, 0) + 1;
    board->is_late = 0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  t->tile = board->tile;
  t->launch = board->launch;
  t->tiles = (uint)get_num_groups(0);
  t->counts = counts;
  t->sums = state + HEAD;
  t->bases = t->sums + (ulong)t->tiles * WORDS;
}

/* For one work-item, when all of the group have read what begin_turn wrote. */
INLINE void publish_sum(const Turn *t, const VALUE sum) {
  publish(t->sums + (ulong)t->tile * WORDS, t->launch, sum);
}

/* Waits for what is before tile > 0, for board->base. Whether that comes too late: then the group
   counts anew what is before. */
INLINE bool await_base(const Turn *t, __local Board *board, const uint me, const int has_init,
                       const VALUE init) {
  const uint block = (t->tile - 1) / BLOCK, awaited = (t->tile - 1) % BLOCK + 1;
  if (me < awaited) {
    VALUE sum = init;
    if (!await(t->sums + ((ulong)block * BLOCK + me) * WORDS, t->launch, &sum)) board->is_late = 1;
    board->found[PLACE(me)] = sum;
  }
  scan_lines(board->found, me, awaited);
  if (me == 0) {
    VALUE total = fold_lines(board->found, awaited), base = init;
    if (block > 0 && !await(t->bases + (ulong)block * WORDS, t->launch, &base)) board->is_late = 1;
    board->base = block > 0 || has_init ? combine(base, total) : total;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  return board->is_late;
}

/* Adds tile number `at`, of which `sum` is the work-item's part; behind the last one before the
   group's own r->base is what await_base did not find. */
INLINE void recount(Recount *r, const Turn *t, const uint at, const VALUE sum, __local Board *board,
                    const uint me, const int has_init) {
  const bool is_last = at + 1 == t->tile;
  board->found[PLACE(me)] = sum;
  scan_lines(board->found, me, GROUP);
  ADD(r->line, at % LINE > 0, fold_lines(board->found, GROUP));
  if (is_last || at % LINE == LINE - 1) ADD(r->of_block, at % BLOCK >= LINE, r->line);
  if (is_last || at % BLOCK == BLOCK - 1) ADD(r->base, has_init || at >= BLOCK, r->of_block);
  if (is_last && me == 0) board->base = r->base;
  barrier(CLK_LOCAL_MEM_FENCE);
}

/* For one work-item of a tile > 0, when board->base is known. */
INLINE void publish_base(const Turn *t, __local const Board *board) {
  if (t->tile % BLOCK == 0)
    publish(t->bases + (ulong)(t->tile / BLOCK) * WORDS, t->launch, board->base);
}

/* For one work-item, at the end. */
INLINE void end_turn(const Turn *t) {
  if (atomic_inc(t->counts + 1) == t->tiles - 1) {
    atomic_xchg(t->counts, 0);
    atomic_xchg(t->counts + 1, 0);
    atomic_xchg(t->counts + 2, t->launch);
  }
}

#endif
