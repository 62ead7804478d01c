/* SPDX-License-Identifier: MIT */
/* LU factors with partial pivoting on the device, and what they tell. */
#ifndef CLC_LU_H
#define CLC_LU_H

#include "memory.h"

#pragma GCC visibility push(hidden)

typedef struct clc_Lu {
  clc_Buffer *lu;         /* U, and below its diagonal the multipliers L */
  size_t n, ld;           /* rows and columns; elements from row to row */
  clc_Buffer *exchanges;  /* the pivots on the device */
  const int *pivots;      /* row k was exchanged with row pivots[k], from 0 */
  const double *diagonal; /* of U */
  double norm;            /* of the matrix, the 1-norm */
} clc_Lu;

/*
 * Factors a copy of the n x n buffer a, by blocks or column by column. Pushes what the result
 * consists of, in one table. Blocks. Raises where an element is NaN or infinite, or a pivot zero
 * or not finite: what (an operation's name) begins the message.
 */
clc_Lu clc_factor(lua_State *L, clc_Buffer *a, int by_blocks, const char *what);

/* The determinant. */
double clc_determinant(const clc_Lu *f);

#pragma GCC visibility pop

#endif
