/* SPDX-License-Identifier: MIT */
/*
 * Keys: unsigned integers whose order is that of elements of any dtype. Elements are taken as the
 * unsigned integers of their size, KEY.
 */
#ifndef CLC_KEY_H
#define CLC_KEY_H

#ifndef KEY
#define KEY uint /* uchar, ushort, uint or ulong */
#endif
#ifndef KIND
#define KIND 0 /* of the elements; 0: unsigned, 1: signed, 2: floating */
#endif
#ifndef SPECIAL
#define SPECIAL 0x7f800000u /* the bits of infinity, of a floating kind */
#endif
#ifndef DESCENDING
#define DESCENDING 0 /* 1: the greatest first; NaN is last all the same */
#endif

#define SIGN ((KEY)((KEY)1 << (8 * sizeof(KEY) - 1)))
#define ALL_ONES ((KEY) ~(KEY)0)

/* -0 and 0 have the same key, and so has every NaN. */
static KEY clc_key(KEY e) {
#if KIND == 2
  const KEY magnitude = e & (KEY)~SIGN;
  if (magnitude > SPECIAL) return ALL_ONES;
  e = magnitude == 0 ? SIGN : e & SIGN ? (KEY)~e : (KEY)(e | SIGN);
#elif KIND == 1
  e ^= SIGN;
#endif
  return DESCENDING ? (KEY)~e : e;
}

#endif
