/* SPDX-License-Identifier: MIT */
/*
 * random: elements from a counter-based generator, the same ones wherever they are made
 *
 *     for (i = 0; i < n; i++) out[i] = element i % PER of block (skip + i) / PER of Philox, by the key `seed`;
 *
 * An element takes WORDS words of a block, so there are PER = 4 / WORDS of them in each. A product and a sum of random
 * bits, rounded once, make
 *
 *     floating types  scale * (low + u * span), 0 <= u < 1 of 24 or 53 bits; what rounds to `high` steps back to `below`
 *     NORMAL          low + span * z, where quotients and roots of floats may differ in their last digit
 *     integers        low + (w * span >> bits of w), w of 64 bits, or 128 for long and ulong: the chances of two values
 *                     differ by one part in 2^32 at most
 *
 * Global size: n / chunk, rounded up; chunk is a multiple of PER * BLOCKS, skip of PER. Local size: any.
 */
#include "clcompute/philox.h"

#ifndef REAL
#define REAL float /* element type: any */
#endif
#ifndef WORDS
#define WORDS 1 /* of an element: 1 for half and float, 4 for long and ulong, 2 for all others */
#endif
#ifndef FLOATING
#define FLOATING 1 /* 1: a floating type */
#endif
#ifndef HALF
#define HALF 0 /* 1: REAL is half */
#endif
#ifndef NORMAL
#define NORMAL 0 /* 1: normally distributed */
#endif
#ifndef ALIGNED
#define ALIGNED 0 /* 1: the first element is where a vector may begin */
#endif

#if HALF
#define VALUE float
#else
#define VALUE REAL
#endif

/* The elements of the blocks: PARTS vectors of WIDTH. EACH(F) is F for each, with the part of the pairs it is of. */
#define PARTS 1
#define EACH(F) F(0, )
#if WORDS == 4
#define WIDTH BLOCKS
#define VECTOR_OF ONE
#elif WORDS == 2
#define WIDTH (2 * BLOCKS)
#define VECTOR_OF TWO
#elif BLOCKS == 1
#define WIDTH 4
#define VECTOR_OF(type) JOIN(type, 4)
#else
#undef PARTS
#undef EACH
#define PARTS 2
#define EACH(F) F(0, .lo) F(1, .hi)
#define WIDTH 16
#define VECTOR_OF(type) JOIN(type, 16)
#endif
#define VECTOR VECTOR_OF(VALUE)
#define TO(type) JOIN(convert_, type)

#if FLOATING
#define PARAMETERS , const VALUE low, const VALUE span, const VALUE high, const VALUE below, const VALUE scale
#define ARGUMENTS , low, span, high, below, scale
#else
#define PARAMETERS , const ulong low, const ulong span
#define ARGUMENTS , low, span
#endif

#if NORMAL
#if WORDS == 1
#define POINT TWO
#define CHANCE(pairs) (TO(TWO(float))((pairs)&LOW_HALF) * 0x1p-32f + 0x1p-33f)
#define SECOND(pairs) TO(TWO(uint))((pairs) >> 32)
#else
#define POINT ONE
#define CHANCE(pairs) (TO(ONE(double))((pairs).even >> 11) * 0x1p-53 + 0x1p-54)
#define SECOND(pairs) (pairs).odd
#endif
#include "clcompute/box_muller.h"

#define WEAVE(k, part)   \
  v[k].even = x part;    \
  v[k].odd = y part;     \
  v[k] = fma(v[k], (VECTOR)span, (VECTOR)low);

INLINE void elements(const TWO(ulong) pairs, VECTOR *v PARAMETERS) {
  POINT(VALUE) x, y = direction_of(SECOND(pairs), &x);
  const POINT(VALUE) distance = distance_of(CHANCE(pairs));
  x *= distance;
  y *= distance;
  EACH(WEAVE)
}
#elif FLOATING
#if WORDS == 1
#define FRACTION(pairs) (TO(VECTOR)(JOIN(as_, VECTOR_OF(uint))(pairs) >> 8) * 0x1p-24f)
#else
#define FRACTION(pairs) (TO(VECTOR)((pairs) >> 11) * 0x1p-53)
#endif

#define SCALE(k, part)                                                           \
  v[k] = scale * fma(FRACTION(pairs part), (VECTOR)span, (VECTOR)low);           \
  v[k] = v[k] < high ? v[k] : (VECTOR)below;

INLINE void elements(const TWO(ulong) pairs, VECTOR *v PARAMETERS) { EACH(SCALE) }
#elif WORDS == 2
INLINE void elements(const TWO(ulong) pairs, VECTOR *v PARAMETERS) {
  const TWO(ulong) carry = (pairs & LOW_HALF) * span >> 32;
  *v = TO(VECTOR)(low + (((pairs >> 32) * span + carry) >> 32));
}
#else
INLINE void elements(const TWO(ulong) pairs, VECTOR *v PARAMETERS) {
  const ONE(ulong) bits = pairs.odd, factor = span;
  const ONE(ulong) carry = mul_hi(pairs.even, factor), sum = bits * span + carry;
  const ONE(ulong) place = mul_hi(bits, factor) + (sum < carry ? (ONE(ulong))1 : (ONE(ulong))0);
  *v = TO(VECTOR)(low + (span == 0 ? bits : place)); /* a span of 0 is all 2^64 */
}
#endif

/* Halves are rounded down, or some would reach `high`; normal ones to the nearest. */
#if HALF && NORMAL
#define STORE_ONE vstore_half_rte
#define STORE_VECTOR JOIN(VECTOR_OF(vstore_half), _rte)
#elif HALF
#define STORE_ONE vstore_half_rtn
#define STORE_VECTOR JOIN(VECTOR_OF(vstore_half), _rtn)
#else
#define STORE_ONE(v, i, p) (p)[i] = v
#if ALIGNED || WIDTH == 1
#define STORE_VECTOR(v, i, p) ((__global VECTOR *)(p))[i] = v
#else
#define STORE_VECTOR VECTOR_OF(vstore)
#endif
#endif

__kernel void random(const ulong n, const ulong chunk, __global REAL *out, const ulong out_first,
                     const ulong seed, const ulong skip PARAMETERS) {
  const ulong begin = get_global_id(0) * chunk, end = min(begin + chunk, n);
  for (ulong at = begin; at < end; at += PARTS * WIDTH) {
    __global REAL *to = out + out_first + at;
    VECTOR v[PARTS];
    elements(philox((skip + at) / (4 / WORDS), seed), v ARGUMENTS);
    if (at + PARTS * WIDTH <= end) {
      for (uint k = 0; k < PARTS; k++) STORE_VECTOR(v[k], k, to);
    } else {
      union {
        VECTOR vectors[PARTS];
        VALUE each[PARTS * WIDTH];
      } last;
      for (uint k = 0; k < PARTS; k++) last.vectors[k] = v[k];
      for (uint k = 0; k < end - at; k++) STORE_ONE(last.each[k], k, to);
    }
  }
}
