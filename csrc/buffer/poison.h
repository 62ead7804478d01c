/* SPDX-License-Identifier: MIT */
/*
 * Poison: what check mode puts where nothing was written yet, and round each buffer.
 *
 * Of a floating type it is a signalling NaN with a mark in its digits. Copied it stays what it is;
 * what is computed from it is a quiet NaN, on many devices with the same mark. Integers have no
 * such value: they get a number that catches the eye.
 */
#ifndef CLC_POISON_H
#define CLC_POISON_H

#include "base/base.h"

#define CLC_MARKS 8191 /* marks are 1 .. this */

typedef enum { CLC_CLEAN, CLC_UNSET, CLC_OUTSIDE } clc_Poison;

/* Writes an element that is poison of that kind and mark. */
void clc_setpoison(const clc_Dtype *dtype, clc_Poison kind, unsigned mark, void *element);

/* The first NaN or infinity from index i on among n elements of a floating type; n: none. */
size_t clc_findnonfinite(const clc_Dtype *dtype, const void *elements, size_t i, size_t n);

/* "nan", "inf" or "-inf", for such an element. */
const char *clc_nonfinitename(const clc_Dtype *dtype, const void *element);

/* Which poison went into a NaN, as far as its digits tell; a half has too few. */
clc_Poison clc_readpoison(const clc_Dtype *dtype, const void *element, unsigned *mark);

#endif
