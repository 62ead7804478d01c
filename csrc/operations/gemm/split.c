/* SPDX-License-Identifier: MIT */
/* Products by parts of k: each part of the sums by groups of its own into scratch memory, then one
   sum of them in a fixed order (kernels/gemm_sum.cl). */
#include "product.h"

#define ACROSS 32 /* elements of C that a group of gemm_sum adds up, */
#define DOWN 8    /* and its work-items for each of them, */
#define FEW 8     /* one up to so many parts */

clc_Parts clc_getparts(lua_State *L, const clc_Multiply *x, size_t count, size_t depth) {
  clc_Parts p = {.count = count, .depth = depth};
  if (count == 1) return p;
  p.down = count > FEW ? DOWN : 1;
  const size_t across = ACROSS * DOWN / p.down;
  p.sum = clc_tailored(L, x->c.b->device, "gemm_sum", x->c.b->dtype, NULL, NULL, {"ACROSS", across},
                       {"DOWN", p.down});
  p.memory = clc_pushscratch(L, x->c.b->device, "gemm parts", x->c.b->dtype,
                             x->batch * count * x->m * x->n);
  return p;
}

clc_Multiply clc_partsof(const clc_Multiply *x, const clc_Parts *p) {
  clc_Multiply part = *x;
  if (p->count == 1) return part;
  part.alpha = 1;
  part.beta = 0;
  part.c = (clc_Matrix){p->memory, 0, x->m, x->n, x->n, x->m * x->n};
  return part;
}

void clc_sumparts(lua_State *L, const clc_Multiply *x, const clc_Parts *p) {
  if (p->count == 1) return;
  const size_t across = ACROSS * DOWN / p->down;
  const clc_Range range =
      clc_batchrange(clc_parts(x->m * x->n, across), 1, x->batch, across, p->down);
  clc_run(L, p->sum, &range, clc_size(x->m), clc_size(x->n), clc_size(p->count),
          clc_number(x->alpha), clc_memory(p->memory), clc_number(x->beta), clc_matrices(&x->c));
}
