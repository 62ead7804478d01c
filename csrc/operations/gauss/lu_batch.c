/* SPDX-License-Identifier: MIT */
/* Many small systems in one launch. */
#include "elimination.h"

#define GROUP 64 /* work-items that share a system on a GPU */

/* Pushes the kernel; the range gets a work-group for each system. */
static clc_Kernel *push_kernel(lua_State *L, const char *name, const clc_Buffer *like, size_t count,
                               size_t n, clc_Range *range) {
  clc_Device *d = like->device;
  size_t vector = clc_getlurow(L, like).vector, group = vector > 1 ? 1 : GROUP;
  while (group > d->context->max_group) group /= 2;
  while (vector > 1 && vector > n) vector = vector > 4 ? vector / 2 : 1;
  const char *defines = clc_define(L, {"V", vector}, {"GROUP", group});
  clc_Kernel *k = clc_prebuilt(L, d, name, like->dtype, defines);
  lua_remove(L, -2);
  *range = clc_padded1(count * group, group);
  return k;
}

void clc_eliminatebatch(lua_State *L, clc_Buffer *a, size_t count, const clc_Elimination *x) {
  clc_Range range;
  clc_Kernel *k = push_kernel(L, "lu_batch", a, count, x->n, &range);
  clc_run(L, k, &range, clc_size(x->n), clc_elements(a), clc_memory(x->w), clc_memory(x->pivots),
          clc_memory(x->diagonal));
  lua_pop(L, 1);
}

void clc_solvebatch(lua_State *L, size_t count, size_t columns, const clc_Elimination *f,
                    clc_Buffer *b, clc_Buffer *x) {
  clc_Range range;
  clc_Kernel *k = push_kernel(L, "lu_batch_solve", b, count, f->n, &range);
  clc_run(L, k, &range, clc_size(f->n), clc_size(columns), clc_memory(f->w), clc_memory(f->pivots),
          clc_elements(b), clc_memory(x));
  lua_pop(L, 1);
}
