/* SPDX-License-Identifier: MIT */
/*
 * What reductions share: the operation, and how a result is written.
 */
#ifndef CLC_REDUCTION_H
#define CLC_REDUCTION_H

#include "elementwise.h"

#ifndef ORDERED
#define ORDERED 0 /* 1: from left to right, for what does not commute */
#endif
#ifndef OPERATION
#define OPERATION a + b /* of two results a, b */
#endif
#ifndef FINISH
#define FINISH a /* what is written of result a of n elements */
#endif
#ifndef STORED
#define STORED RESULT /* dtype of out: uchar, the bytes of structs, where RESULT is one */
#endif
#ifndef IS_STRUCT
#define IS_STRUCT 0 /* 1: RESULT is a struct */
#endif

static RESULT clc_combine(const RESULT a, const RESULT b) {
  return OPERATION;
}

/* Result i; a number becomes one of the dtype of out. */
#if IS_STRUCT
#define WRITE_RESULT(i, value) ((__global RESULT *)(out + out_first))[i] = value
#else
#define WRITE_RESULT(i, value)    \
  {                               \
    const RESULT a = value;       \
    WRITE(out_first + (i), FINISH); \
  }
#endif

#endif
