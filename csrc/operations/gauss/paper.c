/* SPDX-License-Identifier: MIT */
/*
 * Gauss elimination as Baranov & Vlatskaya 2013 have it: four kernels on the
 * augmented matrix [A | b], two for each step of the forward elimination and two
 * for each of the back substitution, no pivoting. The paper's two choices are
 * here too: a fixed range with a guard in the kernels or one that shrinks, and
 * what is left of whole work-groups launched again or computed by the host.
 */
#include <math.h>

#include "operations/operations.h"
#include "sequential/sequential.h"
#include "systems.h"

typedef struct {
  lua_State *L;
  clc_PaperOptions options;
  size_t n;
  clc_Buffer *w, *l, *x; /* augmented matrix, divisors, solution */
  clc_Kernel *fwd_pre, *fwd, *bwd_prepare, *bwd;
} Solve;

/* Along one dimension; what no group covers is launched by itself. */
static void launch1(const Solve *s, clc_Kernel *kernel, size_t k, clc_Buffer *other, size_t size) {
  const clc_Range range = {
      1, {size, 1, 1}, {s->options.group, 1, 1}, {0, 0, 0}, CLC_GIVEN, CLC_SPLIT, 0};
  clc_run(s->L, kernel, &range, clc_size(s->n), clc_size(k), clc_memory(s->w), clc_memory(other));
}

/* gauss_fwd over `columns` columns, from the first of its range. */
static void launch_fwd(const Solve *s, size_t k, size_t columns) {
  const size_t rows = s->options.shrink ? s->n - k - 1 : s->n;
  const clc_Range range = {
      2, {columns, rows, 1}, {s->options.group, 1, 1}, {0, 0, 0}, CLC_GIVEN, CLC_SPLIT, 0};
  clc_run(s->L, s->fwd, &range, clc_size(s->n), clc_size(k), clc_memory(s->w), clc_memory(s->l));
}

/*
 * The second part of formula (7) by the sequential program: columns `first` to n
 * of row k and below come to the host, are eliminated, and go back.
 */
static void eliminate_on_host(const Solve *s, size_t k, size_t first) {
  const size_t ld = s->n + 1, rows = s->n - k - 1, cols = ld - first, size = s->w->dtype->size;
  lua_State *L = s->L;
  char *block = lua_newuserdatauv(L, (rows + 1) * cols * size, 0);
  char *l = lua_newuserdatauv(L, rows * size, 0);
  char *below = block + cols * size;
  clc_Box box = {.buffer = s->w, .first = k * ld + first, .row = ld};
  clc_readbox(L, &box, &(clc_Extent){1, rows + 1, cols}, block);
  clc_readbuffer(L, s->l, k + 1, rows, l);
  if (size == sizeof(float))
    clc_plain_eliminate_float(rows, cols, (float *)below, cols, (float *)l, (float *)block);
  else
    clc_plain_eliminate_double(rows, cols, (double *)below, cols, (double *)l, (double *)block);
  box.first += ld;
  clc_writebox(L, &box, &(clc_Extent){1, rows, cols}, below);
  lua_pop(L, 2);
}

static void forward_step(const Solve *s, size_t k) {
  const size_t n = s->n;
  const size_t columns = s->options.shrink ? n - k : n + 1; /* M of formula (6) */
  const size_t rest = s->options.host_remainder ? columns % s->options.group : 0;
  launch1(s, s->fwd_pre, k, s->l, s->options.shrink ? n - k - 1 : n);
  if (columns > rest) launch_fwd(s, k, columns - rest);
  if (rest > 0) eliminate_on_host(s, k, n + 1 - rest > k + 1 ? n + 1 - rest : k + 1);
}

static void backward_step(const Solve *s, size_t k) {
  const clc_Range one = clc_padded1(1, 1);
  clc_run(s->L, s->bwd_prepare, &one, clc_size(s->n), clc_size(k), clc_memory(s->w),
          clc_memory(s->x));
  if (k > 0) launch1(s, s->bwd, k, s->x, s->options.shrink ? k : s->n);
}

/* The pivots stay on the diagonal, so one look at the end finds a bad one. It is a column
   of the matrix whose rows are one element longer. */
static void check_pivots(const Solve *s) {
  lua_State *L = s->L;
  char *pivots = lua_newuserdatauv(L, s->n * s->w->dtype->size, 0);
  clc_readbox(L, &(clc_Box){.buffer = s->w, .row = s->n + 2}, &(clc_Extent){1, s->n, 1}, pivots);
  for (size_t k = 0; k < s->n; k++) {
    s->w->dtype->push(L, pivots + k * s->w->dtype->size);
    const double pivot = lua_tonumber(L, -1);
    lua_pop(L, 1);
    if (pivot == 0 || !isfinite(pivot))
      luaL_error(L,
                 "%s: pivot %d is %s; the paper's method does not pivot, kernel=\"unblocked\" does",
                 s->options.name, (int)k + 1, pivot == 0 ? "0" : "not finite");
  }
  lua_pop(L, 1);
}

static void push_kernels(Solve *s) {
  clc_Device *d = s->w->device;
  const clc_Dtype *dtype = s->w->dtype;
  const char *shrink = s->options.shrink ? "#define SHRINK 1\n" : "";
  s->fwd_pre = clc_prebuilt(s->L, d, "gauss_fwd_pre", dtype, shrink);
  s->fwd = clc_prebuilt(s->L, d, "gauss_fwd", dtype, shrink);
  s->bwd_prepare = clc_prebuilt(s->L, d, "gauss_bwd_prepare", dtype, "");
  s->bwd = clc_prebuilt(s->L, d, "gauss_bwd", dtype, shrink);
}

/* Puts a matrix of n rows into the augmented one, from column `column` on. */
static void augment(const Solve *s, clc_Buffer *from, size_t columns, size_t column) {
  const clc_Range range = clc_covermatrix(s->w->device, s->n, columns);
  clc_Kernel *copy = clc_prebuilt(s->L, s->w->device, "copy_matrix", s->w->dtype, "");
  clc_run(s->L, copy, &range, clc_size(s->n), clc_size(columns), clc_elements(from),
          clc_size(columns), clc_memory(s->w), clc_size(column), clc_size(s->n + 1));
  lua_pop(s->L, 1);
}

clc_Buffer *clc_papersolve(lua_State *L, clc_Buffer *a, clc_Buffer *b, clc_PaperOptions options) {
  const size_t n = a->shape.dim[0];
  const clc_Shape augmented = {2, {n, n + 1}}, line = {1, {n}};
  Solve s = {L, options, n, NULL, NULL, NULL, NULL, NULL, NULL, NULL};
  s.x = clc_newbuffer(L, a->device, a->dtype, &b->shape);
  const int top = lua_gettop(L);
  s.w = clc_newbuffer(L, a->device, a->dtype, &augmented);
  s.l = clc_newbuffer(L, a->device, a->dtype, &line);
  push_kernels(&s);
  augment(&s, a, n, 0);
  augment(&s, b, 1, n);
  for (size_t k = 0; k + 1 < n; k++) forward_step(&s, k);
  check_pivots(&s);
  for (size_t k = n; k-- > 0;) backward_step(&s, k);
  clc_release(&s.w->h);
  clc_release(&s.l->h);
  lua_settop(L, top);
  return s.x;
}
