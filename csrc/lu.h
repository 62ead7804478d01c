/* SPDX-License-Identifier: MIT */
/* LU factors with partial pivoting on the device, and what is made of them. */
#ifndef CLC_LU_H
#define CLC_LU_H

#include "memory.h"

#pragma GCC visibility push(hidden)

typedef struct clc_Lu {
  clc_Buffer *lu; /* n x n: U, and below its diagonal the multipliers L */
  size_t n;
  const int *pivots;      /* row k was exchanged with row pivots[k], from 0 */
  const double *diagonal; /* of U */
} clc_Lu;

/*
 * Factors a copy of the n x n buffer a. Pushes what the result consists of, in
 * one table. Blocks. Zeros or NaN on the diagonal are the caller's to judge.
 */
clc_Lu clc_factor(lua_State *L, clc_Buffer *a);

/* Pushes the buffer with the solution of A X = B; b has n rows. Queued. */
clc_Buffer *clc_lusolve(lua_State *L, const clc_Lu *f, clc_Buffer *b);

/* Reciprocal condition number in the 1-norm, from the norm of A: estimated from
   below for the norm of the inverse (Higham 1988), usually exact. Blocks. */
double clc_rcond(lua_State *L, const clc_Lu *f, double norm);

#pragma GCC visibility pop

#endif
