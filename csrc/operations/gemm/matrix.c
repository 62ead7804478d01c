/* SPDX-License-Identifier: MIT */
/* Matrices in device memory, and what is asked of a product of them. */
#include "matrix.h"

size_t clc_parts(size_t n, size_t part) {
  return (n + part - 1) / part;
}

size_t clc_roundup(size_t n, size_t multiple) {
  return clc_parts(n, multiple) * multiple;
}

int clc_isquad(const clc_Matrix *x) {
  return x->offset % 4 == 0 && x->ld % 4 == 0 && x->stride % 4 == 0;
}

clc_Range clc_batchrange(size_t nx, size_t ny, size_t nz, size_t gx, size_t gy) {
  return (clc_Range){3, {nx * gx, ny * gy, nz}, {gx, gy, 1}, {0, 0, 0}, CLC_GIVEN, CLC_ERROR, 1};
}

const char *clc_pushtransposes(lua_State *L, const clc_Multiply *x) {
  return lua_pushfstring(L, "#define TRANSA %d\n#define TRANSB %d\n", x->transa, x->transb);
}

clc_Multiply clc_partof(const clc_Multiply *x, size_t i, size_t j, size_t m, size_t n) {
  clc_Multiply part = *x;
  part.m = x->m - i < m ? x->m - i : m;
  part.n = x->n - j < n ? x->n - j : n;
  part.a.offset += x->transa ? i : i * x->a.ld;
  part.b.offset += x->transb ? j * x->b.ld : j;
  part.c.offset += i * x->c.ld + j;
  return part;
}

clc_Multiply clc_matricesof(const clc_Multiply *x, size_t first, size_t count) {
  clc_Multiply part = *x;
  part.batch = x->batch - first < count ? x->batch - first : count;
  part.a.offset += first * x->a.stride;
  part.b.offset += first * x->b.stride;
  part.c.offset += first * x->c.stride;
  return part;
}
