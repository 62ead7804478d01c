/* SPDX-License-Identifier: MIT */
/*
 * Many small systems in one launch: on a CPU a work-item has one, on a GPU a group, with an item
 * for each row as long as a group has so many and its panel fits the local memory.
 */
#include "elimination.h"

#define LEAST_GROUP 64 /* work-items that share a system on a GPU */
#define MOST_GROUP 512
#define SIDE 32 /* rows of the triangles that are solved by one item, at most */

/* --- an item a row --------------------------------------------------------- */

/* How a group has the rows of a matrix. */
typedef struct {
  size_t rows, columns, side, warp; /* work-items; columns of a panel; rows of a triangle */
} Layout;

/* Bytes of local memory that lu_batch_rows takes. */
static size_t local_bytes(const Layout *l, size_t size) {
  const size_t stride = l->columns + 4,
               board = l->warp > 1 ? l->rows / l->warp * 2 * (l->columns * size + size + 4)
                                   : (l->rows + 32) * (size + 4) + l->columns * size;
  return (l->rows + l->columns) * stride * size + l->rows * (size + 4) + board + 64;
}

/* rows is 0 where no group has so many. A pure function of the device's numbers and n. */
static Layout layout_of(lua_State *L, const clc_Buffer *like, size_t n) {
  const clc_Device *d = like->device;
  const clc_LuRow row = clc_getlurow(L, like);
  const size_t size = like->dtype->size;
  Layout l = {32, 16, n > 16 ? SIDE : 16, row.warp > 1 ? row.warp : 1};
  if (row.vector > 1 || n > row.items) return (Layout){0};
  while (l.rows < n) l.rows *= 2;
  while (l.columns > 8 && local_bytes(&l, size) > d->context->local_memory) l.columns /= 2;
  while (l.side > 4 && l.rows * (l.side + 4 + 5) * size + 512 > d->context->local_memory)
    l.side /= 2;
  if (l.rows > d->context->max_group || local_bytes(&l, size) > d->context->local_memory)
    l.rows = 0;
  return l;
}

size_t clc_batchrows(lua_State *L, const clc_Buffer *like, size_t n) {
  return layout_of(L, like, n).rows;
}

/* Pushes a kernel that solves with triangles, or goes through a matrix as if it did; the range gets
   a group for each system and column. */
static clc_Kernel *push_sweep(lua_State *L, const char *name, const clc_Buffer *like, size_t count,
                              size_t n, size_t columns, clc_Range *range) {
  const Layout l = layout_of(L, like, n);
  clc_Kernel *k = clc_tailored(L, like->device, name, like->dtype, NULL, NULL, {"ROWS", l.rows},
                               {"SIDE", l.side});
  *range = clc_padded2(count * l.rows, columns, l.rows, 1);
  return k;
}

static void eliminate_rows(lua_State *L, clc_Buffer *a, const clc_Batch *x) {
  const Layout l = layout_of(L, a, x->n);
  const clc_Range range = clc_padded1(x->count * l.rows, l.rows);
  clc_Kernel *k =
      clc_tailored(L, a->device, "lu_batch_rows", a->dtype, NULL, NULL, {"ROWS", l.rows},
                   {"COLUMNS", l.columns}, {"WARP", l.warp}, {"BLOCKED", x->n > l.columns});
  clc_run(L, k, &range, clc_size(x->n), clc_elements(a), clc_memory(x->w), clc_memory(x->pivots),
          clc_memory(x->order), clc_memory(x->diagonal), clc_memory(x->facts),
          clc_memory(x->fault));
  lua_pop(L, 1);
}

static void sweep(lua_State *L, const clc_Batch *f, size_t columns, clc_Buffer *b, clc_Buffer *x) {
  clc_Range range;
  clc_Kernel *k = push_sweep(L, "lu_batch_sweep", b, f->count, f->n, columns, &range);
  clc_run(L, k, &range, clc_size(f->n), clc_size(columns), clc_memory(f->w), clc_memory(f->order),
          clc_elements(b), clc_memory(x));
  lua_pop(L, 1);
}

void clc_estimatebatch(lua_State *L, const clc_Batch *f, clc_Buffer *inverses) {
  clc_Range range;
  clc_Kernel *k = push_sweep(L, "lu_batch_condition", f->w, f->count, f->n, 1, &range);
  clc_run(L, k, &range, clc_size(f->n), clc_memory(f->w), clc_memory(f->order),
          clc_memory(inverses));
  lua_pop(L, 1);
}

void clc_judgebatch(lua_State *L, const clc_Systems *s, clc_Buffer *a, clc_Buffer *x, clc_Buffer *b,
                    clc_Buffer *r, clc_Buffer *sums) {
  clc_Range range;
  clc_Kernel *k = push_sweep(L, "lu_batch_residual", a, s->count, s->n, s->columns, &range);
  clc_run(L, k, &range, clc_size(s->n), clc_size(s->columns), clc_elements(a), clc_memory(x),
          clc_elements(b), clc_memory(r), clc_memory(sums));
  lua_pop(L, 1);
}

/* --- a work-item, or a small group ------------------------------------------ */

/* Pushes the kernel; the range gets a work-group for each system. */
static clc_Kernel *push_kernel(lua_State *L, const char *name, const clc_Buffer *like, size_t count,
                               size_t n, clc_Range *range) {
  clc_Device *d = like->device;
  size_t vector = clc_getlurow(L, like).vector, group = vector > 1 ? 1 : LEAST_GROUP;
  while (group > 1 && group < 4 * n && group < MOST_GROUP) group *= 2;
  while (group > d->context->max_group) group /= 2;
  while (vector > 1 && vector > n) vector = vector > 4 ? vector / 2 : 1;
  const char *defines = clc_define(L, {"V", vector}, {"GROUP", group});
  clc_Kernel *k = clc_prebuilt(L, d, name, like->dtype, defines);
  lua_remove(L, -2);
  *range = clc_padded1(count * group, group);
  return k;
}

void clc_eliminatebatch(lua_State *L, clc_Buffer *a, const clc_Batch *x) {
  clc_Range range;
  if (x->order != NULL) {
    eliminate_rows(L, a, x);
    return;
  }
  clc_Kernel *k = push_kernel(L, "lu_batch", a, x->count, x->n, &range);
  clc_run(L, k, &range, clc_size(x->n), clc_elements(a), clc_memory(x->w), clc_memory(x->pivots),
          clc_memory(x->diagonal), clc_memory(x->facts));
  lua_pop(L, 1);
}

void clc_solvebatch(lua_State *L, const clc_Batch *f, size_t columns, clc_Buffer *b,
                    clc_Buffer *x) {
  clc_Range range;
  if (f->order != NULL && columns <= clc_getlurow(L, b).few && clc_batchrows(L, b, f->n) > 0) {
    sweep(L, f, columns, b, x);
    return;
  }
  clc_Kernel *k = push_kernel(L, "lu_batch_solve", b, f->count, f->n, &range);
  clc_run(L, k, &range, clc_size(f->n), clc_size(columns), clc_memory(f->w), clc_memory(f->pivots),
          clc_elements(b), clc_memory(x));
  lua_pop(L, 1);
}
