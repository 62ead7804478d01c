/* SPDX-License-Identifier: MIT */
/* Elimination with partial pivoting, by blocks, so that most of it is a product of matrices. */
#ifndef CLC_LU_BLOCKS_H
#define CLC_LU_BLOCKS_H

#include "lu_columns.h"

/* Rows and columns that a matrix of n has in memory, and elements from row to row: what is behind
   the n-th is zero. */
size_t clc_paddedrows(size_t n);
size_t clc_paddedrow(size_t n, const clc_Dtype *dtype);

/* Queues: rows i0 .. i1 - 1 of columns e .. end - 1, less multipliers from columns k .. s - 1 times
   the rows of U that those name. */
void clc_subtractproduct(lua_State *L, const clc_Elimination *x, size_t i0, size_t i1, size_t k,
                         size_t s, size_t e, size_t end);

/* Queues the elimination of the whole matrix. */
void clc_eliminateblocks(lua_State *L, const clc_Elimination *x);

#endif
