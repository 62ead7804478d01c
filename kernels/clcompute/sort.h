/* SPDX-License-Identifier: MIT */
/*
 * What the kernels of a radix sort share. A sort goes from the lowest digit of the keys to the
 * highest, a stable pass for each.
 *
 * Passes move the elements to and fro between `out` and `spare`. `passes` says which are needed:
 * bit p is set where two keys differ in digit p. The last one moves to `out`; where that is also x,
 * the first one moves to `spare`, and sort_finish copies what ends there.
 */
#ifndef CLC_SORT_H
#define CLC_SORT_H

#include "key.h"

#ifndef BITS
#define BITS 8 /* of a digit */
#endif
#ifndef COUNT
#define COUNT uint /* counts elements: uint, or ulong */
#endif
#ifndef GROUP
#define GROUP 1 /* work-items of a group, which does a chunk together */
#endif
#ifndef CARRIED
#define CARRIED 0 /* what moves with an element; 0: nothing, 1: one of v, 2: its index, from 1 */
#endif
#ifndef CARRY
#define CARRY uint /* type of that: uchar, ushort, uint or ulong */
#endif

#define RADIX (1u << BITS)

/* Digit number `pass`, from the lowest one. */
static uint clc_digit(const KEY e, const uint pass) {
  return (uint)(clc_key(e) >> (pass * BITS)) & (RADIX - 1);
}

/* --- where elements are before a pass, and behind it ---------------------------------- */

#define AT_X 0
#define AT_OUT 1
#define AT_SPARE 2

/* Where they are behind so many of all passes that are needed; in_place: whether out is x. */
static int clc_place(const uint done, const uint all, const int in_place) {
  if (done == 0) return AT_X;
  return (in_place ? done : all - done) % 2 == 0 ? AT_OUT : AT_SPARE;
}

/* How many of them come before pass p. */
static uint clc_done(const uint passes, const uint p) {
  return popcount(passes & ((1u << p) - 1));
}

/* The buffers of elements: each is its memory, and the elements of it before the first one. */
#define ELEMENTS                                                                        \
  __global const KEY *x, const ulong x_first, __global KEY *out, const ulong out_first, \
      __global KEY *spare, const ulong spare_first
#define ELEMENTS_AT(place) \
  ((place) == AT_X ? x + x_first : (place) == AT_OUT ? out + out_first : spare + spare_first)

/* The same of what is carried. */
#if CARRIED == 1
#define CARRIES                                                                                   \
  , __global const CARRY *v, const ulong v_first, __global CARRY *v_out, const ulong v_out_first, \
      __global CARRY *v_spare, const ulong v_spare_first
#elif CARRIED == 2
#define CARRIES                                                              \
  , __global CARRY *v_out, const ulong v_out_first, __global CARRY *v_spare, \
      const ulong v_spare_first
#else
#define CARRIES
#endif
#define CARRIES_AT(place) ((place) == AT_OUT ? v_out + v_out_first : v_spare + v_spare_first)

/* What element i carries, where elements are at a place. */
#if CARRIED == 1
#define CARRY_OF(place, i) ((place) == AT_X ? v[v_first + (i)] : CARRIES_AT(place)[i])
#elif CARRIED == 2
#define CARRY_OF(place, i) ((place) == AT_X ? (CARRY)((i) + 1) : CARRIES_AT(place)[i])
#endif

#endif
