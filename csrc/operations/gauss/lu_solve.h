/* SPDX-License-Identifier: MIT */
/* Solving with LU factors. */
#ifndef CLC_LU_SOLVE_H
#define CLC_LU_SOLVE_H

#include "lu.h"

/* Pushes the buffer with the solution of A X = B; b has n rows, of each system where they are a
   batch. Queued. */
clc_Buffer *clc_lusolve(lua_State *L, const clc_Lu *f, clc_Buffer *b);

/* Queues the solution of A X = B, or of A^T X = B, for a few columns: b and x have n rows of so
   many elements. Not for a batch. */
void clc_lusolvefew(lua_State *L, const clc_Lu *f, int transposed, size_t columns, clc_Buffer *b,
                    clc_Buffer *x);

#endif
