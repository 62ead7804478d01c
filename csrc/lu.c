/* SPDX-License-Identifier: MIT */
/* LU factors with partial pivoting on the device, and what is made of them. */
#include "lu.h"

#include <math.h>
#include <string.h>

#include "operand.h"
#include "prebuilt.h"

#define ESTIMATES 5 /* of the norm of the inverse; Higham: 2 or 3 usually do */

/* Work-items of the kernels that are one work-group a task: what fills the
   vectors of a CPU, and hides the latency of a GPU's memory. */
static int group_size(const clc_Device *d) {
  int size = d->is_cpu ? 64 : 256; /* a power of two: lu_pivot halves it */
  while ((size_t)size > d->max_group) size /= 2;
  return size;
}

static const char *push_group_define(lua_State *L, const clc_Device *d) {
  return lua_pushfstring(L, "#define GROUP %d\n", group_size(d));
}

/* --- factors ----------------------------------------------------------- */

typedef struct {
  clc_Kernel *pivot, *swap, *update;
} Kernels;

/* Pushes the three, so that they stay. */
static Kernels push_kernels(lua_State *L, clc_Device *d, const clc_Dtype *dtype) {
  Kernels k;
  const char *defines = push_group_define(L, d);
  k.pivot = clc_prebuilt(L, d, "lu_pivot", dtype, defines);
  k.swap = clc_prebuilt(L, d, "lu_swap", dtype, "");
  k.update = clc_prebuilt(L, d, "lu_update", dtype, "");
  return k;
}

static void eliminate_column(lua_State *L, const Kernels *kernels, clc_Buffer *w, size_t n,
                             size_t k, clc_Buffer *pivots, clc_Buffer *diagonal) {
  const clc_Device *d = w->device;
  const size_t group = (size_t)group_size(d), rest = n - k - 1;
  const clc_Range one = clc_padded1(group, group), line = clc_padded1(2 * n - k - 1, group),
                  square = clc_covermatrix(d, rest, rest);
  clc_setarguments(L, kernels->pivot, "iibbb", (lua_Integer)n, (lua_Integer)k, w, pivots, diagonal);
  clc_launch(L, kernels->pivot, &one, NULL);
  clc_setarguments(L, kernels->swap, "iibbb", (lua_Integer)n, (lua_Integer)k, w, pivots, diagonal);
  clc_launch(L, kernels->swap, &line, NULL);
  clc_setarguments(L, kernels->update, "iib", (lua_Integer)n, (lua_Integer)k, w);
  clc_launch(L, kernels->update, &square, NULL);
}

clc_Lu clc_factor(lua_State *L, clc_Buffer *a) {
  clc_Device *d = a->device;
  const size_t n = a->shape.dim[0];
  const clc_Shape line = {1, {n}};
  lua_createtable(L, 4, 0);
  const int parts = lua_gettop(L);
  clc_Buffer *w = clc_newbuffer(L, d, a->dtype, &a->shape);
  lua_rawseti(L, parts, 1);
  clc_Buffer *pivots = clc_newbuffer(L, d, clc_int, &line);
  clc_Buffer *diagonal = clc_newbuffer(L, d, a->dtype, &line);
  clc_copybuffer(L, a, 0, w, 0, w->count);
  const Kernels kernels = push_kernels(L, d, a->dtype);
  for (size_t k = 0; k < n; k++) eliminate_column(L, &kernels, w, n, k, pivots, diagonal);
  const double *on_diagonal = clc_pushdoubles(L, diagonal);
  lua_rawseti(L, parts, 2);
  int *rows = lua_newuserdatauv(L, n * sizeof *rows, 0);
  lua_rawseti(L, parts, 3);
  clc_readbuffer(L, pivots, 0, n, rows);
  clc_release(&pivots->h);
  clc_release(&diagonal->h);
  lua_settop(L, parts);
  return (clc_Lu){w, n, rows, on_diagonal};
}

/* --- solving ----------------------------------------------------------- */

/* Solves with one triangle, in place. */
static void substitute(lua_State *L, const clc_Lu *f, clc_Buffer *x, int lower, int unit,
                       int transpose) {
  clc_Device *d = x->device;
  const size_t columns = x->count / f->n, group = (size_t)group_size(d);
  const clc_Range range = clc_padded1(columns * group, group);
  const char *defines =
      lua_pushfstring(L, "%s#define LOWER %d\n#define UNIT %d\n#define TRANSPOSE %d\n",
                      push_group_define(L, d), lower, unit, transpose);
  clc_Kernel *k = clc_prebuilt(L, d, "lu_substitute", x->dtype, defines);
  clc_setarguments(L, k, "iibb", (lua_Integer)f->n, (lua_Integer)columns, f->lu, x);
  clc_launch(L, k, &range, NULL);
  lua_pop(L, 3);
}

/* Pushes the order of rows that the exchanges amount to. */
static clc_Buffer *push_order(lua_State *L, const clc_Lu *f) {
  const clc_Shape line = {1, {f->n}};
  cl_int *order = lua_newuserdatauv(L, f->n * sizeof *order, 0);
  for (size_t i = 0; i < f->n; i++) order[i] = (cl_int)i;
  for (size_t i = 0; i < f->n; i++) {
    const cl_int t = order[i];
    order[i] = order[f->pivots[i]];
    order[f->pivots[i]] = t;
  }
  clc_Buffer *b = clc_newbuffer(L, f->lu->device, clc_int, &line);
  clc_writebuffer(L, b, 0, f->n, order);
  lua_remove(L, -2);
  return b;
}

clc_Buffer *clc_lusolve(lua_State *L, const clc_Lu *f, clc_Buffer *b) {
  clc_Device *d = b->device;
  clc_Buffer *x = clc_newbuffer(L, d, b->dtype, &b->shape);
  if (x->count == 0) return x;
  const size_t columns = x->count / f->n;
  clc_Buffer *order = push_order(L, f);
  const clc_Range range = clc_covermatrix(d, f->n, columns);
  clc_Kernel *gather = clc_prebuilt(L, d, "gather_rows", x->dtype, "");
  clc_setarguments(L, gather, "iibbib", (lua_Integer)f->n, (lua_Integer)columns, order, b,
                   (lua_Integer)b->offset, x);
  clc_launch(L, gather, &range, NULL);
  clc_release(&order->h);
  lua_pop(L, 2);
  substitute(L, f, x, 1, 1, 0);
  substitute(L, f, x, 0, 0, 0);
  return x;
}

/* --- condition --------------------------------------------------------- */

/* One vector on the way through the estimate: on the host as doubles. */
typedef struct {
  const clc_Lu *f;
  clc_Buffer *b; /* n elements on the device */
  double *v;     /* n elements here */
} Vector;

static void upload(lua_State *L, Vector *x) {
  const size_t n = x->f->n;
  if (x->b->dtype->size == sizeof(double)) {
    clc_writebuffer(L, x->b, 0, n, x->v);
    return;
  }
  float *narrow = lua_newuserdatauv(L, n * sizeof *narrow, 0);
  for (size_t i = 0; i < n; i++) narrow[i] = (float)x->v[i];
  clc_writebuffer(L, x->b, 0, n, narrow);
  lua_pop(L, 1);
}

static void download(lua_State *L, Vector *x) {
  memcpy(x->v, clc_pushdoubles(L, x->b), x->f->n * sizeof *x->v);
  lua_pop(L, 1);
}

static void exchange(double *v, size_t i, size_t j) {
  const double t = v[i];
  v[i] = v[j];
  v[j] = t;
}

/* v <- A^-1 v */
static void apply_inverse(lua_State *L, Vector *x) {
  for (size_t i = 0; i < x->f->n; i++) exchange(x->v, i, (size_t)x->f->pivots[i]);
  upload(L, x);
  substitute(L, x->f, x->b, 1, 1, 0);
  substitute(L, x->f, x->b, 0, 0, 0);
  download(L, x);
}

/* v <- A^-T v */
static void apply_transposed(lua_State *L, Vector *x) {
  upload(L, x);
  substitute(L, x->f, x->b, 1, 0, 1);
  substitute(L, x->f, x->b, 0, 1, 1);
  download(L, x);
  for (size_t i = x->f->n; i-- > 0;) exchange(x->v, i, (size_t)x->f->pivots[i]);
}

static double norm1(const double *v, size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n; i++) sum += fabs(v[i]);
  return sum;
}

/* Higham's start beside the iteration: a vector that growing signs cannot hide from. */
static double alternating_estimate(lua_State *L, Vector *x) {
  const size_t n = x->f->n;
  const double steps = n > 1 ? (double)(n - 1) : 1;
  for (size_t i = 0; i < n; i++) x->v[i] = (i % 2 ? -1 : 1) * (1 + (double)i / steps);
  apply_inverse(L, x);
  return 2 * norm1(x->v, n) / (3 * (double)n);
}

/* A lower bound of the 1-norm of the inverse: a walk to a vertex of the unit ball
   where it is largest, along the gradient. */
static double inverse_norm(lua_State *L, Vector *x) {
  const size_t n = x->f->n;
  double estimate = 0;
  size_t vertex = n;
  for (size_t i = 0; i < n; i++) x->v[i] = 1 / (double)n;
  for (int step = 0; step < ESTIMATES; step++) {
    apply_inverse(L, x);
    const double norm = norm1(x->v, n);
    if (isnan(norm)) return INFINITY; /* what overflowed is beyond every norm */
    if (norm <= estimate) break;
    estimate = norm;
    for (size_t i = 0; i < n; i++) x->v[i] = x->v[i] < 0 ? -1 : 1;
    apply_transposed(L, x);
    size_t next = 0;
    for (size_t i = 1; i < n; i++)
      if (fabs(x->v[i]) > fabs(x->v[next])) next = i;
    if (next == vertex) break;
    vertex = next;
    memset(x->v, 0, n * sizeof *x->v);
    x->v[vertex] = 1;
  }
  const double alternating = alternating_estimate(L, x);
  if (isnan(alternating)) return INFINITY;
  return alternating > estimate ? alternating : estimate;
}

double clc_rcond(lua_State *L, const clc_Lu *f, double norm) {
  const clc_Shape line = {1, {f->n}};
  if (f->n == 0) return 1;
  Vector x = {f, clc_newbuffer(L, f->lu->device, f->lu->dtype, &line),
              lua_newuserdatauv(L, f->n * sizeof(double), 0)};
  const double inverse = inverse_norm(L, &x);
  clc_release(&x.b->h);
  lua_pop(L, 2);
  return fmin(1, 1 / (norm * inverse)); /* rounding may pass the limit */
}
