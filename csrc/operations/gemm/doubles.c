/* SPDX-License-Identifier: MIT */
/* The product of doubles on the tensor cores of NVIDIA GPUs (kernels/gemm_tensor_double.cl). */
#include "product.h"

/* What a work-group and a work-item own, how many slices are in work and the depth of an
   instruction; the groups that a multiprocessor holds at a time, and the rate of the device with
   one group on each and with all. */
typedef struct {
  size_t bm, bn, bk, tm, tn, stages, depth;
  size_t held, alone, full;
} Shape;

static const clc_Field fields[] = {{"bm", offsetof(Shape, bm), "BM"},
                                   {"bn", offsetof(Shape, bn), "BN"},
                                   {"bk", offsetof(Shape, bk), "BK"},
                                   {"tm", offsetof(Shape, tm), "TM"},
                                   {"tn", offsetof(Shape, tn), "TN"},
                                   {"stages", offsetof(Shape, stages), "STAGES"},
                                   {"depth", offsetof(Shape, depth), "DEPTH"},
                                   {"held", offsetof(Shape, held), NULL},
                                   {"alone", offsetof(Shape, alone), NULL},
                                   {"full", offsetof(Shape, full), NULL},
                                   {NULL, 0, NULL}};

static size_t groups_of(const Shape *s, const clc_Multiply *x) {
  return clc_parts(x->m, s->bm) * clc_parts(x->n, s->bn);
}

/* What the blocks of a shape take, relative to other shapes: rounds of as many groups as a
   multiprocessor holds, and a last one of fewer, which are slower. */
static double cost_of(const Shape *s, const clc_Multiply *x) {
  const size_t units = x->c.b->device->context->compute_units;
  const size_t share = clc_parts(x->batch * groups_of(s, x), units), last = share % s->held;
  const double full = (double)s->full, few = (double)(last * s->alone);
  const double rest = last > 0 ? (double)last / (few < full ? few : full) : 0;
  return (double)(s->bm * s->bn) * ((double)(share - last) / full + rest);
}

/* The cheapest shape of the list in the row on top of the stack. */
static Shape choose_shape(lua_State *L, const clc_Multiply *x) {
  Shape best = {0}, shape;
  const int top = lua_gettop(L);
  lua_getfield(L, -1, "shapes");
  for (lua_Integer i = 1; lua_rawgeti(L, top + 1, i) == LUA_TTABLE; i++) {
    clc_readrow(L, fields, &shape);
    if (i == 1 || cost_of(&shape, x) < cost_of(&best, x)) best = shape;
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
  const char *defines = clc_definerow(
      L, fields, &s, {"TRANSA", x->transa != 0}, {"TRANSB", x->transb != 0},
      {"PAIRS", is_paired(&x->a) && is_paired(&x->b)}, {"WIDE", clc_isquad(&x->c) != 0});
  clc_Kernel *kernel =
      clc_prebuilt(L, x->c.b->device, "gemm_tensor_double", x->c.b->dtype, defines);
  const size_t items = s.bm / s.tm * (s.bn / s.tn);
  const clc_Range range = clc_batchrange(groups_of(&s, x), 1, x->batch, items, 1);
  clc_run(L, kernel, &range, clc_size(x->m), clc_size(x->n), clc_size(x->k), clc_number(x->alpha),
          clc_matrices(&x->a), clc_matrices(&x->b), clc_number(x->beta), clc_matrices(&x->c));
  return 1;
}
