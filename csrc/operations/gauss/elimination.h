/* SPDX-License-Identifier: MIT */
/* Elimination with partial pivoting, queued: how a matrix becomes its LU factors where it lies. */
#ifndef CLC_ELIMINATION_H
#define CLC_ELIMINATION_H

#include "operations/gemm/gemm.h"
#include "operations/operations.h"
#include "systems.h"

/* The row of LU for a device and a dtype (lua/clcompute/tuning/known.lua says what they mean). */
typedef struct clc_LuRow {
  size_t vector, group, columns, block, large, few, small;
  size_t rows, warp;       /* of a tournament; 0: panels are none */
  size_t share;            /* rows of a work-item there; 0: one */
  size_t last, last_share; /* both, in its last round; `last` 0: as many as in others */
  size_t items;            /* rows up to which a system of a batch has a work-item for each */
} clc_LuRow;

clc_LuRow clc_getlurow(lua_State *L, const clc_Buffer *like);

/* For systems of so many multiply-adds, which plain kernels may serve while the fast ones are not
   built: that holds until the next ones. */
clc_LuRow clc_getlurowfor(lua_State *L, const clc_Buffer *like, double work);
#define CLC_ANYWORK INFINITY /* enough for the fast ones */

/* A matrix that becomes its LU factors. */
typedef struct clc_Elimination {
  clc_Buffer *w;
  size_t n, ld;         /* rows and columns; elements from row to row */
  clc_Buffer *pivots;   /* row k was exchanged with row pivots[k], from 0 */
  clc_Buffer *diagonal; /* of U */
} clc_Elimination;

/* Rows and columns that a matrix of n has in memory, and elements from row to row: what is behind
   the n-th is zero. */
size_t clc_paddedrows(size_t n);
size_t clc_paddedrow(size_t n, const clc_Dtype *dtype);

/* Rows i0 .. i1 - 1 of columns e .. end - 1, less multipliers from columns k .. s - 1 times the
   rows of U that those name. */
void clc_subtractproduct(lua_State *L, const clc_Elimination *x, size_t i0, size_t i1, size_t k,
                         size_t s, size_t e, size_t end);

/* The whole matrix: column by column; by blocks; by blocks with tournaments, where all of it up to
   a multiple of 32 rows and columns is zero from the n-th on. */
void clc_eliminatecolumns(lua_State *L, const clc_Elimination *x);
void clc_eliminateblocks(lua_State *L, const clc_Elimination *x, const clc_LuRow *row);
void clc_eliminatetournament(lua_State *L, const clc_Elimination *x, const clc_LuRow *row);

/* The first columns of n rows, at least as many. Behind the n-th row and the last column W is zero
   up to a multiple of 32; pivots and diagonal have a place for each column. */
void clc_eliminatepanel(lua_State *L, const clc_Elimination *x, size_t columns,
                        const clc_LuRow *row);

/* The same by a tournament, whose block holds the columns; and whether that is so. */
void clc_eliminatetournamentpanel(lua_State *L, const clc_Elimination *x, size_t columns,
                                  const clc_LuRow *row);
int clc_panelistournament(const clc_LuRow *row, size_t columns);

/* Rows of U: in columns `block` .. end - 1 of as many rows, by the factors left of them. */
void clc_solvetournamentrows(lua_State *L, const clc_Elimination *x, size_t end,
                             const clc_LuRow *row);

/* Many small matrices, packed one after the other, that become their LU factors. */
typedef struct clc_Batch {
  size_t count, n;
  clc_Buffer *w, *pivots, *diagonal; /* n x n and n elements of each */
  clc_Buffer *order; /* the row of the matrix that has become a row of w; NULL where groups do not
                        have an item for each row */
  clc_Buffer *facts; /* two numbers of each: its 1-norm, which is infinite where an element is NaN;
                        the first column, from 1, whose pivot is zero or not finite, or 0 */
  clc_Buffer *fault; /* where there is an order: becomes 1 where a norm is not finite, or a matrix
                        has such a column */
} clc_Batch;

/* Work-items of a group that has one for each of n rows; 0: groups of this device have not, or not
   any more, as its numbers changed. */
size_t clc_batchrows(lua_State *L, const clc_Buffer *like, size_t n);

/* The matrices of a, in one launch. */
void clc_eliminatebatch(lua_State *L, clc_Buffer *a, const clc_Batch *x);

/* The solution of their systems; b and x have n rows of so many columns for each. */
void clc_solvebatch(lua_State *L, const clc_Batch *f, size_t columns, clc_Buffer *b, clc_Buffer *x);

/* Where f has an order: estimates of the 1-norms of the inverses, from below. */
void clc_estimatebatch(lua_State *L, const clc_Batch *f, clc_Buffer *inverses);

/* R = B - A X by groups with an item a row, and three numbers for each column of each system:
   the largest |x|, the sum of |x| in its units, the sum of |r|. */
void clc_judgebatch(lua_State *L, const clc_Systems *s, clc_Buffer *a, clc_Buffer *x, clc_Buffer *b,
                    clc_Buffer *r, clc_Buffer *sums);

#endif
