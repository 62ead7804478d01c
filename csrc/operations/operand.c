/* SPDX-License-Identifier: MIT */
/* Operands: the buffers an operation computes with, checked the same way everywhere. */
#include "operand.h"

#include <string.h>

#include "base/base.h"

static int is_real(const clc_Buffer *b) {
  return b->dtype == clc_float || b->dtype == clc_double;
}

clc_Buffer *clc_checkreal(lua_State *L, int arg) {
  clc_Buffer *b = clc_checkbuffer(L, arg);
  if (!is_real(b)) clc_argerror(L, arg, "float or double buffer expected, got %s", b->dtype->name);
  return b;
}

/* Why b does not go with the other one, perhaps pushed; NULL when it does. */
static const char *push_difference(lua_State *L, const clc_Buffer *b, const clc_Buffer *like) {
  if (b->dtype != like->dtype)
    return lua_pushfstring(L, "%s buffer expected, got %s", like->dtype->name, b->dtype->name);
  return clc_devicecomplaint(b, like->device);
}

clc_Buffer *clc_checklike(lua_State *L, int arg, const clc_Buffer *like) {
  clc_Buffer *b = clc_checkbuffer(L, arg);
  const char *difference = push_difference(L, b, like);
  if (difference != NULL) luaL_argerror(L, arg, difference);
  return b;
}

clc_Buffer *clc_pushbufferoption(lua_State *L, int arg, const char *key, const clc_Buffer *like) {
  clc_Buffer *b = NULL;
  if (clc_pushoption(L, arg, key) != LUA_TNIL) {
    b = clc_testbuffer(L, -1);
    if (b == NULL)
      clc_optionerror(L, arg, key, "buffer expected, got %s%s",
                      luaL_testudata(L, -1, clc_buffertype.tname) ? "released " : "",
                      luaL_testudata(L, -1, clc_buffertype.tname) ? "buffer" : clc_typename(L, -1));
    const char *difference = push_difference(L, b, like);
    if (difference != NULL) clc_optionerror(L, arg, key, "%s", difference);
    if (b->is_slice) clc_optionerror(L, arg, key, CLC_SLICE);
  }
  return b;
}

void clc_checkshapeof(lua_State *L, int arg, const char *key, const clc_Buffer *b,
                      const clc_Shape *shape) {
  if (clc_sameshape(&b->shape, shape)) return;
  const char *expected = clc_pushshape(L, shape), *got = clc_pushshape(L, &b->shape);
  if (key == NULL) clc_argerror(L, arg, "shape %s expected, got %s", expected, got);
  clc_optionerror(L, arg, key, "shape %s expected, got %s", expected, got);
}

int clc_checkresult(lua_State *L, const char *operation, const clc_Buffer *out, const clc_Buffer *b,
                    const char *name) {
  if (!clc_overlap(out, b)) return 0;
  if (out->dtype->size != b->dtype->size || out->offset != b->offset || out->count != b->count)
    luaL_error(L, "%s: the result overlaps '%s', shifted", operation, name);
  return 1;
}

void clc_checksquare(lua_State *L, int arg, const clc_Buffer *a) {
  const clc_Shape *s = &a->shape;
  if ((s->n != 2 && s->n != 3) || s->dim[s->n - 1] != s->dim[s->n - 2])
    clc_argerror(L, arg, "square matrix expected, got shape %s", clc_pushshape(L, s));
}

void clc_checkrights(lua_State *L, int arg, const clc_Buffer *b, int is_batch, size_t count,
                     size_t n) {
  const clc_Shape *s = &b->shape;
  if (!is_batch && (s->n > 2 || s->dim[0] != n))
    clc_argerror(L, arg, "%I rows expected, got shape %s", (LUAI_UACINT)n, clc_pushshape(L, s));
  if (is_batch && (s->n < 2 || s->n > 3 || s->dim[0] != count || s->dim[1] != n))
    clc_argerror(L, arg, "%I systems of %I rows expected, got shape %s", (LUAI_UACINT)count,
                 (LUAI_UACINT)n, clc_pushshape(L, s));
}

double *clc_pushdoubles(lua_State *L, clc_Buffer *b) {
  double *values = lua_newuserdatauv(L, b->count * sizeof *values, 0);
  clc_readbuffer(L, b, 0, b->count, values);
  if (b->dtype == clc_float) /* widen in place, from the end */
    for (size_t i = b->count; i-- > 0;) {
      float v;
      memcpy(&v, (const char *)values + i * sizeof v, sizeof v);
      values[i] = (double)v;
    }
  return values;
}

size_t clc_parts(size_t n, size_t part) {
  return (n + part - 1) / part;
}

size_t clc_roundup(size_t n, size_t multiple) {
  return clc_parts(n, multiple) * multiple;
}

clc_Range clc_padded2(size_t n0, size_t n1, size_t g0, size_t g1) {
  return (clc_Range){2, {n0, n1, 1}, {g0, g1, 1}, {0, 0, 0}, CLC_GIVEN, CLC_PAD, 1};
}

clc_Range clc_padded1(size_t n0, size_t g0) {
  return (clc_Range){1, {n0, 1, 1}, {g0, 1, 1}, {0, 0, 0}, CLC_GIVEN, CLC_PAD, 1};
}

/* A CPU fills its vectors along a row, or down the column of a narrow matrix; a
   GPU's square-ish groups share the lines they load. */
clc_Range clc_covermatrix(const clc_Device *d, size_t rows, size_t columns) {
  if (columns < 16) return clc_padded2(columns, rows, 1, 64);
  return d->context->is_cpu ? clc_padded2(columns, rows, 64, 1) : clc_padded2(columns, rows, 32, 8);
}

size_t clc_tasksize(const clc_Device *d) {
  size_t size = d->context->is_cpu ? 64 : 256;
  while (size > d->context->max_group) size /= 2;
  return size;
}
