/* SPDX-License-Identifier: MIT */
/* What a call of gemm says besides its operands, all of them packed and row-major. */
#ifndef CLC_PRODUCT_H
#define CLC_PRODUCT_H

#include "base/base.h"

typedef struct clc_Product {
  int m, n, k;
  int transa, transb;
  int lda, ldb, ldc; /* elements from row to row */
  double alpha, beta;
} clc_Product;

/* m, n, k and a table of options, from that argument on. */
clc_Product clc_checkproduct(lua_State *L, int arg);

/* The product of two extents, which cannot overflow. */
size_t clc_area(int rows, int cols);

/* An extent or a count: libraries take an int. */
int clc_checkextent(lua_State *L, int arg);

#endif
