/* SPDX-License-Identifier: MIT */
/* The condition of a matrix, from its LU factors. */
#include <math.h>
#include <string.h>

#include "elimination.h"
#include "lu.h"
#include "operations/operations.h"

#define SMALL 64 /* rows of a matrix for which a journey to the device takes longer */

/* An inverse, of which no more is known than what it makes of vectors: on the host with the
   factors as doubles, or on the device. */
typedef struct {
  const clc_Lu *f;
  const double *w; /* factors on the host, or NULL */
  const int *pivots;
  clc_Buffer *b, *x; /* vectors before and after, on the device, or NULL */
  double *v;         /* n rows of one or two vectors, of that size */
  double unit;
  int steps; /* of the walk: the first usually ends it, and costs two passes over w */
} Inverse;

/* --- on the host, for small matrices ---------------------------------------- */

static void swap(double *v, size_t step, size_t i, size_t p) {
  const double t = v[i * step];
  v[i * step] = v[p * step];
  v[p * step] = t;
}

static void solve_here(const Inverse *s, double *v, size_t step) {
  const size_t n = s->f->n, ld = s->f->ld;
  for (size_t i = 0; i < n; i++) swap(v, step, i, (size_t)s->pivots[i]);
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < i; k++) v[i * step] -= s->w[i * ld + k] * v[k * step];
  for (size_t i = n; i-- > 0;) {
    for (size_t k = i + 1; k < n; k++) v[i * step] -= s->w[i * ld + k] * v[k * step];
    v[i * step] /= s->w[i * ld + i];
  }
}

static void solve_transposed_here(const Inverse *s, double *v, size_t step) {
  const size_t n = s->f->n, ld = s->f->ld;
  for (size_t i = 0; i < n; i++) {
    v[i * step] /= s->w[i * ld + i];
    for (size_t k = i + 1; k < n; k++) v[k * step] -= s->w[i * ld + k] * v[i * step];
  }
  for (size_t i = n; i-- > 0;)
    for (size_t k = 0; k < i; k++) v[k * step] -= s->w[i * ld + k] * v[i * step];
  for (size_t i = n; i-- > 0;) swap(v, step, i, (size_t)s->pivots[i]);
}

/* --- on the device ----------------------------------------------------------- */

static void upload(lua_State *L, const Inverse *s, size_t count) {
  if (s->b->dtype->size == sizeof(double)) {
    clc_writebuffer(L, s->b, 0, count, s->v);
    return;
  }
  float *narrow = lua_newuserdatauv(L, count * sizeof *narrow, 0);
  for (size_t i = 0; i < count; i++) narrow[i] = (float)s->v[i];
  clc_writebuffer(L, s->b, 0, count, narrow);
  lua_pop(L, 1);
}

/* v <- A^-1 v, or A^-T v, for so many vectors. */
static void apply_inverse(lua_State *L, const Inverse *s, int transposed, size_t columns) {
  const size_t count = s->f->n * columns;
  if (s->w != NULL) {
    for (size_t j = 0; j < columns; j++)
      (transposed ? solve_transposed_here : solve_here)(s, s->v + j, columns);
    return;
  }
  upload(L, s, count);
  clc_lusolvefew(L, s->f, transposed, columns, s->b, s->x);
  memcpy(s->v, clc_pushdoubles(L, s->x), count * sizeof *s->v);
  lua_pop(L, 1);
}

/* --- the walk ------------------------------------------------------------------ */

static double norm1(const double *v, size_t n, size_t step) {
  double sum = 0;
  for (size_t i = 0; i < n; i++) sum += fabs(v[i * step]);
  return sum;
}

/* Two vectors, solved for at once: an even one, and Higham's, which grows with changing signs, and
   from which no inverse hides. Returns the larger estimate; the walk starts with its vector. */
static double start(lua_State *L, const Inverse *s) {
  const size_t n = s->f->n;
  const double growth = n > 1 ? 1 / (double)(n - 1) : 1;
  for (size_t i = 0; i < n; i++) {
    s->v[2 * i] = s->unit / (double)n;
    s->v[2 * i + 1] = (i % 2 ? -1 : 1) * (1 + (double)i * growth) * s->unit;
  }
  apply_inverse(L, s, 0, 2);
  const double even = norm1(s->v, n, 2), beside = 2 * norm1(s->v + 1, n, 2) / (3 * (double)n);
  for (size_t i = 0; i < n; i++) s->v[i] = s->v[2 * i + (beside > even)];
  return isnan(beside) || beside > even ? beside : even;
}

static size_t find_largest(const double *v, size_t n) {
  size_t at = 0;
  for (size_t i = 1; i < n; i++)
    if (fabs(v[i]) > fabs(v[at])) at = i;
  return at;
}

/* Replaces v by its signs, of that size; returns whether they differ from those before. */
static int take_signs(double *v, signed char *signs, size_t n, double unit) {
  int differ = 0;
  for (size_t i = 0; i < n; i++) {
    const signed char sign = v[i] < 0 ? -1 : 1;
    differ |= sign != signs[i];
    signs[i] = sign;
    v[i] = sign * unit;
  }
  return differ;
}

/* A lower bound of the 1-norm of the inverse, times the size of its vectors: a walk to a vertex of
   the unit ball where it is largest, along the gradient. The same signs have the same gradient, and
   end it. */
static double inverse_norm(lua_State *L, const Inverse *s, signed char *signs) {
  const size_t n = s->f->n;
  double estimate = start(L, s);
  size_t vertex = n;
  if (isnan(estimate)) return INFINITY; /* overflow is beyond every norm */
  for (int step = 0; step < s->steps && take_signs(s->v, signs, n, s->unit); step++) {
    apply_inverse(L, s, 1, 1);
    const size_t next = find_largest(s->v, n);
    if (next == vertex) break;
    vertex = next;
    memset(s->v, 0, n * sizeof *s->v);
    s->v[vertex] = s->unit;
    apply_inverse(L, s, 0, 1);
    const double norm = norm1(s->v, n, 1);
    if (isnan(norm)) return INFINITY;
    if (norm <= estimate) break;
    estimate = norm;
  }
  return estimate;
}

double clc_sizeofvectors(double norm) {
  return norm > 0 && isfinite(norm) ? ldexp(1, ilogb(norm) / 2) : 1;
}

/* From that bound. Rounding may pass 1. */
static double rcond_of(double norm, double inverse, double unit) {
  return fmin(1, unit / norm / inverse);
}

/* Of a batch that lies by rows, on the device. */
static void estimate_batch(lua_State *L, const clc_Lu *f, double *rconds) {
  const clc_Batch batch = {f->count, f->n, f->lu, f->exchanges, NULL, f->order, NULL, NULL};
  clc_Buffer *inverses =
      clc_newbuffer(L, f->lu->device, f->lu->dtype, &(clc_Shape){1, {2 * f->count}});
  clc_estimatebatch(L, &batch, inverses);
  const double *numbers = clc_pushdoubles(L, inverses);
  for (size_t i = 0; i < f->count; i++)
    rconds[i] = rcond_of(f->norms[i], numbers[2 * i], numbers[2 * i + 1]);
  clc_release(&inverses->h);
  lua_pop(L, 2);
}

int clc_canwalk(lua_State *L, const clc_Lu *f) {
  return !f->is_batch && !f->is_small && f->n > SMALL && clc_getlurow(L, f->lu).vector == 1;
}

double clc_walkrcond(lua_State *L, const clc_Lu *f, clc_Buffer *most) {
  const double inverse = *clc_pushdoubles(L, most);
  lua_pop(L, 1);
  return rcond_of(f->norms[0], inverse, clc_sizeofvectors(f->norms[0]));
}

static void walk(lua_State *L, const clc_Lu *f, double *rconds) {
  clc_Buffer *most = clc_newbuffer(L, f->lu->device, f->lu->dtype, &(clc_Shape){1, {1}});
  clc_luwalk(L, f, 0, NULL, NULL, most);
  rconds[0] = clc_walkrcond(L, f, most);
  clc_release(&most->h);
  lua_pop(L, 1);
}

void clc_rconds(lua_State *L, int table, clc_Lu *f, double *rconds) {
  const clc_Shape pair = {2, {f->n, 2}};
  const int top = lua_gettop(L), here = f->is_batch || f->is_small || f->n <= SMALL;
  luaL_checkstack(L, 30, NULL);
  clc_neednorms(L, table, f);
  if ((f->is_batch || f->is_small) && f->order != NULL && f->lu->count > 0 &&
      clc_batchrows(L, f->lu, f->n) > 0) {
    estimate_batch(L, f, rconds);
    return;
  }
  if (clc_canwalk(L, f)) {
    walk(L, f, rconds);
    return;
  }
  if (here) clc_needpivots(L, table, f);
  Inverse s = {.f = f, .steps = f->is_batch || f->n <= SMALL ? 4 : 1};
  s.v = lua_newuserdatauv(L, 2 * f->n * sizeof *s.v, 0);
  signed char *signs = lua_newuserdatauv(L, f->n, 0);
  const double *w = here ? clc_pushdoubles(L, f->lu) : NULL;
  if (!here) {
    s.b = clc_newbuffer(L, f->lu->device, f->lu->dtype, &pair);
    s.x = clc_newbuffer(L, f->lu->device, f->lu->dtype, &pair);
  }
  for (size_t i = 0; i < f->count; i++) {
    memset(signs, 0, f->n);
    s.w = here ? w + i * f->n * f->n : NULL;
    s.pivots = f->pivots + i * f->n;
    s.unit = clc_sizeofvectors(f->norms[i]);
    rconds[i] = f->n > 0 ? rcond_of(f->norms[i], inverse_norm(L, &s, signs), s.unit) : 1;
  }
  if (!here) {
    clc_release(&s.b->h);
    clc_release(&s.x->h);
  }
  lua_settop(L, top);
}
