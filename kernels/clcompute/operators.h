/* SPDX-License-Identifier: MIT */
/*
 * Operators of Lua on elements, where OpenCL C has others: division rounded down and its rest, for
 * integers 0 where one divides by 0; and the lesser and the larger one, NaN where one is NaN.
 */
#ifndef CLC_OPERATORS_H
#define CLC_OPERATORS_H

#pragma OPENCL FP_CONTRACT OFF /* each result is rounded, as if it were stored */

#define UNSIGNED(type)                                        \
  static type clc_divide_##type(const type a, const type b) { \
    return b == 0 ? 0 : a / b;                                \
  }                                                           \
  static type clc_modulo_##type(const type a, const type b) { \
    return b == 0 ? 0 : a % b;                                \
  }

/* The lowest number divided by -1 is no number of the type: 0 less it wraps. */
#define SIGNED(type, unsigned_type)                                  \
  static type clc_divide_##type(const type a, const type b) {        \
    if (b == 0) return 0;                                            \
    if (b == -1) return (type)((unsigned_type)0 - (unsigned_type)a); \
    const type quotient = a / b;                                     \
    return quotient - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);    \
  }                                                                  \
  static type clc_modulo_##type(const type a, const type b) {        \
    if (b == 0 || b == -1) return 0;                                 \
    const type rest = a % b;                                         \
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;     \
  }

#define FLOATING(type)                                         \
  static type clc_modulo_##type(const type a, const type b) {  \
    const type rest = fmod(a, b);                              \
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest; \
  }                                                            \
  static type clc_square_##type(const type a) {                \
    return a * a;                                              \
  }                                                            \
  static type clc_minimum_##type(const type a, const type b) { \
    return a < b || a != a ? a : b;                            \
  }                                                            \
  static type clc_maximum_##type(const type a, const type b) { \
    return a > b || a != a ? a : b;                            \
  }

SIGNED(char, uchar)
SIGNED(short, ushort)
SIGNED(int, uint)
SIGNED(long, ulong)
UNSIGNED(uchar)
UNSIGNED(ushort)
UNSIGNED(uint)
UNSIGNED(ulong)
FLOATING(float)
#ifdef cl_khr_fp64
FLOATING(double)
#endif

#endif
