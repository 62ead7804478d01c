/* SPDX-License-Identifier: MIT */
/* The product of doubles on the tensor cores of NVIDIA GPUs (kernels/gemm_tensor_double.cl). */
#include "product.h"

typedef struct {
  clc_Tile tile;
  size_t depth; /* of an instruction */
} Shape;

static const clc_Field fields[] = {{"bm", offsetof(Shape, tile.bm), "BM"},
                                   {"bn", offsetof(Shape, tile.bn), "BN"},
                                   {"bk", offsetof(Shape, tile.bk), "BK"},
                                   {"tm", offsetof(Shape, tile.tm), "TM"},
                                   {"tn", offsetof(Shape, tile.tn), "TN"},
                                   {"stages", offsetof(Shape, tile.stages), "STAGES"},
                                   {"depth", offsetof(Shape, depth), "DEPTH"},
                                   {"held", offsetof(Shape, tile.held), NULL},
                                   {"alone", offsetof(Shape, tile.alone), NULL},
                                   {"full", offsetof(Shape, tile.full), NULL},
                                   {NULL, 0, NULL}};

static size_t groups_of(const clc_Tile *s, const clc_Multiply *x) {
  return clc_parts(x->m, s->bm) * clc_parts(x->n, s->bn);
}

static double time_of(const clc_Tile *s, const clc_Multiply *x) {
  return clc_timeofblocks(s, x, x->batch * groups_of(s, x), x->k);
}

/* The fastest shape of the list in the row on top of the stack. */
static Shape choose_shape(lua_State *L, const clc_Multiply *x) {
  Shape best = {0}, shape;
  const int top = lua_gettop(L);
  lua_getfield(L, -1, "shapes");
  for (lua_Integer i = 1; lua_rawgeti(L, top + 1, i) == LUA_TTABLE; i++) {
    clc_readrow(L, fields, &shape);
    if (i == 1 || time_of(&shape.tile, x) < time_of(&best.tile, x)) best = shape;
    lua_settop(L, top + 1);
  }
  lua_settop(L, top);
  return best;
}

/* Whether a matrix's rows can be read two elements at a time. */
static int is_paired(const clc_Matrix *x) {
  return x->offset % 2 == 0 && x->ld % 2 == 0 && x->stride % 2 == 0;
}

int clc_multiplydoubles(lua_State *L, const clc_Multiply *x) {
  static const clc_Field least[] = {{"least", 0, NULL}, {NULL, 0, NULL}};
  size_t work;
  clc_readrow(L, least, &work);
  if (clc_work(x) < (double)work) return 0;
  const Shape s = choose_shape(L, x);
  clc_Kernel *kernel = clc_tailored(L, x->c.b->device, "gemm_tensor_double", x->c.b->dtype, fields,
                                    &s, {"TRANSA", x->transa != 0}, {"TRANSB", x->transb != 0},
                                    {"PAIRS", is_paired(&x->a) && is_paired(&x->b)},
                                    {"WIDE", clc_isquad(&x->c) != 0});
  const size_t items = s.tile.bm / s.tile.tm * (s.tile.bn / s.tile.tn);
  const clc_Range range = clc_batchrange(groups_of(&s.tile, x), 1, x->batch, items, 1);
  clc_run(L, kernel, &range, clc_size(x->m), clc_size(x->n), clc_size(x->k), clc_number(x->alpha),
          clc_matrices(&x->a), clc_matrices(&x->b), clc_number(x->beta), clc_matrices(&x->c));
  return 1;
}
