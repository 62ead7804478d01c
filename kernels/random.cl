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
#define POINT ONE
#include "clcompute/box_muller.h"

#if WORDS == 1
/* Words as the halves of pairs, and back: AVX2 moves them within halves of a vector. */
#if BLOCKS == 1
#define LOWER(w) (w).x
#define UPPER(w) (w).y
#define PAIR(x, y) as_ulong((float2)(x, y))
#else
#define LOWER(w) (uint8)((w).s0, (w).s2, (w).s8, (w).sa, (w).s4, (w).s6, (w).sc, (w).se)
#define UPPER(w) (uint8)((w).s1, (w).s3, (w).s9, (w).sb, (w).s5, (w).s7, (w).sd, (w).sf)
#define PAIR(x, y)                                                                              \
  as_ulong8((float16)(x.s0, y.s0, x.s1, y.s1, x.s4, y.s4, x.s5, y.s5,                           \
                      x.s2, y.s2, x.s3, y.s3, x.s6, y.s6, x.s7, y.s7))
#endif

/* A pair of normal numbers of a pair of words. */
INLINE ONE(ulong) point(const ONE(ulong) pair) {
  const TWO(uint) words = JOIN(as_, TWO(uint))(pair);
  const ONE(float) u = TO(ONE(float))(LOWER(words)) * 0x1p-32f + 0x1p-33f;
  ONE(float) x, y = point_of(u, UPPER(words), &x);
  return PAIR(x, y);
}

#define SCALE(k, part) v[k] = fma(JOIN(as_, VECTOR)(points part), (VECTOR)span, (VECTOR)low);

INLINE void elements(const ulong first, const ulong seed, VECTOR *v PARAMETERS) {
  ONE(ulong) second, pairs = philox_pairs(first, seed, &second);
  const TWO(ulong) points = weave(point(pairs), point(second));
  EACH(SCALE)
}
#else
INLINE void elements(const ulong first, const ulong seed, VECTOR *v PARAMETERS) {
  const TWO(ulong) pairs = philox(first, seed);
  POINT(double) x, u = TO(POINT(double))(pairs.even >> 11) * 0x1p-53 + 0x1p-54;
  v->odd = point_of(u, pairs.odd, &x);
  v->even = x;
  *v = fma(*v, (VECTOR)span, (VECTOR)low);
}
#endif
#elif FLOATING
#if WORDS == 1
#define FRACTION(pairs) (TO(VECTOR)(JOIN(as_, VECTOR_OF(uint))(pairs) >> 8) * 0x1p-24f)
#else
#define FRACTION(pairs) (TO(VECTOR)((pairs) >> 11) * 0x1p-53)
#endif

#define SCALE(k, part)                                                           \
  v[k] = scale * fma(FRACTION(pairs part), (VECTOR)span, (VECTOR)low);           \
  v[k] = v[k] < high ? v[k] : (VECTOR)below;

INLINE void elements(const ulong first, const ulong seed, VECTOR *v PARAMETERS) {
  const TWO(ulong) pairs = philox(first, seed);
  EACH(SCALE)
}
#elif WORDS == 2
INLINE void elements(const ulong first, const ulong seed, VECTOR *v PARAMETERS) {
  const TWO(ulong) pairs = philox(first, seed);
  const TWO(ulong) carry = (pairs & LOW_HALF) * span >> 32;
  *v = TO(VECTOR)(low + (((pairs >> 32) * span + carry) >> 32));
}
#else
INLINE void elements(const ulong first, const ulong seed, VECTOR *v PARAMETERS) {
  const TWO(ulong) pairs = philox(first, seed);
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
    elements((skip + at) / (4 / WORDS), seed, v ARGUMENTS);
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
