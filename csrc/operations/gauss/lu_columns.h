/* SPDX-License-Identifier: MIT */
/* Elimination with partial pivoting, column by column. */
#ifndef CLC_LU_COLUMNS_H
#define CLC_LU_COLUMNS_H

#include "buffer/buffer.h"

/* A matrix that becomes its LU factors where it lies. */
typedef struct clc_Elimination {
  clc_Buffer *w;
  size_t n, ld;         /* rows and columns; elements from row to row */
  clc_Buffer *pivots;   /* row k was exchanged with row pivots[k], from 0 */
  clc_Buffer *diagonal; /* of U */
} clc_Elimination;

/* Queues the elimination of columns first .. end - 1 from row `first` on. Rows are exchanged, and
   updated, within these columns. */
void clc_eliminatecolumns(lua_State *L, const clc_Elimination *x, size_t first, size_t end);

#endif
