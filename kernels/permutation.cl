/* SPDX-License-Identifier: MIT */
/*
 * permutation: the numbers 1 .. n in random order, each place by itself
 *
 *     for (i = 0; i < n; i++) out[i] = 1 + place(i);
 *
 * The numbers below rows * columns are places of a table. A Feistel network exchanges them: each round moves a number in
 * its column by a random function of the column, or in its row by one of the row. A place from n on goes through the
 * network again, until it is one below n; rows and columns are about sqrt(n), so few do.
 * Global size: n / chunk, rounded up; chunk is a multiple of LANES. Local size: any.
 */
#include "clcompute/philox.h"

#ifndef REAL
#define REAL uint /* element type: uint or ulong */
#endif
#ifndef LANES
#define LANES 1 /* places at a time: 1, or 16 for the vectors of a CPU */
#endif
#ifndef ROUNDS
#define ROUNDS 12 /* pairs of them; a small table takes more, as its functions have few values */
#endif

#if LANES == 1
#define OF(type) type
#define FOLLOWING 0
#else
#define OF(type) JOIN(type, 16)
#define FOLLOWING (OF(REAL))(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
#endif
#define TO(type) JOIN(convert_, OF(type))

/* Random numbers of 32 bits, by places and a key. */
INLINE OF(uint) scatter(OF(uint) x, const ulong key) {
  x = (x ^ (uint)key) * 0x85ebca6bU;
  x = (x ^ (x >> 15) ^ (uint)(key >> 32)) * 0xc2b2ae35U;
  x = (x ^ (x >> 13)) * 0x27d4eb2fU;
  return x ^ (x >> 16);
}

/* Moves a place by a random step, below n, round a circle of n. */
INLINE OF(uint) move(const OF(uint) place, const uint n, const OF(uint) random) {
  const OF(uint) moved = place + mul_hi(random, (OF(uint))n);
  return min(moved, moved - n); /* moved - n wraps where moved is below n */
}

INLINE OF(REAL) exchange(const OF(REAL) i, const uint rows, const uint columns, ulong2 key) {
  OF(uint) row = TO(uint)(i / columns), column = TO(uint)(i % columns);
  for (uint round = 0; round < ROUNDS; round++) {
    row = move(row, rows, scatter(column, key.x));
    column = move(column, columns, scatter(row, key.y));
    key += 0x9e3779b97f4a7c15UL;
  }
  return TO(REAL)(row) * columns + TO(REAL)(column);
}

/* Whether one of so many places is not below n. */
INLINE int has_one_from(const REAL n, const uint count, const REAL *places) {
  int found = 0;
  for (uint k = 0; k < count; k++) found |= places[k] >= n;
  return found;
}

__kernel void permutation(const REAL n, const REAL chunk, __global REAL *out, const ulong out_first,
                          const ulong seed, const uint rows, const uint columns) {
  const ulong begin = get_global_id(0) * chunk, end = min(begin + chunk, (ulong)n);
  const ulong2 keys = philox(0, seed);
  for (ulong i = begin; i < end; i += LANES) {
    const uint count = (uint)min((ulong)LANES, end - i);
    union {
      OF(REAL) all;
      REAL each[LANES];
    } place = {exchange((REAL)i + FOLLOWING, rows, columns, keys)};
    while (has_one_from(n, count, place.each))
      place.all = place.all < n ? place.all : exchange(place.all, rows, columns, keys);
    for (uint k = 0; k < count; k++) out[out_first + i + k] = place.each[k] + 1;
  }
}
