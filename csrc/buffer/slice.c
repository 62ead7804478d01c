/* SPDX-License-Identifier: MIT */
/* Slices: parts of a buffer along every dimension, which are expressions. */
#include "term.h"

/* What is taken along one dimension. */
typedef struct {
  size_t first, count, step; /* first from 0 */
  int is_index;              /* one element, and the dimension goes */
} Cut;

static lua_Integer cut_field(lua_State *L, int arg, int i, lua_Integer def) {
  int is_integer;
  if (lua_rawgeti(L, arg, i) == LUA_TNIL) {
    lua_pop(L, 1);
    return def;
  }
  const lua_Integer n = lua_tointegerx(L, -1, &is_integer);
  if (!is_integer) clc_argerror(L, arg, "{first, last, step} of integers expected");
  lua_pop(L, 1);
  return n;
}

static void check_keys(lua_State *L, int arg) {
  const lua_Unsigned n = lua_rawlen(L, arg);
  if (n > 3) clc_argerror(L, arg, "{first, last, step} expected, got %I values", (LUAI_UACINT)n);
  for (lua_pushnil(L); lua_next(L, arg) != 0; lua_pop(L, 1))
    if (!lua_isinteger(L, -2) || lua_tointeger(L, -2) < 1 || lua_tointeger(L, -2) > 3)
      clc_argerror(L, arg, "{first, last, step} expected, got the key '%s'",
                   luaL_tolstring(L, -2, NULL));
}

/* An index, {first, last, step}, or nil for all. */
static Cut check_cut(lua_State *L, int arg, size_t extent) {
  const lua_Integer n = (lua_Integer)extent;
  if (lua_isnoneornil(L, arg)) return (Cut){0, extent, 1, 0};
  const int is_index = !lua_istable(L, arg);
  if (is_index && !lua_isinteger(L, arg))
    luaL_typeerror(L, arg, "index, {first, last, step} or nil");
  if (!is_index) check_keys(L, arg);
  const lua_Integer first = is_index ? lua_tointeger(L, arg) : cut_field(L, arg, 1, 1);
  const lua_Integer last = is_index ? first : cut_field(L, arg, 2, n);
  const lua_Integer step = is_index ? 1 : cut_field(L, arg, 3, 1);
  if (step < 1) clc_argerror(L, arg, "a step is 1 or more, got %I", (LUAI_UACINT)step);
  if (first < 1 || last > n || last < first - 1 || (is_index && first > n))
    clc_argerror(L, arg, "%I .. %I is outside 1 .. %I", (LUAI_UACINT)first, (LUAI_UACINT)last,
                 (LUAI_UACINT)n);
  const size_t count = last < first ? 0 : (size_t)((last - first) / step) + 1;
  return (Cut){(size_t)first - 1, count, (size_t)step, is_index};
}

/* Cuts a leaf; its shape loses the dimensions of which one element is taken. */
static clc_Shape cut_leaf(clc_Term *t, const Cut *cuts) {
  clc_Shape shape = {0, {0}};
  for (int i = 0; i < t->shape.n; i++) {
    const size_t step = t->step[i];
    t->leaf.offset += cuts[i].first * step;
    if (cuts[i].is_index) continue;
    t->step[shape.n] = step * cuts[i].step;
    shape.dim[shape.n++] = cuts[i].count;
  }
  if (shape.n == 0) {
    t->step[0] = 1;
    shape = (clc_Shape){1, {1}};
  }
  return t->shape = shape;
}

/* Raises for more than there are dimensions: two integers may mean the first and the last. */
static void check_count(lua_State *L, const clc_Buffer *b) {
  if (b->shape.n == 1 && lua_gettop(L) == 3 && lua_isinteger(L, 2) && lua_isinteger(L, 3))
    luaL_error(L,
               "slice: one index or list a dimension expected, got two; write b:slice({ %I, %I })",
               (LUAI_UACINT)lua_tointeger(L, 2), (LUAI_UACINT)lua_tointeger(L, 3));
  clc_checkcount(L, "slice", b->shape.n, 1);
}

int clc_slicebuffer(lua_State *L) {
  clc_Buffer *b = clc_checkbuffer(L, 1);
  Cut cuts[CLC_MAXDIMS];
  clc_usedevice(L, b->device);
  check_count(L, b);
  for (int i = 0; i < b->shape.n; i++) cuts[i] = check_cut(L, i + 2, b->shape.dim[i]);
  lua_settop(L, 1);
  clc_Buffer *made = clc_pushbuffer(L, b->device, b->dtype, &b->shape);
  if (b->h.released) luaL_error(L, "buffer is released"); /* by a finalizer */
  if (b->count > 0) {
    made->term = clc_newleaf(L, b->device, b);
    clc_begindeferral(made);
    made->shape = cut_leaf(made->term, cuts);
  } else {
    clc_Term shape_alone = {.shape = b->shape};
    made->shape = cut_leaf(&shape_alone, cuts);
  }
  made->count = clc_count(&made->shape);
  made->is_slice = 1;
  if (made->count == 0 && made->term != NULL) clc_enddeferral(made);
  if (made->term != NULL) clc_keepdeferred(L, made);
  return 1;
}

void clc_openslices(lua_State *L) {
  static const clc_Function methods[] = {{"slice", clc_slicebuffer, CLC_ANY}, {NULL, NULL, 0}};
  clc_addmethods(L, &clc_buffertype, methods);
}
