/* SPDX-License-Identifier: MIT */
/* The product for the multiprocessors of a GPU: register-blocked slices (kernels/gemm_blocks.cl).
   Its tile sizes are rows of lua/clcompute/tuning/known.lua. */
#include "product.h"

static const clc_Field fields[] = {{"bm", offsetof(clc_Tile, bm), "BM"},
                                   {"bn", offsetof(clc_Tile, bn), "BN"},
                                   {"bk", offsetof(clc_Tile, bk), "BK"},
                                   {"tm", offsetof(clc_Tile, tm), "TM"},
                                   {"tn", offsetof(clc_Tile, tn), "TN"},
                                   {"held", offsetof(clc_Tile, held), NULL},
                                   {"alone", offsetof(clc_Tile, alone), NULL},
                                   {"full", offsetof(clc_Tile, full), NULL},
                                   {NULL, 0, NULL}};

clc_Plan clc_planblocks(lua_State *L, const clc_Multiply *x) {
  return clc_plan(L, x, "blocks", fields, NULL);
}

void clc_multiplyplanned(lua_State *L, const clc_Multiply *x, const clc_Plan *plan) {
  const clc_Tile s = plan->shape;
  clc_Kernel *kernel = clc_tailored(L, x->c.b->device, "gemm_blocks", x->c.b->dtype, fields, &s,
                                    {"TRANSA", x->transa != 0}, {"TRANSB", x->transb != 0},
                                    {"ALIGNED", clc_isquad(&x->a) && clc_isquad(&x->b)});
  const clc_Parts parts = clc_getparts(L, x, plan->parts, plan->depth);
  const clc_Multiply y = clc_partsof(x, &parts);
  const clc_Range range = clc_batchrange(clc_parts(x->n, s.bn), clc_parts(x->m, s.bm),
                                         x->batch * parts.count, s.bn / s.tn, s.bm / s.tm);
  clc_run(L, kernel, &range, clc_size(x->m), clc_size(x->n), clc_size(x->k), clc_size(parts.count),
          clc_size(parts.depth), clc_number(y.alpha), clc_matrices(&x->a), clc_matrices(&x->b),
          clc_number(y.beta), clc_matrices(&y.c));
  clc_sumparts(L, x, &parts);
}

void clc_multiplyblocks(lua_State *L, const clc_Multiply *x) {
  const clc_Plan plan = clc_planblocks(L, x);
  clc_multiplyplanned(L, x, &plan);
}
