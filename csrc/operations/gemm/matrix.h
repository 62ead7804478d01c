/* SPDX-License-Identifier: MIT */
/* Matrices in device memory, and what is asked of a product of them. */
#ifndef CLC_MATRIX_H
#define CLC_MATRIX_H

#include "buffer/buffer.h"
#include "kernel/kernel.h"

/* A matrix as it is stored, row-major, or one such matrix after the other. */
typedef struct clc_Matrix {
  clc_Buffer *b;
  size_t offset; /* elements of the memory before the first one */
  size_t rows, cols;
  size_t ld;     /* elements from row to row */
  size_t stride; /* and from one matrix of a batch to the next; 0: the same for all */
} clc_Matrix;

/* How exact a product of floats has to be: as floats, as floats but on tensor cores, or as numbers
   of eleven bits. Any product may be more exact; doubles always are. */
typedef enum { CLC_FLOAT, CLC_FLOATTENSOR, CLC_TF32 } clc_Precision;

/* C <- alpha * op(A) * op(B) + beta * C, for each matrix of a batch. */
typedef struct clc_Multiply {
  clc_Precision precision;
  size_t batch, m, n, k;
  lua_Number alpha, beta;
  int transa, transb;
  clc_Matrix a, b, c;
} clc_Multiply;

/* How many parts of that size cover n. */
size_t clc_parts(size_t n, size_t part);

/* The next multiple from n on. */
size_t clc_roundup(size_t n, size_t multiple);

/* Whether a matrix's rows can be accessed four elements at a time. */
int clc_isquad(const clc_Matrix *x);

/* The part of a product that computes m x n elements of C from (i, j) on, as far as there are. */
clc_Multiply clc_partof(const clc_Multiply *x, size_t i, size_t j, size_t m, size_t n);

/* The products of `count` matrices of a batch from `first` on, as far as there are. */
clc_Multiply clc_matricesof(const clc_Multiply *x, size_t first, size_t count);

/* Groups of gx x gy work-items: nx of them along dimension 0, ny along 1, and nz matrices. */
clc_Range clc_batchrange(size_t nx, size_t ny, size_t nz, size_t gx, size_t gy);

/* Pushes the macros that tell a kernel which operand is transposed. */
const char *clc_pushtransposes(lua_State *L, const clc_Multiply *x);

#endif
