/* SPDX-License-Identifier: MIT */
/* gemm: products of matrices in device memory, for scripts and for other operations. */
#ifndef CLC_GEMM_H
#define CLC_GEMM_H

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

/* Values for a kernel: of one matrix memory, offset and ld; of a batch the stride too. */
static inline clc_Value clc_matrix(const clc_Matrix *x) {
  return (clc_Value){.kind = CLC_MEMORY, .memory = x->b, .places = 2, .place = {x->offset, x->ld}};
}

static inline clc_Value clc_matrices(const clc_Matrix *x) {
  return (clc_Value){
      .kind = CLC_MEMORY, .memory = x->b, .places = 3, .place = {x->offset, x->ld, x->stride}};
}

/* How exact a product of floats has to be: as floats, as floats but on tensor cores, or as numbers
   of eleven bits. Any product may be more exact; doubles always are. */
typedef enum { CLC_FLOAT, CLC_FLOATTENSOR, CLC_TF32 } clc_Precision;

/* C <- alpha * op(A) * op(B) + beta * C, for each matrix of a batch. */
typedef struct clc_Multiply {
  clc_Precision precision;
  size_t batch, m, n, k;
  lua_Number alpha, beta;
  int transa, transb;
  int waits; /* for the fast kernel, should a plain one serve for now */
  clc_Matrix a, b, c;
} clc_Multiply;

/* Fast is what suits the device and the product best. */
typedef enum { CLC_NAIVE, CLC_TILED, CLC_FAST } clc_Multiplier;

/* Queues the product on the device of C. The matrices fit their buffers, and C shares no
   element with A or B. */
void clc_multiply(lua_State *L, clc_Multiplier multiplier, const clc_Multiply *x);

/* Groups of gx x gy work-items: nx of them along dimension 0, ny along 1, and nz matrices. */
clc_Range clc_batchrange(size_t nx, size_t ny, size_t nz, size_t gx, size_t gy);

void clc_opengemm(lua_State *L);

#endif
