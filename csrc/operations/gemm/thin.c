/* SPDX-License-Identifier: MIT */
/* Products of a matrix and few vectors, at the speed of memory (kernels/gemm_thin_rows.cl,
   kernels/gemm_thin_columns.cl). */
#include "product.h"

/* How a device is given such products: `thin` of its row. */
typedef struct {
  size_t along;  /* vectors at most, where rows of the matrix lie along k, */
  size_t beside; /* and where they do not */
  size_t worth;  /* elements of the matrix, at least */
  size_t group;  /* work-items of a group, */
  size_t team;   /* and of those at most for rows that lie along k, */
  size_t rows;   /* so many of them */
  size_t across; /* work-items that read neighbouring columns */
  size_t ahead;  /* rows that a work-item reads at a time */
  size_t held;   /* groups that a compute unit is to have */
  size_t least;  /* elements of k that are worth a part */
  int is_once;   /* the last group of a block of columns adds up its parts */
} Numbers;

static const clc_Field fields[] = {{"along", offsetof(Numbers, along), NULL},
                                   {"beside", offsetof(Numbers, beside), NULL},
                                   {"worth", offsetof(Numbers, worth), NULL},
                                   {"group", offsetof(Numbers, group), NULL},
                                   {"team", offsetof(Numbers, team), NULL},
                                   {"rows", offsetof(Numbers, rows), NULL},
                                   {"across", offsetof(Numbers, across), NULL},
                                   {"ahead", offsetof(Numbers, ahead), NULL},
                                   {"held", offsetof(Numbers, held), NULL},
                                   {"least", offsetof(Numbers, least), NULL},
                                   {NULL, 0, NULL}};

/* A product as one of a matrix and vectors, whatever side each comes from. */
typedef struct {
  const clc_Matrix *matrix, *vectors;
  size_t rows, count;      /* of C along the matrix, and vectors */
  int is_along, is_turned; /* rows of the matrix lie along k; the matrix is b */
  size_t vl, vj;           /* from element to element of a vector, and from vector to vector */
} Thin;

static Thin find_thin(const clc_Multiply *x) {
  if (x->n <= x->m)
    return (Thin){
        &x->a, &x->b, x->m, x->n, !x->transa, 0, x->transb ? 1 : x->b.ld, x->transb ? x->b.ld : 1};
  return (Thin){
      &x->b, &x->a, x->n, x->m, x->transb, 1, x->transa ? x->a.ld : 1, x->transa ? 1 : x->a.ld};
}

/* Elements of C from one to the next along the matrix, and from vector to vector. */
static size_t step_along(const Thin *t, const clc_Matrix *c) {
  return t->is_turned ? 1 : c->ld;
}

static size_t step_across(const Thin *t, const clc_Matrix *c) {
  return t->is_turned ? c->ld : 1;
}

/* Parts of k, where groups are fewer than the device is to have: all of them are there at a time.
 */
static size_t count_parts(const Numbers *w, const clc_Multiply *x, size_t groups) {
  const size_t wanted = w->held * x->c.b->device->context->compute_units;
  const size_t room = clc_scratchlimit(x->c.b->device, x->c.b->dtype) / (x->batch * x->m * x->n);
  const size_t sought = clc_smaller(wanted / groups, x->k / w->least);
  const size_t parts = clc_smaller(sought, room);
  return parts > 1 && x->batch * parts <= CLC_MOSTGROUPS ? parts : 1;
}

static clc_Parts get_parts(lua_State *L, const clc_Multiply *x, size_t count) {
  const size_t depth = clc_roundup(clc_parts(x->k, count), 4);
  return clc_getparts(L, x, clc_parts(x->k, depth), depth);
}

#define END ((clc_Value){.kind = CLC_END}) /* of the arguments */

/* Parts are added up by the last group of each strip of columns, or by a launch of their own. */
static void multiply_columns(lua_State *L, const Numbers *w, const clc_Multiply *x, const Thin *t) {
  clc_Device *d = x->c.b->device;
  const int is_wide = clc_isquad(t->matrix) && t->rows % 4 == 0;
  const size_t width = w->across * (is_wide ? 4 : 1), strips = clc_parts(t->rows, width);
  const size_t count = count_parts(w, x, x->batch * strips);
  const size_t depth = clc_roundup(clc_parts(x->k, count), 4), all = clc_parts(x->k, depth);
  const int is_once = w->is_once && all > 1;
  const clc_Parts parts = clc_getparts(L, x, is_once ? 1 : all, depth);
  clc_Buffer *sums = x->c.b, *ended = x->c.b; /* which are not asked for */
  if (is_once) {
    const size_t blocks = x->batch * strips;
    sums = clc_pushscratch(L, d, "gemm sums", x->c.b->dtype, blocks * all * t->count * width);
    ended = clc_pushzeros(L, d, "gemm ended", clc_int, blocks);
  }
  const clc_Multiply y = clc_partsof(x, &parts);
  clc_Kernel *kernel =
      clc_tailored(L, d, "gemm_thin_columns", y.c.b->dtype, NULL, NULL, {"GROUP", w->group},
                   {"ACROSS", w->across}, {"COUNT", t->count}, {"WIDE", is_wide != 0},
                   {"AHEAD", w->ahead}, {"ONE_LAUNCH", is_once != 0});
  const clc_Range range = clc_batchrange(strips, 1, x->batch * all, w->group, 1);
  clc_run(L, kernel, &range, clc_size(t->rows), clc_size(x->k), clc_size(all), clc_size(depth),
          clc_number(y.alpha), clc_matrices(t->matrix), clc_memory(t->vectors->b),
          clc_size(t->vectors->offset), clc_size(t->vl), clc_size(t->vj),
          clc_size(t->vectors->stride), clc_number(y.beta), clc_memory(y.c.b), clc_size(y.c.offset),
          clc_size(step_along(t, &y.c)), clc_size(step_across(t, &y.c)), clc_size(y.c.stride),
          is_once ? clc_memory(sums) : END, clc_memory(ended));
  clc_sumparts(L, x, &parts);
}

/* Whether the vectors can be read where they lie: along k, as the matrix, and by quads as it is. */
static int is_ready(const Thin *t) {
  const clc_Matrix *v = t->vectors;
  const int is_quad = v->offset % 4 == 0 && v->stride % 4 == 0 && (t->count == 1 || t->vj % 4 == 0);
  return t->vl == 1 && (is_quad || !clc_isquad(t->matrix));
}

/* Elements of the vectors' copy. */
static size_t elements_of_copy(const Thin *t, const clc_Multiply *x) {
  return (t->vectors->stride > 0 ? x->batch : 1) * t->count * clc_roundup(x->k, 4);
}

static void multiply_rows(lua_State *L, const Numbers *w, const clc_Multiply *x, const Thin *t) {
  const clc_Matrix *from = t->vectors;
  const size_t length = clc_roundup(x->k, 4);
  clc_Kernel *pack = NULL;
  clc_Matrix v = *from;
  v.ld = t->vj;
  if (!is_ready(t)) {
    pack = clc_getpack(L, from, t->vl != 1);
    v = (clc_Matrix){.b = clc_pushscratch(L, from->b->device, "gemm vectors", from->b->dtype,
                                          elements_of_copy(t, x)),
                     .rows = t->count,
                     .cols = length,
                     .ld = length};
  }
  const int is_wide = clc_isquad(t->matrix);
  const size_t width = is_wide ? 4 : 1;
  const size_t each = clc_smaller(w->rows, t->rows); /* rows of a team */
  size_t team = w->team;
  while (team > 4 && team * width * w->ahead > x->k) team /= 2;
  const size_t groups = clc_parts(t->rows, w->group / team * each);
  const clc_Parts parts = get_parts(L, x, count_parts(w, x, x->batch * groups));
  const clc_Multiply y = clc_partsof(x, &parts);
  clc_Kernel *kernel = clc_tailored(L, y.c.b->device, "gemm_thin_rows", y.c.b->dtype, NULL, NULL,
                                    {"GROUP", w->group}, {"ROWS", each}, {"COUNT", t->count},
                                    {"WIDE", is_wide != 0});
  if (pack != NULL) v = clc_pack(L, pack, from, from->stride > 0 ? x->batch : 1, t->count, x->k, v);
  const clc_Range range = clc_batchrange(groups, 1, x->batch * parts.count, w->group, 1);
  clc_run(L, kernel, &range, clc_size(t->rows), clc_size(x->k), clc_integer((int)team),
          clc_size(parts.count), clc_size(parts.depth), clc_number(y.alpha),
          clc_matrices(t->matrix), clc_matrices(&v), clc_number(y.beta), clc_memory(y.c.b),
          clc_size(y.c.offset), clc_size(step_along(t, &y.c)), clc_size(step_across(t, &y.c)),
          clc_size(y.c.stride));
  clc_sumparts(L, x, &parts);
}

int clc_multiplythin(lua_State *L, const clc_Multiply *x) {
  Numbers w;
  w.is_once = lua_getfield(L, -1, "part") != LUA_TNIL;
  lua_pop(L, 1);
  if (lua_getfield(L, -1, "thin") != LUA_TTABLE) return 0;
  clc_readrow(L, fields, &w);
  const Thin t = find_thin(x);
  if (t.count > (t.is_along ? w.along : w.beside) || t.rows * x->k < w.worth) return 0;
  if (t.is_along && !is_ready(&t) &&
      elements_of_copy(&t, x) > clc_scratchlimit(x->c.b->device, x->c.b->dtype))
    return 0;
  (t.is_along ? multiply_rows : multiply_columns)(L, &w, x, &t);
  return 1;
}
