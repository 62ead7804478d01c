/* SPDX-License-Identifier: MIT */
/*
 * Complex numbers as float2, and as double2 where the device has doubles: .x is the real part, .y the
 * imaginary one. The names are those of C's <complex.h>, each for both types. Sums, differences and
 * multiples by a real number are the vectors' own: z + w, z - w, 2.0f * z.
 *
 *     creal(z) cimag(z)    parts            cmul(z, w)  cdiv(z, w)   product, quotient
 *     cabs(z)  carg(z)     polar form       cpolar(r, phi)           r (cos phi + i sin phi)
 *     conj(z)  csqr(z)     conjugate, z z   csqrt(z) cexp(z) clog(z) cpow(z, w)   principal values
 */
#ifndef CLC_COMPLEX_H
#define CLC_COMPLEX_H

#define CLC_C static __attribute__((overloadable, always_inline, unused))

/* Division by the larger part first (Smith 1962), so that no intermediate overflows where the
   quotient does not; the root adds no numbers of opposite sign. */
#define CLC_COMPLEX(COMPLEX, REAL)                                                          \
  CLC_C REAL creal(COMPLEX z) { return z.x; }                                               \
  CLC_C REAL cimag(COMPLEX z) { return z.y; }                                               \
  CLC_C REAL cabs(COMPLEX z) { return hypot(z.x, z.y); }                                    \
  CLC_C REAL carg(COMPLEX z) { return atan2(z.y, z.x); }                                    \
  CLC_C COMPLEX conj(COMPLEX z) { return (COMPLEX)(z.x, -z.y); }                            \
  CLC_C COMPLEX cpolar(REAL r, REAL phi) { return (COMPLEX)(r * cos(phi), r * sin(phi)); }  \
  CLC_C COMPLEX cmul(COMPLEX z, COMPLEX w) {                                                \
    return (COMPLEX)(z.x * w.x - z.y * w.y, z.x * w.y + z.y * w.x);                         \
  }                                                                                         \
  CLC_C COMPLEX csqr(COMPLEX z) { return cmul(z, z); }                                      \
  CLC_C COMPLEX cdiv(COMPLEX z, COMPLEX w) {                                                \
    if (fabs(w.x) >= fabs(w.y)) {                                                           \
      const REAL r = w.y / w.x, d = w.x + w.y * r;                                          \
      return (COMPLEX)((z.x + z.y * r) / d, (z.y - z.x * r) / d);                           \
    }                                                                                       \
    const REAL r = w.x / w.y, d = w.x * r + w.y;                                            \
    return (COMPLEX)((z.x * r + z.y) / d, (z.y * r - z.x) / d);                             \
  }                                                                                         \
  CLC_C COMPLEX csqrt(COMPLEX z) {                                                          \
    const REAL half_sum = (fabs(z.x) + cabs(z)) / 2, t = sqrt(half_sum);                    \
    if (t == 0) return (COMPLEX)(0, z.y);                                                   \
    return z.x >= 0 ? (COMPLEX)(t, z.y / (2 * t))                                           \
                    : (COMPLEX)(fabs(z.y) / (2 * t), copysign(t, z.y));                     \
  }                                                                                         \
  CLC_C COMPLEX cexp(COMPLEX z) { return cpolar(exp(z.x), z.y); }                           \
  CLC_C COMPLEX clog(COMPLEX z) { return (COMPLEX)(log(cabs(z)), carg(z)); }                \
  CLC_C COMPLEX cpow(COMPLEX z, COMPLEX w) {                                                \
    if (w.x == 0 && w.y == 0) return (COMPLEX)(1, 0);                                       \
    return z.x == 0 && z.y == 0 ? (COMPLEX)(0, 0) : cexp(cmul(w, clog(z)));                 \
  }

CLC_COMPLEX(float2, float)

#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
CLC_COMPLEX(double2, double)
#endif

#endif
