/* SPDX-License-Identifier: MIT */
/* What a call of gemm says besides its operands, all of them packed and row-major. */
#include "product.h"

#include <limits.h>

int clc_checkextent(lua_State *L, int arg) {
  const lua_Integer n = luaL_checkinteger(L, arg);
  if (n < 0 || n > INT_MAX) clc_argerror(L, arg, "%I is outside 0 .. %d", (LUAI_UACINT)n, INT_MAX);
  return (int)n;
}

size_t clc_area(int rows, int cols) {
  return (size_t)rows * (size_t)cols;
}

/* BLAS wants rows at least 1 apart, even where they are empty. */
static int distance(int cols) {
  return cols > 0 ? cols : 1;
}

clc_Product clc_checkproduct(lua_State *L, int arg) {
  static const char *const keys[] = {"alpha", "beta", "transa", "transb", NULL};
  const int options = arg + 3;
  clc_Product p = {0};
  p.m = clc_checkextent(L, arg);
  p.n = clc_checkextent(L, arg + 1);
  p.k = clc_checkextent(L, arg + 2);
  clc_checkoptions(L, options, keys);
  p.alpha = clc_numberoption(L, options, "alpha", 1);
  p.beta = clc_numberoption(L, options, "beta", 0);
  p.transa = clc_booleanoption(L, options, "transa", 0);
  p.transb = clc_booleanoption(L, options, "transb", 0);
  p.lda = distance(p.transa ? p.m : p.k);
  p.ldb = distance(p.transb ? p.k : p.n);
  p.ldc = distance(p.n);
  return p;
}
