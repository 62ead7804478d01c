/* SPDX-License-Identifier: MIT */
/* How good a solution of linear equations is. */
#include <float.h>
#include <math.h>

#include "elimination.h"
#include "lu.h"
#include "systems.h"

#define RESIDUAL_ROWS 4 /* ROWS of residual_vectors */
#define LANES 32        /* work-items of a row for residual_lanes */
#define FEW 65536       /* elements that are read sooner than a device has added them up */

double clc_epsilon(const clc_Dtype *dtype) {
  return dtype == clc_float ? (double)FLT_EPSILON : DBL_EPSILON;
}

clc_Systems clc_systemsof(const clc_Buffer *a, const clc_Buffer *b) {
  const size_t count = a->shape.n == 3 ? a->shape.dim[0] : 1, n = a->shape.dim[a->shape.n - 1];
  return (clc_Systems){count, n, count * n == 0 ? 0 : b->count / (count * n)};
}

static size_t columns_of(const clc_Buffer *b) {
  return b->shape.n == 1 ? 1 : b->shape.dim[b->shape.n - 1];
}

/* "a[2][3] is NaN" */
static void raise_element(lua_State *L, const clc_Buffer *b, const char *name, size_t i, double v) {
  size_t rest = b->count;
  lua_pushstring(L, name);
  for (int k = 0; k < b->shape.n; k++) {
    rest /= b->shape.dim[k];
    lua_pushfstring(L, "%s[%I]", lua_tostring(L, -1),
                    (LUAI_UACINT)(i / rest % b->shape.dim[k] + 1));
  }
  luaL_error(L, "%s is %s", lua_tostring(L, -1), isnan(v) ? "NaN" : "infinite");
}

/* The larger one; once NaN, always NaN. */
static double larger(double a, double b) {
  return isnan(a) || a >= b ? a : b;
}

/* The exact place costs a transfer of everything, so of many elements it is looked for only when
   something is wrong. Sums that overflow end here too, and are told apart. */
static double scan_on_host(lua_State *L, clc_Buffer *b, const char *name) {
  const size_t columns = columns_of(b);
  const double *v = clc_pushdoubles(L, b);
  double norm = 0;
  for (size_t i = 0; i < b->count; i++)
    if (!isfinite(v[i])) raise_element(L, b, name, i, v[i]);
  for (size_t j = 0; j < columns; j++) {
    double sum = 0;
    for (size_t i = j; i < b->count; i += columns) sum += fabs(v[i]);
    norm = fmax(norm, sum);
  }
  lua_pop(L, 1);
  if (!isfinite(norm)) luaL_error(L, "%s: its 1-norm overflows", name);
  return norm;
}

double clc_checknorm1(lua_State *L, clc_Buffer *b, const char *name) {
  const size_t columns = columns_of(b);
  const clc_Shape line = {1, {columns}};
  double norm = 0;
  if (b->count == 0) return 0;
  if (b->count <= FEW) return scan_on_host(L, b, name);
  clc_Buffer *sums = clc_newbuffer(L, b->device, b->dtype, &line);
  clc_Kernel *k = clc_prebuilt(L, b->device, "column_sums", b->dtype, "");
  const clc_Range range = clc_padded1(columns, 64);
  clc_run(L, k, &range, clc_size(b->count / columns), clc_size(columns), clc_elements(b),
          clc_memory(sums));
  const double *v = clc_pushdoubles(L, sums);
  for (size_t j = 0; j < columns; j++) norm = larger(norm, v[j]);
  clc_release(&sums->h);
  lua_pop(L, 3);
  return isfinite(norm) ? norm : scan_on_host(L, b, name);
}

/* One that is built soonest judges a small system, and the host adds up. */
static int is_small(const clc_LuRow *row, const clc_Buffer *a, const clc_Systems *s) {
  return a->shape.n == 2 && s->n <= row->small && s->columns <= row->few;
}

/* On the cores of a CPU. Columns, where there are some, fill a vector; else elements of a row do.
 */
static clc_Kernel *push_vectors(lua_State *L, const clc_Buffer *a, const clc_Systems *s,
                                clc_Range *range) {
  clc_Device *d = a->device;
  const clc_LuRow row = clc_getlurow(L, a);
  if (a->shape.n == 3 || row.vector == 1 || is_small(&row, a, s)) return NULL;
  const size_t across = s->columns > row.few;
  *range = clc_padded2(across ? clc_parts(s->columns, row.vector) : s->columns,
                       clc_parts(s->n, RESIDUAL_ROWS), 1, 1);
  const char *defines = clc_define(L, {"V", row.vector}, {"ACROSS", across},
                                   {"WIDE", a->dtype == clc_float && d->context->has_double});
  clc_Kernel *k = clc_prebuilt(L, d, "residual_vectors", a->dtype, defines);
  lua_remove(L, -2);
  return k;
}

/* On a GPU, for a few columns: a row has work-items side by side. */
static clc_Kernel *push_lanes(lua_State *L, const clc_Buffer *a, const clc_Systems *s,
                              clc_Range *range) {
  const size_t group = clc_tasksize(a->device), lanes = group < LANES ? group : LANES;
  *range = clc_batchrange(clc_parts(s->n * lanes, group), s->columns, 1, group, 1);
  clc_Kernel *k = clc_prebuilt(L, a->device, "residual_lanes", a->dtype,
                               clc_define(L, {"GROUP", group}, {"LANES", lanes}));
  lua_remove(L, -2);
  return k;
}

/* The kernel for all elements at once. */
static clc_Kernel *push_plain(lua_State *L, const clc_Buffer *a, const clc_Systems *s,
                              clc_Range *range) {
  *range = clc_covermatrix(a->device, s->n, s->columns);
  return clc_prebuilt(L, a->device, "residual", a->dtype, "");
}

static int is_for_groups(lua_State *L, const clc_Buffer *a, const clc_Systems *s) {
  const clc_LuRow row = clc_getlurow(L, a);
  return row.vector == 1 && s->columns <= row.few && !is_small(&row, a, s);
}

/* Queues R = B - A X in twice the precision. */
static void residual(lua_State *L, const clc_Systems *s, clc_Buffer *a, clc_Buffer *x,
                     clc_Buffer *b, clc_Buffer *r) {
  clc_Range range;
  clc_Kernel *k = push_vectors(L, a, s, &range);
  if (k == NULL) {
    k = (is_for_groups(L, a, s) ? push_lanes : push_plain)(L, a, s, &range);
    range.dims = 3;
  }
  for (size_t first = 0; first < s->count; first += CLC_MOSTGROUPS) {
    range.offset[2] = first;
    range.global[2] = s->count - first < CLC_MOSTGROUPS ? s->count - first : CLC_MOSTGROUPS;
    clc_run(L, k, &range, clc_size(s->n), clc_size(s->columns), clc_elements(a), clc_elements(x),
            clc_elements(b), clc_memory(r));
  }
  lua_pop(L, 1);
}

/* The ratio of one column, from the first of its n elements, `step` apart. */
static double column_ratio(const double *x, const double *r, size_t n, size_t step, double norm_a,
                           double eps) {
  double largest = 0, norm_x = 0, norm_r = 0;
  for (size_t i = 0; i < n; i++) largest = larger(largest, fabs(x[i * step]));
  const double scale = largest > 1 ? 0x1p-64 : 1; /* sums of great numbers would overflow */
  for (size_t i = 0; i < n; i++) {
    norm_x += fabs(x[i * step]) * scale;
    norm_r += fabs(r[i * step]);
  }
  return norm_r == 0 ? 0 : norm_r / norm_a / norm_x / eps * scale;
}

/* From the elements of x and r. */
static void find_ratios(lua_State *L, const clc_Systems *s, const double *norms, clc_Buffer *x,
                        clc_Buffer *r, double *ratios) {
  const double eps = clc_epsilon(x->dtype);
  const double *vx = clc_pushdoubles(L, x), *vr = clc_pushdoubles(L, r);
  for (size_t i = 0; i < s->count; i++) {
    const size_t first = i * s->n * s->columns;
    ratios[i] = 0;
    for (size_t j = first; j < first + s->columns; j++)
      ratios[i] = larger(ratios[i], column_ratio(vx + j, vr + j, s->n, s->columns, norms[i], eps));
  }
  lua_pop(L, 2);
}

static void add_up(lua_State *L, const clc_Systems *s, clc_Buffer *x, clc_Buffer *r,
                   clc_Buffer *sums) {
  const size_t group = clc_tasksize(x->device);
  const clc_Range range = clc_padded2(group, s->columns, group, 1);
  clc_Kernel *k =
      clc_prebuilt(L, x->device, "solution_sums", x->dtype, clc_define(L, {"GROUP", group}));
  clc_run(L, k, &range, clc_size(s->n), clc_size(s->columns), clc_memory(x), clc_memory(r),
          clc_memory(sums));
  lua_pop(L, 2);
}

/* From what the device finds out of each column: of a batch together with the residual. */
static void find_ratios_there(lua_State *L, const clc_Systems *s, const double *norms,
                              clc_Buffer *a, clc_Buffer *x, clc_Buffer *b, clc_Buffer *r,
                              double *ratios) {
  const double eps = clc_epsilon(x->dtype);
  clc_Buffer *sums =
      clc_newbuffer(L, x->device, x->dtype, &(clc_Shape){1, {3 * s->count * s->columns}});
  if (a->shape.n == 3) {
    clc_judgebatch(L, s, a, x, b, r, sums);
  } else {
    residual(L, s, a, x, b, r);
    add_up(L, s, x, r, sums);
  }
  const double *found = clc_pushdoubles(L, sums);
  for (size_t i = 0; i < s->count; i++) {
    ratios[i] = 0;
    for (size_t j = 0; j < s->columns; j++, found += 3) {
      const double ratio = found[2] / norms[i] / found[0] / found[1] / eps;
      ratios[i] = larger(ratios[i], found[2] == 0 ? 0 : ratio);
    }
  }
  clc_release(&sums->h);
  lua_pop(L, 2);
}

double clc_judge(lua_State *L, const clc_Systems *s, const double *norms, clc_Buffer *a,
                 clc_Buffer *x, clc_Buffer *b, clc_Buffer *r, double *ratios) {
  double worst = 0;
  if (is_for_groups(L, a, s) && (a->shape.n == 2 || clc_batchrows(L, a, s->n) > 0)) {
    find_ratios_there(L, s, norms, a, x, b, r, ratios);
  } else {
    residual(L, s, a, x, b, r);
    find_ratios(L, s, norms, x, r, ratios);
  }
  for (size_t i = 0; i < s->count; i++) worst = larger(worst, ratios[i]);
  return worst;
}
