/* SPDX-License-Identifier: MIT */
/* LU factors with partial pivoting on the device: made, solved with, and what they tell. */
#ifndef CLC_LU_H
#define CLC_LU_H

#include "buffer/buffer.h"

/* How a matrix is factored: column by column; by blocks; or as a batch of one, by a work-item of a
   CPU or a group of a GPU: fewer kernels to build, and as fast, for small matrices (`small` of the
   row) and a few columns. */
typedef enum { CLC_BYCOLUMNS, CLC_BYBLOCKS, CLC_ASBATCH } clc_Way;

typedef struct clc_Lu {
  clc_Buffer *lu;         /* U, and below its diagonal the multipliers L */
  size_t n, ld;           /* rows and columns; elements from row to row */
  size_t count;           /* matrices, n * n elements apart where is_batch */
  int is_batch;           /* the matrices came as one buffer of three dimensions */
  int is_small;           /* by the kernels of a batch all the same */
  clc_Buffer *exchanges;  /* the pivots on the device */
  clc_Buffer *order;      /* of rows, that the exchanges amount to; on a GPU, and of a batch where
                             groups have an item a row, else NULL */
  const int *pivots;      /* n of each: row k was exchanged with row pivots[k], from 0; or NULL */
  const double *diagonal; /* n of each: of U; or NULL */
  double *norms;          /* 1-norm of each matrix; or NULL */
  clc_Buffer *unread;     /* the diagonal on the device, of a batch */
  clc_Buffer *facts;      /* of a batch, as in clc_Batch */
} clc_Lu;

/* Where the table of factors has the pivots, a userdata, and the facts of a batch; so many values
   it has. */
#define CLC_LUPIVOTS 4
#define CLC_LUFACTS 10

/*
 * Factors a copy of the n x n buffer a in one of the ways, or of the matrices of a count x n x n
 * buffer. Pushes what the result consists of, in one table. Blocks. Raises where an element is NaN
 * or infinite, or a pivot zero or not finite: what (an operation's name) begins the message. Who
 * needs the norms gets them on the way.
 */
clc_Lu clc_factor(lua_State *L, clc_Buffer *a, clc_Way way, int with_norms, const char *what);

/* Bring norms, pivots or diagonal to the host, where those of a batch come when they are asked for.
   The factors' table, which gets them, is at that index. Block. */
void clc_neednorms(lua_State *L, int table, clc_Lu *f);
void clc_needpivots(lua_State *L, int table, clc_Lu *f);
void clc_needdiagonal(lua_State *L, int table, clc_Lu *f);

/* Pushes how a message about one of the matrices begins: "lu: " or "lu: system 3: ". */
const char *clc_pushsystem(lua_State *L, const clc_Lu *f, size_t i, const char *what);

/* Pushes a buffer of the order of rows that the exchanges amount to. */
clc_Buffer *clc_pushorder(lua_State *L, const clc_Lu *f);

/* Lets go of the factors whose table is at the top, which is popped. Their memory serves the next
   ones, unless another queue may still read it. They may have been released with their device. */
void clc_dropfactors(lua_State *L, int is_shared);

/* The determinant of one of the matrices, whose pivots and diagonal are on the host. */
double clc_determinant(const clc_Lu *f, size_t i);

/* Queues the solution of A X = B; b and x have n rows, of each system where they are a batch. */
void clc_lusolve(lua_State *L, const clc_Lu *f, clc_Buffer *b, clc_Buffer *x);

/* Queues the solution of T X = B in place, X being n rows of so many columns. T is the unit lower
   triangle of w, or the upper one, or its transpose; w has zeros as lu_sweep needs them. */
void clc_substitute(lua_State *L, clc_Buffer *w, size_t n, int is_lower, int is_transposed,
                    size_t columns, clc_Buffer *x);

/* Queues the solution of A X = B, or on a device with vectors of A^T X = B, for a few columns: b
   and x have n rows of so many elements. Not for a batch. */
void clc_lusolvefew(lua_State *L, const clc_Lu *f, int transposed, size_t columns, clc_Buffer *b,
                    clc_Buffer *x);

/* Half the exponent of a matrix's norm, as a power of two: an inverse is estimated by what it makes
   of vectors of that size, lest the estimate overflow where the condition number does not. */
double clc_sizeofvectors(double norm);

/* On a GPU, for a few columns, or none: queues that solution, and what is found of the 1-norm of
   the inverse on the way, from below (Higham 1988), times the size of the vectors: one number, to
   `most`. Not for a batch. */
void clc_luwalk(lua_State *L, const clc_Lu *f, size_t columns, clc_Buffer *b, clc_Buffer *x,
                clc_Buffer *most);

/* Whether it is for these factors: of small ones the host knows sooner. */
int clc_canwalk(lua_State *L, const clc_Lu *f);

/* The reciprocal condition number of the only matrix, from the estimate. Blocks. */
double clc_walkrcond(lua_State *L, const clc_Lu *f, clc_Buffer *most);

/* Reciprocal condition numbers in the 1-norm, of each matrix: estimated from below for the norm of
   the inverse (Higham 1988), usually exact. Blocks. */
void clc_rconds(lua_State *L, int table, clc_Lu *f, double *rconds);

/* The function cl.lu, and its objects. */
void clc_openfactors(lua_State *L);

#endif
