/* SPDX-License-Identifier: MIT */
/* Many small systems in one launch. */
#include "lu_batch.h"

#include "operations/operand.h"
#include "operations/prebuilt.h"
#include "operations/tuning.h"

#define GROUP 64 /* work-items that share a system on a GPU */

/* Pushes the kernel; the range gets a work-group for each system. */
static clc_Kernel *push_kernel(lua_State *L, const char *name, const clc_Buffer *like, size_t count,
                               size_t n, clc_Range *range) {
  clc_Device *d = like->device;
  clc_pushtuning(L, d, "lu", like->dtype);
  int vector = clc_tuned(L, "vector");
  size_t group = vector > 1 ? 1 : GROUP;
  while (group > d->context->max_group) group /= 2;
  while (vector > 1 && (size_t)vector > n) vector = vector > 4 ? vector / 2 : 1;
  lua_pop(L, 1);
  const char *defines = lua_pushfstring(L, "#define V %d\n#define GROUP %d\n", vector, (int)group);
  clc_Kernel *k = clc_prebuilt(L, d, name, like->dtype, defines);
  lua_remove(L, -2);
  *range = clc_padded1(count * group, group);
  return k;
}

void clc_eliminatebatch(lua_State *L, clc_Buffer *a, size_t count, const clc_Elimination *x) {
  clc_Range range;
  clc_Kernel *k = push_kernel(L, "lu_batch", a, count, x->n, &range);
  clc_setarguments(L, k, "ibibbb", (lua_Integer)x->n, a, (lua_Integer)a->offset, x->w, x->pivots,
                   x->diagonal);
  clc_launch(L, k, &range, NULL);
  lua_pop(L, 1);
}

void clc_solvebatch(lua_State *L, size_t count, size_t columns, const clc_Elimination *f,
                    clc_Buffer *b, clc_Buffer *x) {
  clc_Range range;
  clc_Kernel *k = push_kernel(L, "lu_batch_solve", b, count, f->n, &range);
  clc_setarguments(L, k, "iibbbib", (lua_Integer)f->n, (lua_Integer)columns, f->w, f->pivots, b,
                   (lua_Integer)b->offset, x);
  clc_launch(L, k, &range, NULL);
  lua_pop(L, 1);
}
