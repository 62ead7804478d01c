/* SPDX-License-Identifier: MIT */
/* Gauss elimination as Baranov & Vlatskaya 2013 have it. */
#ifndef CLC_GAUSS_PAPER_H
#define CLC_GAUSS_PAPER_H

#include "buffer/buffer.h"

typedef struct clc_PaperOptions {
  size_t group;       /* work-group size along the first dimension; OGS in the paper */
  int shrink;         /* the range shrinks with the step, instead of being guarded */
  int host_remainder; /* the host computes what is left of whole groups */
} clc_PaperOptions;

/*
 * Pushes the solution of A x = b, without pivoting. Raises where a pivot is zero
 * or not finite. Blocks.
 */
clc_Buffer *clc_papersolve(lua_State *L, clc_Buffer *a, clc_Buffer *b, clc_PaperOptions options);

#endif
