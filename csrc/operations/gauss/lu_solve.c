/* SPDX-License-Identifier: MIT */
/* Solving with LU factors: one right-hand side after the other, or many by blocks. */
#include "elimination.h"
#include "lu.h"

#define SIDE 32 /* rows of a triangle of lu_sweep: no more than those of zeros behind the n-th */

enum { LOWER = 1, UNIT = 2, TRANSPOSE = 4 }; /* a triangle, as lu_sweep names it */

/* --- rows in another order ---------------------------------------------- */

/* Pushes the order, or where the factors keep it nil. */
static clc_Buffer *push_order(lua_State *L, const clc_Lu *f) {
  if (f->order == NULL) return clc_pushorder(L, f);
  lua_pushnil(L);
  return f->order;
}

/* Pops what it pushed. */
static void drop_order(lua_State *L, const clc_Lu *f, clc_Buffer *order) {
  if (f->order == NULL) clc_release(&order->h);
  lua_pop(L, 1);
}

static void gather(lua_State *L, const clc_Lu *f, size_t columns, clc_Buffer *b, clc_Buffer *x,
                   size_t ldx) {
  clc_Buffer *order = push_order(L, f);
  const clc_Range range = clc_covermatrix(b->device, f->n, columns);
  clc_Kernel *k = clc_prebuilt(L, b->device, "gather_rows", b->dtype, "");
  clc_run(L, k, &range, clc_size(f->n), clc_size(columns), clc_memory(order), clc_elements(b),
          clc_memory(x), clc_size(ldx));
  lua_pop(L, 1);
  drop_order(L, f, order);
}

/* --- one after the other ------------------------------------------------- */

/* On the cores of a CPU, each column by one of them. */
static void solve_vectors(lua_State *L, const clc_Lu *f, size_t vector, int transposed,
                          size_t columns, clc_Buffer *b, clc_Buffer *x) {
  clc_Device *d = b->device;
  const clc_Range range = clc_padded1(columns, 1);
  const size_t ldv = clc_paddedrow(f->n, b->dtype);
  clc_Kernel *k = clc_prebuilt(L, d, "lu_vector", b->dtype, clc_define(L, {"V", vector}));
  clc_Buffer *work = clc_pushscratch(L, d, "lu_vector", b->dtype, columns * ldv);
  clc_run(L, k, &range, clc_size(f->n), clc_memory(f->lu), clc_size(f->ld),
          clc_memory(f->exchanges), clc_integer(transposed), clc_size(columns), clc_elements(b),
          clc_memory(work), clc_size(ldv), clc_memory(x));
  lua_pop(L, 3);
}

/* Rows of a block of lu_sweep: its tile, with an element beside each row, fits the local memory. */
static size_t block_of(const clc_Buffer *x) {
  const clc_Device *d = x->device;
  size_t block = clc_tasksize(d);
  while (block > SIDE && block * (SIDE + 2) * x->dtype->size + 2048 > d->context->local_memory)
    block /= 2;
  return block;
}

/* Solves with one triangle, in place: a launch for each block of rows. */
static void substitute(lua_State *L, const clc_Lu *f, int triangle, size_t columns, clc_Buffer *x) {
  clc_Device *d = x->device;
  const size_t block = block_of(x), blocks = clc_parts(f->n, block),
               most = d->context->is_cpu ? 8 : SIDE; /* a CPU's compiler is slow */
  const int lower = (triangle & LOWER) != 0;
  const char *defines =
      clc_define(L, {"BLOCK", block}, {"SIDE", block < most ? block : most}, {"LOWER", lower != 0},
                 {"UNIT", (triangle & UNIT) != 0}, {"TRANSPOSE", (triangle & TRANSPOSE) != 0});
  clc_Kernel *k = clc_prebuilt(L, d, "lu_sweep", x->dtype, defines);
  for (size_t left = blocks; left > 0; left--) {
    const clc_Range range = clc_batchrange(left, columns, 1, block, 1);
    const lua_Integer known = lower ? (lua_Integer)(blocks - left) - 1 : (lua_Integer)left;
    clc_run(L, k, &range, clc_size(f->n), clc_integer(known), clc_size(columns), clc_memory(f->lu),
            clc_size(f->ld), clc_memory(x));
  }
  lua_pop(L, 2);
}

void clc_substitute(lua_State *L, clc_Buffer *w, size_t n, int is_lower, int is_transposed,
                    size_t columns, clc_Buffer *x) {
  const clc_Lu f = {.lu = w, .n = n, .ld = w->shape.dim[1]};
  const int triangle = (is_lower ? UNIT : 0) | (is_lower != is_transposed ? LOWER : 0) |
                       (is_transposed ? TRANSPOSE : 0);
  substitute(L, &f, triangle, columns, x);
}

static void copy(lua_State *L, size_t rows, size_t columns, clc_Buffer *from, size_t ld,
                 clc_Buffer *to, size_t ldto) {
  const clc_Range range = clc_covermatrix(from->device, rows, columns);
  clc_Kernel *k = clc_prebuilt(L, from->device, "copy_matrix", from->dtype, "");
  clc_run(L, k, &range, clc_size(rows), clc_size(columns), clc_elements(from), clc_size(ld),
          clc_elements(to), clc_size(ldto));
  lua_pop(L, 1);
}

/* On a GPU, by its work-groups together; with A alone: its condition is found by a walk there. */
static void solve_columns(lua_State *L, const clc_Lu *f, size_t columns, clc_Buffer *b,
                          clc_Buffer *x) {
  gather(L, f, columns, b, x, columns);
  substitute(L, f, LOWER | UNIT, columns, x);
  substitute(L, f, 0, columns, x);
}

void clc_lusolvefew(lua_State *L, const clc_Lu *f, int transposed, size_t columns, clc_Buffer *b,
                    clc_Buffer *x) {
  const size_t vector = clc_getlurow(L, b).vector;
  if (vector > 1)
    solve_vectors(L, f, vector, transposed, columns, b, x);
  else
    solve_columns(L, f, columns, b, x);
}

/* --- with an estimate of the condition ----------------------------------------- */

#define WALK "lu walk" /* a use of scratch memory */

static void walk(lua_State *L, const clc_Lu *f, int turn, size_t first, clc_Buffer *x,
                 clc_Buffer *order, clc_Buffer *v, clc_Buffer *most) {
  const double unit = clc_sizeofvectors(f->norms[0]);
  const size_t group = clc_tasksize(v->device);
  const clc_Range one = clc_padded1(group, group);
  clc_Kernel *k = clc_prebuilt(L, v->device, "lu_walk", v->dtype, clc_define(L, {"GROUP", group}));
  clc_run(L, k, &one, clc_size(f->n), clc_number(unit), clc_integer(turn), clc_size(first),
          clc_memory(x), clc_memory(order), clc_memory(v), clc_memory(most));
  lua_pop(L, 2);
}

static void start(lua_State *L, const clc_Lu *f, size_t columns, clc_Buffer *b, clc_Buffer *order,
                  clc_Buffer *x) {
  const clc_Range range = clc_padded1(f->n, 64);
  clc_Kernel *k = clc_prebuilt(L, x->device, "lu_start", x->dtype, "");
  clc_run(L, k, &range, clc_size(f->n), clc_number(clc_sizeofvectors(f->norms[0])),
          clc_size(columns), clc_memory(order), clc_elements(b), clc_memory(x));
  lua_pop(L, 1);
}

void clc_luwalk(lua_State *L, const clc_Lu *f, size_t columns, clc_Buffer *b, clc_Buffer *x,
                clc_Buffer *most) {
  clc_Device *d = f->lu->device;
  const clc_Dtype *dtype = f->lu->dtype;
  clc_Buffer *order = push_order(L, f), *v = clc_newbuffer(L, d, dtype, &(clc_Shape){1, {f->n}}),
             *all = clc_newbuffer(L, d, dtype, &(clc_Shape){2, {f->n, columns + 2}});
  start(L, f, columns, columns > 0 ? b : all, order, all);
  substitute(L, f, LOWER | UNIT, columns + 2, all);
  substitute(L, f, 0, columns + 2, all);
  if (columns > 0) copy(L, f->n, columns, all, columns + 2, x, columns);
  walk(L, f, 0, columns, all, order, v, most);
  substitute(L, f, LOWER | TRANSPOSE, 1, v);
  substitute(L, f, UNIT | TRANSPOSE, 1, v);
  walk(L, f, 1, columns, all, order, v, most);
  substitute(L, f, LOWER | UNIT, 1, v);
  substitute(L, f, 0, 1, v);
  walk(L, f, 2, columns, all, order, v, most);
  clc_release(&all->h);
  clc_release(&v->h);
  lua_pop(L, 2);
  drop_order(L, f, order);
}

/* --- many, by blocks ------------------------------------------------------ */

/* Rows of the solution that a triangle of the diagonal gives; `columns` of them, ldx apart. */
typedef struct {
  const clc_Lu *f;
  const clc_LuRow *row;
  clc_Buffer *x;
  size_t columns, ldx;
} Solution;

/* Rows i0 .. i1 - 1, less what the known rows k0 .. k1 - 1 give. */
static void subtract_known(lua_State *L, const Solution *s, size_t i0, size_t i1, size_t k0,
                           size_t k1) {
  const clc_Lu *f = s->f;
  const clc_Multiply product = {.batch = 1,
                                .m = i1 - i0,
                                .n = s->columns,
                                .k = k1 - k0,
                                .alpha = -1,
                                .beta = 1,
                                .a = {f->lu, i0 * f->ld + k0, i1 - i0, k1 - k0, f->ld, 0},
                                .b = {s->x, k0 * s->ldx, k1 - k0, s->columns, s->ldx, 0},
                                .c = {s->x, i0 * s->ldx, i1 - i0, s->columns, s->ldx, 0}};
  if (k1 > k0) clc_multiply(L, CLC_FAST, &product);
}

static void solve_diagonal(lua_State *L, const Solution *s, int lower, size_t i0, size_t i1) {
  const clc_Lu *f = s->f;
  clc_Device *d = s->x->device;
  const size_t vector = s->row->vector;
  const clc_Range range = clc_padded1(clc_parts(s->columns, 2 * vector), s->row->group);
  const char *defines =
      lower ? clc_define(L, {"V", vector}) : clc_define(L, {"V", vector}, {"LOWER", 0});
  clc_Kernel *k = clc_prebuilt(L, d, "lu_rows", s->x->dtype, defines);
  clc_run(L, k, &range, clc_size(i0), clc_size(0), clc_size(i1 - i0), clc_memory(f->lu),
          clc_size(f->ld), clc_memory(f->exchanges), clc_memory(s->x), clc_size(s->ldx),
          clc_size(0), clc_size(0), clc_size(0), clc_size(s->columns));
  lua_pop(L, 2);
}

static void solve_blocks(lua_State *L, const Solution *s) {
  const size_t n = s->f->n, block = s->row->columns;
  for (size_t i = 0; i < n; i += block) {
    const size_t end = n - i < block ? n : i + block;
    subtract_known(L, s, i, end, 0, i);
    solve_diagonal(L, s, 1, i, end);
  }
  for (size_t end = n; end > 0;) {
    const size_t i = (end - 1) / block * block;
    subtract_known(L, s, i, end, end, n);
    solve_diagonal(L, s, 0, i, end);
    end = i;
  }
}

/* lu_rows takes whole vectors, so rows may have to be longer for a while. */
static void solve_many(lua_State *L, const clc_Lu *f, const clc_LuRow *row, size_t columns,
                       clc_Buffer *b, clc_Buffer *x) {
  const size_t ldx = clc_paddedrows(columns);
  Solution s = {f, row, x, columns, ldx};
  if (ldx != columns) s.x = clc_newbuffer(L, b->device, b->dtype, &(clc_Shape){2, {f->n, ldx}});
  gather(L, f, columns, b, s.x, ldx);
  solve_blocks(L, &s);
  if (ldx == columns) return;
  copy(L, f->n, columns, s.x, ldx, x, columns);
  clc_release(&s.x->h);
  lua_pop(L, 1);
}

void clc_lusolve(lua_State *L, const clc_Lu *f, clc_Buffer *b, clc_Buffer *x) {
  luaL_checkstack(L, 30, NULL);
  if (x->count == 0) return;
  const size_t columns = x->count / f->n / f->count;
  if (f->is_batch || f->is_small) {
    const clc_Batch batch = {f->count, f->n, f->lu, f->exchanges, NULL, f->order, NULL, NULL};
    clc_solvebatch(L, &batch, columns, b, x);
    return;
  }
  const clc_LuRow row = clc_getlurow(L, b);
  if (columns <= row.few)
    clc_lusolvefew(L, f, 0, columns, b, x);
  else
    solve_many(L, f, &row, columns, b, x);
}
