/* SPDX-License-Identifier: MIT */
/* The product of floats by tensor cores, for the classes of precision that allow it. */
#include "tensor.h"

#include <string.h>

#include "pipelined.h"
#include "operations/tuning.h"
#include "warpgroups.h"

/* What the tuning of a class is called, and how many products of parts of elements it takes. */
static const struct {
  const char *operation;
  int products;
} classes[] = {[CLC_FLOATTENSOR] = {"gemm float-tensor", 3}, [CLC_TF32] = {"gemm tf32", 1}};

/* Whether the row on top of the stack is of a kernel for sums of so many products. */
static int is_kernel(lua_State *L, const char *name, const clc_Multiply *x) {
  lua_getfield(L, -1, "kernel");
  const int is = lua_isstring(L, -1) && strcmp(lua_tostring(L, -1), name) == 0;
  lua_pop(L, 1);
  return is && x->k >= (size_t)clc_tuned(L, "depth");
}

int clc_multiplytensor(lua_State *L, const clc_Multiply *x) {
  if (x->precision == CLC_FLOAT || x->c.b->dtype != clc_float) return 0;
  clc_pushtuning(L, x->c.b->device, classes[x->precision].operation, x->c.b->dtype);
  const int products = classes[x->precision].products;
  if (is_kernel(L, "warpgroups", x)) return clc_multiplywarpgroups(L, x, products);
  if (!is_kernel(L, "tensor", x)) return 0;
  const char *defines = lua_pushfstring(L, "#define PRODUCTS %d\n", products);
  lua_insert(L, -2);
  return clc_multiplypipelined(L, x, "gemm_tensor", defines);
}
