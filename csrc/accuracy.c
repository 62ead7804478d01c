/* SPDX-License-Identifier: MIT */
/* How good a solution of linear equations is. */
#include "accuracy.h"

#include <float.h>
#include <math.h>

#include "operand.h"
#include "prebuilt.h"

double clc_epsilon(const clc_Dtype *dtype) {
  return dtype == clc_float ? (double)FLT_EPSILON : DBL_EPSILON;
}

static size_t columns_of(const clc_Buffer *b) {
  return b->shape.n == 1 ? 1 : b->shape.dim[1];
}

static void raise_element(lua_State *L, const clc_Buffer *b, const char *name, size_t i, double v) {
  const int row = (int)(i / columns_of(b)) + 1, column = (int)(i % columns_of(b)) + 1;
  const char *what = isnan(v) ? "NaN" : "infinite";
  if (b->shape.n == 1)
    luaL_error(L, "%s[%d] is %s", name, row, what);
  else
    luaL_error(L, "%s[%d][%d] is %s", name, row, column, what);
}

/* The larger one; once NaN, always NaN. */
static double larger(double a, double b) {
  return isnan(a) || a >= b ? a : b;
}

/* The exact place costs a transfer of everything, so it is looked for only when
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
  clc_Buffer *sums = clc_newbuffer(L, b->device, b->dtype, &line);
  clc_Kernel *k = clc_prebuilt(L, b->device, "column_sums", b->dtype, "");
  const clc_Range range = clc_padded1(columns, 64);
  clc_setarguments(L, k, "iibib", (lua_Integer)(b->count / columns), (lua_Integer)columns, b,
                   (lua_Integer)b->offset, sums);
  clc_launch(L, k, &range, NULL);
  const double *v = clc_pushdoubles(L, sums);
  for (size_t j = 0; j < columns; j++) norm = larger(norm, v[j]);
  clc_release(&sums->h);
  lua_pop(L, 3);
  return isfinite(norm) ? norm : scan_on_host(L, b, name);
}

void clc_residual(lua_State *L, clc_Buffer *a, clc_Buffer *x, clc_Buffer *b, clc_Buffer *r) {
  const size_t columns = columns_of(x), n = a->shape.dim[0];
  clc_Kernel *k = clc_prebuilt(L, a->device, "residual", a->dtype, "");
  const clc_Range range = clc_covermatrix(a->device, n, columns);
  clc_setarguments(L, k, "iibibibib", (lua_Integer)n, (lua_Integer)columns, a,
                   (lua_Integer)a->offset, x, (lua_Integer)x->offset, b, (lua_Integer)b->offset, r);
  clc_launch(L, k, &range, NULL);
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

double clc_ratio(lua_State *L, double norm_a, clc_Buffer *x, clc_Buffer *r) {
  const size_t columns = columns_of(x);
  const double eps = clc_epsilon(x->dtype);
  const double *vx = clc_pushdoubles(L, x), *vr = clc_pushdoubles(L, r);
  double worst = 0;
  for (size_t j = 0; j < columns; j++)
    worst = larger(worst, column_ratio(vx + j, vr + j, x->count / columns, columns, norm_a, eps));
  lua_pop(L, 2);
  return worst;
}
