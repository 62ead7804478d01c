/* SPDX-License-Identifier: MIT */
/* The product for the multiprocessors of a GPU: register-blocked slices (kernels/gemm_blocks.cl).
   Its tile sizes are rows of lua/clcompute/tuning/known.lua. */
#include "product.h"

/* What a work-group and a work-item of gemm_blocks own. */
typedef struct {
  size_t bm, bn, bk, tm, tn;
} Blocks;

static const clc_Field fields[] = {
    {"bm", offsetof(Blocks, bm), "BM"}, {"bn", offsetof(Blocks, bn), "BN"},
    {"bk", offsetof(Blocks, bk), "BK"}, {"tm", offsetof(Blocks, tm), "TM"},
    {"tn", offsetof(Blocks, tn), "TN"}, {NULL, 0, NULL}};

/* The largest blocks that keep most multiprocessors busy, from the list in the row on top of the
   stack: the last ones where none are small enough. */
static Blocks choose_blocks(lua_State *L, const clc_Multiply *x) {
  Blocks s = {0};
  const int top = lua_gettop(L);
  const size_t units = x->c.b->device->context->compute_units;
  lua_getfield(L, -1, "blocks");
  for (lua_Integer i = 1; lua_rawgeti(L, top + 1, i) == LUA_TTABLE; i++) {
    clc_readrow(L, fields, &s);
    lua_pop(L, 1);
    if (x->batch * clc_parts(x->m, s.bm) * clc_parts(x->n, s.bn) >= units * 3 / 4) break;
  }
  lua_settop(L, top);
  return s;
}

void clc_multiplyblocks(lua_State *L, const clc_Multiply *x) {
  const Blocks s = choose_blocks(L, x);
  const char *defines =
      clc_definerow(L, fields, &s, {"TRANSA", x->transa != 0}, {"TRANSB", x->transb != 0},
                    {"ALIGNED", clc_isquad(&x->a) && clc_isquad(&x->b)});
  clc_Kernel *kernel = clc_prebuilt(L, x->c.b->device, "gemm_blocks", x->c.b->dtype, defines);
  const clc_Range range = clc_batchrange(clc_parts(x->n, s.bn), clc_parts(x->m, s.bm), x->batch,
                                         s.bn / s.tn, s.bm / s.tm);
  clc_run(L, kernel, &range, clc_size(x->m), clc_size(x->n), clc_size(x->k), clc_number(x->alpha),
          clc_matrices(&x->a), clc_matrices(&x->b), clc_number(x->beta), clc_matrices(&x->c));
}
