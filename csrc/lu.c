/* SPDX-License-Identifier: MIT */
/* LU factors with partial pivoting on the device, and what they tell. */
#include "lu.h"

#include <math.h>
#include <string.h>

#include "accuracy.h"
#include "lu_blocks.h"
#include "operand.h"
#include "prebuilt.h"
#include "tuning.h"

#define CHUNK 256 /* rows that lu_load sums at once */

static size_t chunks_of(size_t rows) {
  return (rows + CHUNK - 1) / CHUNK;
}

/* Queues the copy of a to where it is factored, and its sums behind the diagonal. */
static void load(lua_State *L, clc_Buffer *a, const clc_Elimination *x) {
  clc_Device *d = a->device;
  clc_pushtuning(L, d, "lu", a->dtype);
  const int vector = clc_tuned(L, "vector"), vectors = vector > 1 ? 4 : 1;
  const size_t rows = clc_paddedrows(x->n), width = (size_t)(vector * vectors),
               group = (size_t)clc_tuned(L, "group");
  const char *defines = lua_pushfstring(L, "#define V %d\n#define VECTORS %d\n#define CHUNK %d\n",
                                        vector, vectors, CHUNK);
  clc_Kernel *k = clc_prebuilt(L, d, "lu_load", a->dtype, defines);
  const clc_Range range = clc_padded2((x->ld + width - 1) / width, chunks_of(rows), group, 1);
  clc_setarguments(L, k, "iibibib", (lua_Integer)x->n, (lua_Integer)rows, a, (lua_Integer)a->offset,
                   x->w, (lua_Integer)x->ld, x->diagonal);
  clc_launch(L, k, &range, NULL);
  lua_pop(L, 3);
}

/* The largest sum of a column, from its parts behind the diagonal. */
static double largest_sum(const double *sums, size_t n, size_t ld) {
  double largest = 0;
  for (size_t j = 0; j < n; j++) {
    double sum = 0;
    for (size_t i = 1; i <= chunks_of(clc_paddedrows(n)); i++) sum += sums[i * ld + j];
    if (!(sum <= largest)) largest = sum;
    if (isnan(sum)) break;
  }
  return largest;
}

/* Zero exactly: a bound would reject systems that are merely scaled. */
static void check_diagonal(lua_State *L, const double *diagonal, size_t n, const char *what) {
  for (size_t k = 0; k < n; k++) {
    if (diagonal[k] == 0)
      luaL_error(L, "%s: matrix is singular: column %d has no pivot", what, (int)k + 1);
    if (!isfinite(diagonal[k]))
      luaL_error(L, "%s: the elimination overflows in column %d", what, (int)k + 1);
  }
}

clc_Lu clc_factor(lua_State *L, clc_Buffer *a, int by_blocks, const char *what) {
  clc_Device *d = a->device;
  const size_t n = a->shape.dim[0], ld = clc_paddedrow(n, a->dtype), rows = clc_paddedrows(n);
  lua_createtable(L, 4, 0);
  const int parts = lua_gettop(L);
  clc_Elimination x = {.n = n, .ld = ld};
  x.w = clc_newbuffer(L, d, a->dtype, &(clc_Shape){1, {rows * ld}});
  lua_rawseti(L, parts, 1);
  x.pivots = clc_newbuffer(L, d, clc_int, &(clc_Shape){1, {n}});
  lua_rawseti(L, parts, 2);
  x.diagonal = clc_newbuffer(L, d, a->dtype, &(clc_Shape){1, {(1 + chunks_of(rows)) * ld}});
  if (n > 0) load(L, a, &x);
  if (by_blocks)
    clc_eliminateblocks(L, &x);
  else
    clc_eliminatecolumns(L, &x, 0, n);
  const double *numbers = clc_pushdoubles(L, x.diagonal);
  clc_Lu f = {.lu = x.w, .n = n, .ld = ld, .exchanges = x.pivots};
  f.norm = largest_sum(numbers, n, ld);
  if (!isfinite(f.norm)) f.norm = clc_checknorm1(L, a, lua_pushfstring(L, "%s: a", what));
  check_diagonal(L, numbers, n, what);
  f.diagonal = memcpy(lua_newuserdatauv(L, n * sizeof *numbers, 0), numbers, n * sizeof *numbers);
  lua_rawseti(L, parts, 3);
  int *pivots = lua_newuserdatauv(L, n * sizeof *pivots, 0);
  lua_rawseti(L, parts, 4);
  clc_readbuffer(L, x.pivots, 0, n, pivots);
  f.pivots = pivots;
  clc_release(&x.diagonal->h);
  lua_settop(L, parts);
  return f;
}

double clc_determinant(const clc_Lu *f) {
  double product = 1; /* its exponent beside it, lest a part of the product overflow */
  long exponent = 0;
  for (size_t k = 0; k < f->n; k++) {
    int e;
    product =
        frexp(f->pivots[k] == (int)k ? product * f->diagonal[k] : -product * f->diagonal[k], &e);
    exponent += e;
  }
  if (exponent > 4096) exponent = 4096;
  if (exponent < -4096) exponent = -4096;
  return ldexp(product, (int)exponent);
}
