/* SPDX-License-Identifier: MIT */
/*
 * How the rows of a group, one a work-item, elect the largest: of equal ones that of the lowest
 * place. Needs REAL, ROWS (work-items), COLUMNS (elements of a row, a multiple of 4) and WARP:
 *
 *     32: of NVIDIA's warps, each finds its largest in registers (PTX), and an election has one
 *         barrier; ROWS is a multiple of 32
 *     1:  elsewhere; there are three
 */
#ifndef CLC_ELECT_H
#define CLC_ELECT_H

#include "vector.h"

#define KEY_float uint
#define KEY_double ulong
#define KEY JOIN(KEY_, REAL)
#define AS_KEY JOIN(as_, KEY)

/* Magnitudes as integers of the same order, above 0, which is for a row that does not stand. */
INLINE KEY key_of(const REAL x) {
  return AS_KEY(fabs(x)) + 1;
}

#if WARP == 32
#define WARPS (ROWS / WARP)

INLINE uint most_of_warp(const uint key) {
  uint most;
  asm volatile("redux.sync.max.u32 %0, %1, 0xffffffff;" : "=r"(most) : "r"(key));
  return most;
}

/* A bit for each lane in which a condition holds. */
INLINE uint lanes_of_warp(const int holds) {
  uint lanes;
  asm volatile("{ .reg .pred p; setp.ne.s32 p, %1, 0; vote.sync.ballot.b32 %0, p, 0xffffffff; }"
               : "=r"(lanes)
               : "r"(holds));
  return lanes;
}

INLINE KEY largest_of_warp(const KEY key) {
#if JOIN(IS_, REAL)
  return most_of_warp(key);
#else
  const uint high = most_of_warp((uint)(key >> 32));
  return (ulong)high << 32 | most_of_warp((uint)(key >> 32) == high ? (uint)key : 0);
#endif
}

/* The lane of the winner. */
INLINE uint winner_of_warp(const KEY key, const int place) {
  const KEY largest = largest_of_warp(key);
  uint lanes = lanes_of_warp(key == largest);
  if (lanes & (lanes - 1)) {
    const uint rank = key == largest ? INT_MAX - place : 0;
    const uint most = most_of_warp(rank); /* asked by every lane, also of those that lost */
    lanes = lanes_of_warp(key == largest && rank == most);
  }
  return 31 - clz(lanes & -lanes);
}

typedef struct {
  KEY keys[2][WARPS]; /* of each warp; by turns, so that one barrier a step is enough */
  int places[2][WARPS];
  REAL rows[2][WARPS][COLUMNS] __attribute__((aligned(32)));
} Board;

/* Returns the winner's row, of so many elements, and its place. Turns alternate. */
INLINE __local const REAL *elect(__local Board *board, const int turn, const int t, const KEY key,
                                 const int place, const REAL *x, const int width, int *chosen) {
  const uint warp = t / WARP, lane = t % WARP;
  if (lane == winner_of_warp(key, place)) {
    board->keys[turn][warp] = key;
    board->places[turn][warp] = place;
    UNROLL for (int j = 0; j < width; j += 4)
      *(__local QUAD *)&board->rows[turn][warp][j] = (QUAD)(x[j], x[j + 1], x[j + 2], x[j + 3]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  uint winner = 0;
  if (WARPS > 1)
    winner = winner_of_warp(lane < WARPS ? board->keys[turn][lane] : 0,
                            lane < WARPS ? board->places[turn][lane] : INT_MAX);
  *chosen = board->places[turn][winner];
  return board->rows[turn][winner];
}
#else
#define SIDE 32 /* work-items that search first */

typedef struct {
  KEY keys[ROWS], largest[SIDE];
  int places[ROWS], first[SIDE];
  REAL row[COLUMNS] __attribute__((aligned(32)));
} Board;

INLINE __local const REAL *elect(__local Board *board, const int turn, const int t, const KEY key,
                                 const int place, const REAL *x, const int width, int *chosen) {
  board->keys[t] = key;
  board->places[t] = place;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (t < SIDE) {
    KEY largest = 0;
    int least = 0;
    for (int i = t; i < ROWS; i += SIDE) {
      const KEY one = board->keys[i];
      if (one > largest || (one == largest && board->places[i] < least)) {
        largest = one;
        least = board->places[i];
      }
    }
    board->largest[t] = largest;
    board->first[t] = least;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  KEY largest = 0;
  int least = 0;
  for (int i = 0; i < min(SIDE, ROWS); i++) {
    const KEY one = board->largest[i];
    if (one > largest || (one == largest && board->first[i] < least)) {
      largest = one;
      least = board->first[i];
    }
  }
  if (key != 0 && place == least)
    UNROLL for (int j = 0; j < width; j++) board->row[j] = x[j];
  *chosen = least;
  barrier(CLK_LOCAL_MEM_FENCE);
  return board->row;
}
#endif

#endif
