/* SPDX-License-Identifier: MIT */
/*
 * Names made of an element type and a width, and what makes a compiler inline and unroll. A kernel
 * that has vectors of V elements of REAL defines both before it includes this file:
 *
 *     VECTOR          V elements; REAL itself where V is 1
 *     LOAD(i, p)      vector number i from p on
 *     STORE(v, i, p)  writes v there
 */
#ifndef CLC_VECTOR_H
#define CLC_VECTOR_H

#define JOIN_(x, y) x##y
#define JOIN(x, y) JOIN_(x, y) /* of macros, what they stand for */

#define QUAD JOIN(REAL, 4)
#ifdef V
#if V == 1
#define VECTOR REAL
#define LOAD(i, p) (p)[i]
#define STORE(v, i, p) (p)[i] = (v)
#else
#define VECTOR JOIN(REAL, V)
#define LOAD JOIN(vload, V)
#define STORE JOIN(vstore, V)
#endif
#endif

#define IS_float 1 /* #if JOIN(IS_, REAL): what #if cannot find out of REAL otherwise */
#define IS_double 0

#define INLINE static inline __attribute__((always_inline))
#define UNROLL _Pragma("unroll")

/* F(k), F(k + 1), ... as text: so many steps no compiler unrolls when it is asked to. */
#define REPEAT_1(F, k) F(k)
#define REPEAT_2(F, k) F(k) F(k + 1)
#define REPEAT_4(F, k) F(k) F(k + 1) F(k + 2) F(k + 3)
#define REPEAT_8(F, k) REPEAT_4(F, k) REPEAT_4(F, k + 4)
#define REPEAT_16(F, k) REPEAT_8(F, k) REPEAT_8(F, k + 8)
#define REPEAT_32(F, k) REPEAT_16(F, k) REPEAT_16(F, k + 16)

#endif
