/* SPDX-License-Identifier: MIT */
/* Elimination with partial pivoting, column by column. */
#include "lu_columns.h"

#include "operations/operand.h"
#include "operations/prebuilt.h"

typedef struct {
  clc_Kernel *pivot, *swap, *update;
} Kernels;

/* Pushes the three, so that they stay. */
static Kernels push_kernels(lua_State *L, clc_Device *d, const clc_Dtype *dtype) {
  Kernels k;
  const char *defines = lua_pushfstring(L, "#define GROUP %d\n", (int)clc_tasksize(d));
  k.pivot = clc_prebuilt(L, d, "lu_pivot", dtype, defines);
  k.swap = clc_prebuilt(L, d, "lu_swap", dtype, "");
  k.update = clc_prebuilt(L, d, "lu_update", dtype, "");
  return k;
}

static void eliminate_column(lua_State *L, const Kernels *kernels, const clc_Elimination *x,
                             size_t k, size_t first, size_t end) {
  const clc_Device *d = x->w->device;
  const size_t group = clc_tasksize(d), below = x->n - k - 1;
  const lua_Integer n = (lua_Integer)x->n, ld = (lua_Integer)x->ld, column = (lua_Integer)k;
  const clc_Range one = clc_padded1(group, group), line = clc_padded1(end - first + below, group),
                  square = clc_covermatrix(d, below, end - k - 1);
  clc_setarguments(L, kernels->pivot, "iibibb", n, column, x->w, ld, x->pivots, x->diagonal);
  clc_launch(L, kernels->pivot, &one, NULL);
  clc_setarguments(L, kernels->swap, "iiiibibb", n, column, (lua_Integer)first, (lua_Integer)end,
                   x->w, ld, x->pivots, x->diagonal);
  clc_launch(L, kernels->swap, &line, NULL);
  clc_setarguments(L, kernels->update, "iiibi", n, column, (lua_Integer)end, x->w, ld);
  clc_launch(L, kernels->update, &square, NULL);
}

void clc_eliminatecolumns(lua_State *L, const clc_Elimination *x, size_t first, size_t end) {
  const int top = lua_gettop(L);
  const Kernels kernels = push_kernels(L, x->w->device, x->w->dtype);
  for (size_t k = first; k < end; k++) eliminate_column(L, &kernels, x, k, first, end);
  lua_settop(L, top);
}
