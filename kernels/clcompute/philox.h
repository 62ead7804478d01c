/* SPDX-License-Identifier: MIT */
/*
 * Philox 4x32-10 (Salmon, Moraes, Dror, Shaw 2011): block `number` of four random words of 32 bits, by a key of 64 bits.
 * The words are a function of number and key alone.
 *
 *     philox(first, key)         BLOCKS blocks from `first` on, each as two pairs of words, the first word in the low half
 *     philox_pairs(first, key, &second)   their first pairs, and the second ones, in the order of the vector's lanes
 *     weave(first, second)       pairs, or what was made of each, in the order of the blocks
 *     ONE(t), TWO(t)             types with so many elements t for each block
 */
#ifndef CLC_PHILOX_H
#define CLC_PHILOX_H

#include "vector.h"

#ifndef BLOCKS
#define BLOCKS 1 /* 1, or 8 for the vectors of a CPU */
#endif

#if BLOCKS == 1
#define ONE(type) type
#define TWO(type) JOIN(type, 2)
#define LANES_OF_BLOCKS 0

INLINE ulong2 weave(const ulong first, const ulong second) { return (ulong2)(first, second); }
#else
#define ONE(type) JOIN(type, 8)
#define TWO(type) JOIN(type, 16)
#define LANES_OF_BLOCKS (ulong8)(0, 2, 1, 3, 4, 6, 5, 7) /* AVX2 weaves within halves of a vector */

INLINE ulong16 weave(const ulong8 a, const ulong8 b) {
  return (ulong16)(a.s0, b.s0, a.s2, b.s2, a.s1, b.s1, a.s3, b.s3, a.s4, b.s4, a.s6, b.s6, a.s5, b.s5, a.s7, b.s7);
}
#endif

#define LOW_HALF 0xffffffffUL

/* Words are kept in lanes of 64 bits, whose upper halves hold anything: a product of two words is one multiplication. */
INLINE ONE(ulong) philox_pairs(const ulong first, const ulong key, ONE(ulong) *second) {
  const ONE(ulong) number = first + LANES_OF_BLOCKS;
  ONE(ulong) a = number, b = number >> 32, c = 0, d = 0;
  ulong low_key = key, high_key = key >> 32;
  UNROLL
  for (int round = 0; round < 10; round++) {
    const ONE(ulong) p = 0xd2511f53UL * (a & LOW_HALF), q = 0xcd9e8d57UL * (c & LOW_HALF);
    a = (q >> 32) ^ b ^ low_key;
    b = q;
    c = (p >> 32) ^ d ^ high_key;
    d = p;
    low_key += 0x9e3779b9UL;
    high_key += 0xbb67ae85UL;
  }
  *second = (c & LOW_HALF) | (d << 32);
  return (a & LOW_HALF) | (b << 32);
}

INLINE TWO(ulong) philox(const ulong first, const ulong key) {
  ONE(ulong) second;
  const ONE(ulong) pairs = philox_pairs(first, key, &second);
  return weave(pairs, second);
}

#endif
