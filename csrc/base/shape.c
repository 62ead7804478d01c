/* SPDX-License-Identifier: MIT */
/* Shapes: the extents of a buffer, 1 to 4 of them, row-major. */
#include "base.h"

#include <stdint.h>

#define MOST_EMPTY ((size_t)1 << 20) /* tables without an element that are made */

size_t clc_count(const clc_Shape *s) {
  size_t count = 1;
  for (int i = 0; i < s->n; i++) count *= s->dim[i];
  return count;
}

int clc_sameshape(const clc_Shape *a, const clc_Shape *b) {
  int same = a->n == b->n;
  for (int i = 0; same && i < a->n; i++) same = a->dim[i] == b->dim[i];
  return same;
}

size_t clc_rowcount(const clc_Shape *s) {
  size_t count = 1;
  for (int i = 1; i < s->n; i++) count *= s->dim[i];
  return count;
}

/* A zero extent must not hide that the others overflow, so it counts as 1. */
static int fits_memory(const clc_Shape *s, size_t size) {
  size_t bytes = size;
  for (int i = 0; i < s->n; i++)
    if (__builtin_mul_overflow(bytes, s->dim[i] == 0 ? 1 : s->dim[i], &bytes)) return 0;
  return bytes <= PTRDIFF_MAX;
}

void clc_checkmemory(lua_State *L, const clc_Shape *s, const clc_Dtype *dtype) {
  if (!fits_memory(s, dtype->size))
    luaL_error(L, "%s %s elements do not fit in memory", clc_pushshape(L, s), dtype->name);
}

static void check_memory(lua_State *L, int arg, const clc_Shape *s, const clc_Dtype *dtype) {
  if (!fits_memory(s, dtype->size))
    clc_argerror(L, arg, "%s %s elements do not fit in memory", clc_pushshape(L, s), dtype->name);
}

clc_Shape clc_checkshape(lua_State *L, int first, int last, const clc_Dtype *dtype) {
  clc_Shape s = {0, {0}};
  if (last < first) luaL_argerror(L, first, "size expected");
  if (last - first >= CLC_MAXDIMS) luaL_argerror(L, first + CLC_MAXDIMS, "at most 4 dimensions");
  for (int arg = first; arg <= last; arg++) {
    lua_Integer n = luaL_checkinteger(L, arg);
    if (n < 0) clc_argerror(L, arg, "size must not be negative, got %I", (LUAI_UACINT)n);
    s.dim[s.n++] = (size_t)n;
    check_memory(L, arg, &s, dtype);
  }
  return s;
}

clc_Shape clc_tableshape(lua_State *L, int arg, const clc_Dtype *dtype) {
  clc_Shape s = {0, {0}};
  lua_pushvalue(L, arg);
  while (lua_istable(L, -1)) {
    if (s.n == CLC_MAXDIMS) luaL_argerror(L, arg, "tables nested more than 4 deep");
    s.dim[s.n++] = lua_rawlen(L, -1);
    lua_rawgeti(L, -1, 1);
    lua_remove(L, -2);
  }
  lua_pop(L, 1);
  check_memory(L, arg, &s, dtype);
  return s;
}

/* --- tables ------------------------------------------------------------ */

typedef struct {
  lua_State *L;
  int arg;
  const clc_Dtype *dtype;
  const clc_Shape *s;
  char *next;                /* where the next element goes */
  size_t place[CLC_MAXDIMS]; /* 1-based, of the table at hand */
} Reader;

/* "[2][3]: " for the first `depth` places, then the complaint at the top. */
static void raise_place(Reader *r, int depth, const char *complaint) {
  luaL_Buffer b;
  lua_State *L = r->L;
  luaL_buffinit(L, &b);
  for (int i = 0; i < depth; i++) {
    lua_pushfstring(L, "[%I]", (LUAI_UACINT)r->place[i]);
    luaL_addvalue(&b);
  }
  if (depth > 0) luaL_addstring(&b, ": ");
  luaL_addstring(&b, complaint);
  luaL_pushresult(&b);
  luaL_argerror(L, r->arg, lua_tostring(L, -1));
}

/* Refuses keys beside 1 .. n at the top of the stack, such as the 0 of another
   language. They come after the list, so a table that is one costs nothing. */
static void check_keys(Reader *r, int depth, size_t n) {
  lua_State *L = r->L;
  if (n > 0)
    lua_pushinteger(L, (lua_Integer)n);
  else
    lua_pushnil(L);
  while (lua_next(L, -2)) {
    int integral;
    const lua_Integer key = lua_tointegerx(L, -2, &integral);
    if (!integral || lua_type(L, -2) != LUA_TNUMBER || key < 1 || (lua_Unsigned)key > n)
      raise_place(r, depth,
                  lua_pushfstring(L, "a list has no key '%s'", luaL_tolstring(L, -2, NULL)));
    lua_pop(L, 1);
  }
}

/* Refuses an empty table whose metatable may give what it seems to hold: elements are read raw. */
static void check_own(Reader *r, int depth) {
  if (luaL_getmetafield(r->L, -1, "__index") != LUA_TNIL ||
      luaL_getmetafield(r->L, -1, "__len") != LUA_TNIL)
    raise_place(r, depth, "no elements of its own; those that a metatable gives are not read");
}

/* Reads the table at the top of the stack, `depth` levels down. */
static void read_table(Reader *r, int depth) {
  lua_State *L = r->L;
  const size_t n = r->s->dim[depth];
  if (!lua_istable(L, -1) || clc_isobject(L, -1))
    raise_place(r, depth, lua_pushfstring(L, "table expected, got %s", clc_typename(L, -1)));
  if (lua_rawlen(L, -1) != n)
    raise_place(r, depth,
                lua_pushfstring(L, "%I value%s expected, got %I", (LUAI_UACINT)n, n == 1 ? "" : "s",
                                (LUAI_UACINT)lua_rawlen(L, -1)));
  check_keys(r, depth, n);
  if (n == 0) check_own(r, depth);
  if (depth == r->s->n - 1) {
    size_t bad = r->dtype->totable(L, -1, n, r->next);
    if (bad != 0) {
      r->place[depth] = bad;
      lua_rawgeti(L, -1, (lua_Integer)bad);
      raise_place(r, depth + 1, clc_pushmismatch(L, -1, r->dtype));
    }
    r->next += n * r->dtype->size;
    return;
  }
  for (size_t i = 1; i <= n; i++) {
    r->place[depth] = i;
    lua_rawgeti(L, -1, (lua_Integer)i);
    read_table(r, depth + 1);
    lua_pop(L, 1);
  }
}

void clc_checktable(lua_State *L, int arg, const clc_Dtype *dtype, const clc_Shape *s,
                    void *elements) {
  Reader r = {L, arg, dtype, s, elements, {0}};
  luaL_checkstack(L, CLC_MAXDIMS + 4, NULL);
  lua_pushvalue(L, arg);
  read_table(&r, 0);
  lua_pop(L, 1);
}

static const char *push_level(lua_State *L, const clc_Dtype *dtype, const clc_Shape *s, int depth,
                              const char *next) {
  const size_t n = s->dim[depth];
  if (depth == s->n - 1) {
    dtype->pushtable(L, n, next);
    return next + n * dtype->size;
  }
  lua_createtable(L, n > INT32_MAX ? INT32_MAX : (int)n, 0);
  for (size_t i = 1; i <= n; i++) {
    next = push_level(L, dtype, s, depth + 1, next);
    lua_rawseti(L, -2, (lua_Integer)i);
  }
  return next;
}

/* Rows without elements cost no memory on a device, but a table each here. */
static void check_empty(lua_State *L, const clc_Shape *s) {
  size_t tables = 1;
  int i = 0;
  for (; i < s->n && s->dim[i] > 0; i++) tables *= s->dim[i];
  if (i < s->n && tables > MOST_EMPTY)
    luaL_error(L, "%s elements are none, but %I empty tables: at most %I are made",
               clc_pushshape(L, s), (LUAI_UACINT)tables, (LUAI_UACINT)MOST_EMPTY);
}

void clc_pushtable(lua_State *L, const clc_Dtype *dtype, const clc_Shape *s, const void *elements) {
  luaL_checkstack(L, CLC_MAXDIMS + 2, NULL);
  check_empty(L, s);
  push_level(L, dtype, s, 0, elements);
}

const char *clc_pushshape(lua_State *L, const clc_Shape *s) {
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  for (int i = 0; i < s->n; i++) {
    lua_pushfstring(L, i == 0 ? "%I" : "x%I", (LUAI_UACINT)s->dim[i]);
    luaL_addvalue(&b);
  }
  luaL_pushresult(&b);
  return lua_tostring(L, -1);
}

void clc_pushextents(lua_State *L, int n, const size_t dim[]) {
  lua_createtable(L, n, 0);
  for (int i = 0; i < n; i++) {
    lua_pushinteger(L, (lua_Integer)dim[i]);
    lua_rawseti(L, -2, i + 1);
  }
}
