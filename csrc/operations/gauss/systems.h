/* SPDX-License-Identifier: MIT */
/* Systems of linear equations: how good a solution is, and the paper's way to one. */
#ifndef CLC_SYSTEMS_H
#define CLC_SYSTEMS_H

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

/* R = B - A X in twice the precision, and of each system the largest backward error ratio of its
   columns, with the norms of the matrices; returns the largest of them. Blocks. */
double clc_judge(lua_State *L, const clc_Systems *s, const double *norms, clc_Buffer *a,
                 clc_Buffer *x, clc_Buffer *b, clc_Buffer *r, double *ratios);

typedef struct clc_PaperOptions {
  const char *name;   /* of the function: begins messages */
  size_t group;       /* work-group size along the first dimension; OGS in the paper */
  int shrink;         /* the range shrinks with the step, instead of being guarded */
  int host_remainder; /* the host computes what is left of whole groups */
} clc_PaperOptions;

/* Pushes the solution of A x = b as Baranov & Vlatskaya 2013 have it, without pivoting. Raises
   where a pivot is zero or not finite. Blocks. */
clc_Buffer *clc_papersolve(lua_State *L, clc_Buffer *a, clc_Buffer *b, clc_PaperOptions options);

#endif
