/* SPDX-License-Identifier: MIT */
/* How good a solution of linear equations is. */
#ifndef CLC_ACCURACY_H
#define CLC_ACCURACY_H

#include "buffer/buffer.h"

/* Of a solve: ||A x - b|| / (||A|| ||x|| eps), in the 1-norm, beyond which it is no
   longer the exact solution of a nearby system (LAPACK's test threshold). */
#define CLC_MAXRATIO 30

/* The spacing of the dtype's numbers at 1: 2^-23 or 2^-52. */
double clc_epsilon(const clc_Dtype *dtype);

/* Systems A X = B: one, or where A has three dimensions as many as it has matrices. */
typedef struct clc_Systems {
  size_t count, n, columns; /* of them; rows; right-hand sides of each */
} clc_Systems;

clc_Systems clc_systemsof(const clc_Buffer *a, const clc_Buffer *b);

/* The 1-norm of a matrix or a vector; of more dimensions that of all rows as one matrix. Raises
   where an element is NaN or infinite, naming it as an element of `name` ("gauss: a"). Blocks. */
double clc_checknorm1(lua_State *L, clc_Buffer *b, const char *name);

/* Queues R = B - A X in twice the precision. */
void clc_residual(lua_State *L, clc_Buffer *a, clc_Buffer *x, clc_Buffer *b, clc_Buffer *r);

/* The largest backward error ratio of the columns of x in each system, from the residual and the
   norms of the matrices; returns the largest of them. Blocks. */
double clc_ratios(lua_State *L, const clc_Systems *s, const double *norms, clc_Buffer *x,
                  clc_Buffer *r, double *ratios);

#endif
