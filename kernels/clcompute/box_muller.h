/* SPDX-License-Identifier: MIT */
/*
 * Points of the plane whose coordinates are normally distributed, by Box and Muller, in plain arithmetic that a compiler
 * makes vectors of. POINT(t) is a type with an element t for each point.
 *
 *     point_of(u, word, &x)    x and y of a point, by 0 < u <= 1 and a random word of 32 bits, of 64 for doubles
 *
 * Taylor series of so many terms that the next one is beyond the digits of the type.
 */
#ifndef CLC_BOX_MULLER_H
#define CLC_BOX_MULLER_H

#include "vector.h"

#if JOIN(IS_, VALUE)
#define WORD uint
#define INTEGER int
#define DIGITS 23
#define LAST 31 /* bit of a word */
#define HALF_ROOT 0x3f3504f3 /* the bits of sqrt(1/2) */
#define LOG -1.3862943611198906f /* -2 log(2) */
#define SMALLEST 0x1p-33f
#define TERMS 5
#define LOG_TERMS 5
#else
#define WORD ulong
#define INTEGER long
#define DIGITS 52
#define LAST 63
#define HALF_ROOT 0x3fe6a09e667f3bcdL
#define LOG -1.3862943611198906
#define SMALLEST 0x1p-65
#define TERMS 8
#define LOG_TERMS 11
#endif
#define SIGNED(x) JOIN(as_, POINT(INTEGER))(x)
#define BITS(x) JOIN(as_, POINT(WORD))(x)
#define SIGN ((WORD)1 << LAST)

/* Of sin(pi r) / r and cos(pi r) in powers of r * r, and of -4 artanh(s) / s in powers of s * s. */
__constant VALUE SINES[] = {3.1415926535897932,    -5.1677127800499700,   2.5501640398773454,
                            -0.59926452932079208,  0.082145886611128228,  -0.0073704309457143504,
                            0.00046630280576761255, -2.1915353447830217e-5};
__constant VALUE COSINES[] = {1, -4.9348022005446793, 4.0587121264167682, -1.3352627688545895,
                              0.23533063035889321, -0.025806891390014061, 0.0019295743094039231,
                              -0.0001046381049248457, 4.3030695870329473e-6};
__constant VALUE LOGARITHMS[] = {-4, -4 / 3.0, -4 / 5.0, -4 / 7.0, -4 / 9.0, -4 / 11.0, -4 / 13.0,
                                 -4 / 15.0, -4 / 17.0, -4 / 19.0, -4 / 21.0};

INLINE POINT(VALUE) series(const POINT(VALUE) x, __constant const VALUE *factors, const int terms) {
  POINT(VALUE) sum = factors[terms - 1];
  UNROLL
  for (int k = terms - 2; k >= 0; k--) sum = fma(sum, x, (POINT(VALUE))factors[k]);
  return sum;
}

/* sqrt(-2 log(u)), u = 2^exponent * m, m nearest to 1; log(m) = 2 artanh((m - 1) / (m + 1)). */
INLINE POINT(VALUE) distance_of(const POINT(VALUE) u) {
  const POINT(INTEGER) exponent = (SIGNED(u) - HALF_ROOT) >> DIGITS;
  const POINT(VALUE) m = JOIN(as_, POINT(VALUE))(SIGNED(u) - (exponent << DIGITS));
  const POINT(VALUE) s = (m - 1) / (m + 1), power = JOIN(convert_, POINT(VALUE))(exponent);
  return sqrt(fma(power, (POINT(VALUE))LOG, s * series(s * s, LOGARITHMS, LOG_TERMS)));
}

/* The angle is pi * r, -1/4 <= r < 1/4, by all bits but two: the first exchanges x and y, the other one left and right.
   Masks are what is quick where words are the halves of longer ones. */
INLINE POINT(VALUE) point_of(const POINT(VALUE) u, const POINT(WORD) word, POINT(VALUE) *x) {
  const POINT(VALUE) r = JOIN(convert_, POINT(VALUE))(SIGNED(word << 2)) * SMALLEST;
  const POINT(VALUE) distance = distance_of(u);
  const POINT(VALUE) sine = distance * (r * series(r * r, SINES, TERMS));
  const POINT(VALUE) cosine = distance * series(r * r, COSINES, TERMS + 1);
  const POINT(WORD) up = BITS(sine), across = BITS(cosine) ^ (word << 1 & SIGN);
  const POINT(WORD) both = (up ^ across) & -(word >> LAST);
  *x = JOIN(as_, POINT(VALUE))(across ^ both);
  return JOIN(as_, POINT(VALUE))(up ^ both);
}

#endif
