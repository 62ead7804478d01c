/* SPDX-License-Identifier: MIT */
/*
 * Rectangles as a script sees them: b:copy_rect, b:read_rect and b:write_rect. In a buffer of as
 * many dimensions its shape says where the rows are; in one of one dimension the option `pitch`
 * does.
 */
#include "buffer.h"

#include <stdint.h>

/* What the options that tell of one buffer are called. */
typedef struct {
  const char *at, *pitch;
} Keys;

static const Keys own = {"at", "pitch"}, others = {"to_at", "to_pitch"};

/* --- reading options --------------------------------------------------- */

/* Reads an integer, or a list of exactly n, each at least `min`; returns whether it was given. */
static int check_integers(lua_State *L, int arg, const char *key, lua_Integer min, int n,
                          size_t out[]) {
  const int type = clc_pushoption(L, arg, key);
  const int list = lua_gettop(L);
  if (type != LUA_TNIL && !(type == LUA_TNUMBER && n == 1) &&
      !(type == LUA_TTABLE && lua_rawlen(L, list) == (size_t)n))
    clc_optionerror(L, arg, key, n == 1 ? "integer expected" : "list of %d integers expected", n);
  for (int i = 0; i < n && type != LUA_TNIL; i++) {
    int integral;
    if (type == LUA_TTABLE)
      lua_rawgeti(L, list, i + 1);
    else
      lua_pushvalue(L, list);
    const lua_Integer value = lua_tointegerx(L, -1, &integral);
    if (!integral || lua_type(L, -1) != LUA_TNUMBER || value < min)
      clc_optionerror(L, arg, key, "integer of at least %I expected, got %s", (LUAI_UACINT)min,
                      luaL_tolstring(L, -1, NULL));
    out[i] = (size_t)value;
    lua_pop(L, 1);
  }
  lua_settop(L, list - 1);
  return type != LUA_TNIL;
}

static clc_Extent to_extent(const clc_Shape *size) {
  const int n = size->n;
  return (clc_Extent){n == 3 ? size->dim[0] : 1, size->dim[n - 2], size->dim[n - 1]};
}

/* The box in a buffer of as many dimensions as `size` has. */
static clc_Box box_by_shape(lua_State *L, int arg, clc_Buffer *b, const clc_Shape *size,
                            const Keys *keys) {
  const size_t *dim = b->shape.dim;
  const int n = size->n;
  size_t at[3] = {1, 1, 1}, first = 0, unused[2];
  check_integers(L, arg, keys->at, 1, n, at);
  if (check_integers(L, arg, keys->pitch, 1, n - 1, unused))
    clc_optionerror(L, arg, keys->pitch, "it is for a buffer of one dimension; this one is %s",
                    clc_pushshape(L, &b->shape));
  for (int i = 0; i < n; i++) {
    if (at[i] - 1 > dim[i] || size->dim[i] > dim[i] - (at[i] - 1))
      clc_optionerror(L, arg, keys->at,
                      "a size of %I from %I on is outside 1 .. %I along dimension %d",
                      (LUAI_UACINT)size->dim[i], (LUAI_UACINT)at[i], (LUAI_UACINT)dim[i], i + 1);
    first = first * dim[i] + at[i] - 1;
  }
  return (clc_Box){
      .buffer = b, .first = first, .row = dim[n - 1], .slice = n == 3 ? dim[1] * dim[2] : 0};
}

/* Takes n steps off the room there is; returns whether it was enough. */
static int take(size_t *room, size_t n, size_t step) {
  if (step > 0 && n > *room / step) return 0;
  *room -= n * step;
  return 1;
}

/* The box in a buffer of one dimension. */
static clc_Box box_by_pitch(lua_State *L, int arg, clc_Buffer *b, const clc_Shape *size,
                            const Keys *keys) {
  const clc_Extent e = to_extent(size);
  size_t at = 1, pitch[2], room = b->count;
  check_integers(L, arg, keys->at, 1, 1, &at);
  if (!check_integers(L, arg, keys->pitch, 1, size->n - 1, pitch))
    clc_optionerror(L, arg, keys->pitch, "a buffer of one dimension needs it");
  const size_t row = pitch[size->n - 2], slice = size->n == 3 ? pitch[0] : 0;
  if (row < e.cols)
    clc_optionerror(L, arg, keys->pitch, "rows of %I elements do not fit in %I",
                    (LUAI_UACINT)e.cols, (LUAI_UACINT)row);
  if (slice % row != 0 || (slice > 0 && slice / row < e.rows))
    clc_optionerror(L, arg, keys->pitch,
                    "%I from slice to slice is no multiple of %I that holds %I rows",
                    (LUAI_UACINT)slice, (LUAI_UACINT)row, (LUAI_UACINT)e.rows);
  const int is_empty = e.slices == 0 || e.rows == 0 || e.cols == 0;
  if (!is_empty && !(take(&room, at - 1, 1) && take(&room, e.slices - 1, slice) &&
                     take(&room, e.rows - 1, row) && take(&room, e.cols, 1)))
    clc_optionerror(L, arg, keys->at, "%s elements from %I on do not fit in %I",
                    clc_pushshape(L, size), (LUAI_UACINT)at, (LUAI_UACINT)b->count);
  /* The pitch of a single slice counts for nothing, and may be more than OpenCL counts in bytes. */
  return (clc_Box){.buffer = b, .first = at - 1, .row = row, .slice = e.slices > 1 ? slice : 0};
}

static clc_Box check_box(lua_State *L, int arg, clc_Buffer *b, const clc_Shape *size,
                         const Keys *keys) {
  if (b->shape.n == size->n) return box_by_shape(L, arg, b, size, keys);
  if (b->shape.n != 1)
    luaL_error(L, "a rectangle of %d dimensions is none of a buffer of %d (%s); reshape it",
               size->n, b->shape.n, clc_pushshape(L, &b->shape));
  return box_by_pitch(L, arg, b, size, keys);
}

/* The option `size`; without it, what follows `at` of a buffer of 2 or 3 dimensions. */
static clc_Shape check_size(lua_State *L, int arg, const clc_Buffer *b) {
  clc_Shape size = b->shape;
  size_t at[3] = {1, 1, 1};
  const int type = clc_pushoption(L, arg, "size");
  const size_t given = type == LUA_TTABLE ? lua_rawlen(L, -1) : 0;
  lua_pop(L, 1);
  if (type != LUA_TNIL) {
    if (given != 2 && given != 3)
      clc_optionerror(L, arg, "size", "list of 2 or 3 integers expected");
    size.n = (int)given;
    check_integers(L, arg, "size", 0, size.n, size.dim);
  } else if (size.n != 2 && size.n != 3) {
    clc_optionerror(L, arg, "size", "a buffer of %d dimension%s needs it", size.n,
                    size.n == 1 ? "" : "s");
  } else {
    check_integers(L, arg, "at", 1, size.n, at);
    for (int i = 0; i < size.n; i++) size.dim[i] -= at[i] - 1 < size.dim[i] ? at[i] - 1 : 0;
  }
  return size;
}

/* --- methods --------------------------------------------------------------- */

static clc_Buffer *check_target(lua_State *L, const clc_Buffer *from) {
  clc_pushoption(L, 2, "to");
  clc_Buffer *to = clc_testbuffer(L, -1);
  if (to == NULL) clc_optionerror(L, 2, "to", "buffer expected, got %s", clc_typename(L, -1));
  if (to->dtype != from->dtype)
    clc_optionerror(L, 2, "to", "%s buffer expected, got %s", from->dtype->name, to->dtype->name);
  return clc_checktarget(L, lua_gettop(L)); /* which the table keeps */
}

static int buffer_copy_rect(lua_State *L) {
  static const char *const keys[] = {"to", "size", "at", "to_at", "pitch", "to_pitch", NULL};
  clc_Buffer *b = clc_checkbuffer(L, 1);
  luaL_checktype(L, 2, LUA_TTABLE);
  clc_checkoptions(L, 2, keys);
  clc_Buffer *to = check_target(L, b);
  const clc_Shape size = check_size(L, 2, b);
  const clc_Box source = check_box(L, 2, b, &size, &own);
  const clc_Box target = check_box(L, 2, to, &size, &others);
  const clc_Extent e = to_extent(&size);
  clc_copybox(L, &source, &target, &e);
  lua_settop(L, 1);
  return 1;
}

static int buffer_read_rect(lua_State *L) {
  static const char *const keys[] = {"size", "at", "pitch", NULL};
  clc_Buffer *b = clc_checkbuffer(L, 1);
  clc_checkoptions(L, 2, keys);
  const clc_Shape size = check_size(L, 2, b);
  const clc_Box source = check_box(L, 2, b, &size, &own);
  const clc_Extent e = to_extent(&size);
  void *elements = clc_newelements(L, clc_count(&size) * b->dtype->size);
  clc_readbox(L, &source, &e, elements);
  clc_pushtable(L, b->dtype, &size, elements);
  return 1;
}

static void write_bytes(lua_State *L, clc_Buffer *b) {
  size_t length;
  const char *bytes = lua_tolstring(L, 2, &length);
  const clc_Shape size = check_size(L, 3, b);
  const clc_Box target = check_box(L, 3, b, &size, &own);
  const clc_Extent e = to_extent(&size);
  if (length != clc_count(&size) * b->dtype->size)
    clc_argerror(L, 2, "%s %s elements are %I bytes, got %I", clc_pushshape(L, &size),
                 b->dtype->name, (LUAI_UACINT)(clc_count(&size) * b->dtype->size),
                 (LUAI_UACINT)length);
  clc_writebox(L, &target, &e, bytes);
}

static void write_table(lua_State *L, clc_Buffer *b) {
  const clc_Shape size = clc_tableshape(L, 2, b->dtype);
  if (size.n != 2 && size.n != 3)
    clc_argerror(L, 2, "tables nested 2 or 3 deep expected, got %d", size.n);
  if (clc_pushoption(L, 3, "size") != LUA_TNIL)
    clc_optionerror(L, 3, "size", "a table brings its own");
  const clc_Box target = check_box(L, 3, b, &size, &own);
  const clc_Extent e = to_extent(&size);
  void *elements = clc_newelements(L, clc_count(&size) * b->dtype->size);
  clc_checktable(L, 2, b->dtype, &size, elements);
  clc_writebox(L, &target, &e, elements);
}

static int buffer_write_rect(lua_State *L) {
  static const char *const keys[] = {"size", "at", "pitch", NULL};
  clc_Buffer *b = clc_checktarget(L, 1);
  lua_settop(L, 3);
  clc_checkoptions(L, 3, keys);
  switch (lua_type(L, 2)) {
    case LUA_TTABLE: write_table(L, b); break;
    case LUA_TSTRING: write_bytes(L, b); break;
    default: luaL_typeerror(L, 2, "table or string");
  }
  lua_settop(L, 1);
  return 1;
}

void clc_openrectangles(lua_State *L) {
  static const clc_Function methods[] = {{"copy_rect", buffer_copy_rect, 1},
                                         {"read_rect", buffer_read_rect, 1},
                                         {"write_rect", buffer_write_rect, 2},
                                         {NULL, NULL, 0}};
  clc_addmethods(L, &clc_buffertype, methods);
}
