/* SPDX-License-Identifier: MIT */
/* Poison: what check mode puts where nothing was written yet, and round each buffer. */
#include "buffer.h"

#include <string.h>

/* A NaN has all bits of its exponent. Below its highest digit, which makes it quiet, a float has
   22; the same ones a double keeps that was made of it: a tag, the kind, the mark. */
#define TAG 0x2du
#define TAG_SHIFT 14
#define KIND_SHIFT 13
#define MARK_BITS 0x1fffu
#define HALF_MARKS 255 /* a half has room for the kind and this many marks */

#define HALF_EXPONENT 0x7c00u
#define FLOAT_EXPONENT 0x7f800000u
#define DOUBLE_EXPONENT 0x7ff0000000000000u
#define DOUBLE_SHIFT 29 /* of the digits of a float */

static cl_ulong bits_of(const clc_Dtype *dtype, const void *element) {
  cl_ushort half;
  cl_uint single;
  cl_ulong bits;
  switch (dtype->size) {
    case sizeof half: memcpy(&half, element, sizeof half); return half;
    case sizeof single: memcpy(&single, element, sizeof single); return single;
    default: memcpy(&bits, element, sizeof bits); return bits;
  }
}

void clc_setpoison(const clc_Dtype *dtype, clc_Poison kind, unsigned mark, void *element) {
  const cl_uint is_outside = kind == CLC_OUTSIDE;
  const cl_uint digits = TAG << TAG_SHIFT | is_outside << KIND_SHIFT | (mark & MARK_BITS);
  const cl_ushort half =
      (cl_ushort)(HALF_EXPONENT | is_outside << 8 | ((mark - 1) % HALF_MARKS + 1));
  const cl_uint single = FLOAT_EXPONENT | digits;
  const cl_ulong bits = DOUBLE_EXPONENT | (cl_ulong)digits << DOUBLE_SHIFT;
  if (!dtype->floating)
    memset(element, is_outside ? 0x5a : 0xa5, dtype->size);
  else if (dtype->size == sizeof half)
    memcpy(element, &half, sizeof half);
  else if (dtype->size == sizeof single)
    memcpy(element, &single, sizeof single);
  else
    memcpy(element, &bits, sizeof bits);
}

static size_t find_half(const cl_ushort *v, size_t i, size_t n) {
  while (i < n && (v[i] & HALF_EXPONENT) != HALF_EXPONENT) i++;
  return i;
}

static size_t find_float(const cl_uint *v, size_t i, size_t n) {
  while (i < n && (v[i] & FLOAT_EXPONENT) != FLOAT_EXPONENT) i++;
  return i;
}

static size_t find_double(const cl_ulong *v, size_t i, size_t n) {
  while (i < n && (v[i] & DOUBLE_EXPONENT) != DOUBLE_EXPONENT) i++;
  return i;
}

size_t clc_findnonfinite(const clc_Dtype *dtype, const void *elements, size_t i, size_t n) {
  switch (dtype->size) {
    case sizeof(cl_ushort): return find_half(elements, i, n);
    case sizeof(cl_uint): return find_float(elements, i, n);
    default: return find_double(elements, i, n);
  }
}

const char *clc_nonfinitename(const clc_Dtype *dtype, const void *element) {
  const cl_ulong bits = bits_of(dtype, element), sign = (cl_ulong)1 << (8 * dtype->size - 1);
  const cl_ulong infinity = dtype->size == sizeof(cl_ushort) ? HALF_EXPONENT
                            : dtype->size == sizeof(cl_uint) ? FLOAT_EXPONENT
                                                             : DOUBLE_EXPONENT;
  if (bits == infinity) return "inf";
  return bits == (infinity | sign) ? "-inf" : "nan";
}

clc_Poison clc_readpoison(const clc_Dtype *dtype, const void *element, unsigned *mark) {
  const cl_ulong bits = bits_of(dtype, element);
  if (dtype->size == sizeof(cl_ushort)) return CLC_CLEAN;
  const cl_uint digits = (cl_uint)(dtype->size == sizeof(cl_uint) ? bits : bits >> DOUBLE_SHIFT);
  if ((digits >> TAG_SHIFT & 0xff) != TAG) return CLC_CLEAN;
  *mark = digits & MARK_BITS;
  return (digits >> KIND_SHIFT & 1) != 0 ? CLC_OUTSIDE : CLC_UNSET;
}
