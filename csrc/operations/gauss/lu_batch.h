/* SPDX-License-Identifier: MIT */
/* Many small systems in one launch. */
#ifndef CLC_LU_BATCH_H
#define CLC_LU_BATCH_H

#include "lu_columns.h"

/* Queues the factorization of the matrices of a, packed one after the other, into x->w. The
   diagonal of each is followed by its 1-norm, which is infinite where an element is NaN. */
void clc_eliminatebatch(lua_State *L, clc_Buffer *a, size_t count, const clc_Elimination *x);

/* Queues the solution of their systems; b and x have n rows of so many columns for each. */
void clc_solvebatch(lua_State *L, size_t count, size_t columns, const clc_Elimination *f,
                    clc_Buffer *b, clc_Buffer *x);

#endif
