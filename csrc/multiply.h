/* SPDX-License-Identifier: MIT */
/* The product of matrices in device memory: what gemm, LU and others compute with. */
#ifndef CLC_MULTIPLY_H
#define CLC_MULTIPLY_H

#include "memory.h"

#pragma GCC visibility push(hidden)

/* A matrix as it is stored, row-major, or one such matrix after the other. */
typedef struct clc_Matrix {
  clc_Buffer *b;
  size_t offset; /* elements of the memory before the first one */
  size_t rows, cols;
  size_t ld;     /* elements from row to row */
  size_t stride; /* and from one matrix of a batch to the next; 0: the same for all */
} clc_Matrix;

/* C <- alpha * op(A) * op(B) + beta * C, for each matrix of a batch. */
typedef struct clc_Multiply {
  size_t batch, m, n, k;
  lua_Number alpha, beta;
  int transa, transb;
  clc_Matrix a, b, c;
} clc_Multiply;

/* Fast is what suits the device and the product best. */
typedef enum { CLC_NAIVE, CLC_TILED, CLC_FAST } clc_Multiplier;

/* Queues the product on the device of C. The matrices fit their buffers, and C shares no
   element with A or B. */
void clc_multiply(lua_State *L, clc_Multiplier multiplier, const clc_Multiply *x);

#pragma GCC visibility pop

#endif
