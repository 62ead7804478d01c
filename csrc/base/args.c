/* SPDX-License-Identifier: MIT */
/* Arguments: option tables with refused unknown keys, and their fields. */
#include "base.h"

#include <stdarg.h>
#include <string.h>

const char *clc_typename(lua_State *L, int idx) {
  if (lua_islightuserdata(L, idx) && lua_touserdata(L, idx) == NULL) return "cl.null";
  if (luaL_getmetafield(L, idx, CLC_INWORDS) == LUA_TNIL) return luaL_typename(L, idx);
  const char *words = lua_tostring(L, -1); /* which the metatable keeps */
  lua_pop(L, 1);
  return words;
}

static void push_names(lua_State *L, const char *const names[]) {
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  if (names[0] == NULL) luaL_addstring(&b, "none");
  for (int i = 0; names[i] != NULL; i++) {
    if (i > 0) luaL_addstring(&b, ", ");
    luaL_addstring(&b, names[i]);
  }
  luaL_pushresult(&b);
}

static int find_name(const char *name, const char *const names[]) {
  for (int i = 0; names[i] != NULL; i++)
    if (strcmp(names[i], name) == 0) return i;
  return -1;
}

int clc_checkoptions(lua_State *L, int arg, const char *const keys[]) {
  if (lua_isnoneornil(L, arg)) return 0;
  if (!lua_istable(L, arg) || clc_isobject(L, arg))
    clc_argerror(L, arg, "table expected, got %s", clc_typename(L, arg));
  lua_pushnil(L);
  while (lua_next(L, arg)) {
    if (lua_type(L, -2) != LUA_TSTRING || find_name(lua_tostring(L, -2), keys) < 0) {
      luaL_tolstring(L, -2, NULL);
      push_names(L, keys);
      clc_argerror(L, arg, "no option '%s'; there are %s", lua_tostring(L, -2),
                   lua_tostring(L, -1));
    }
    lua_pop(L, 1);
  }
  return 1;
}

int clc_pushoption(lua_State *L, int arg, const char *key) {
  if (!lua_istable(L, arg)) {
    lua_pushnil(L);
    return LUA_TNIL;
  }
  arg = lua_absindex(L, arg);
  lua_pushstring(L, key);
  return lua_rawget(L, arg);
}

int clc_optionerror(lua_State *L, int arg, const char *key, const char *complaint, ...) {
  va_list args;
  lua_pushfstring(L, "option '%s': ", key);
  va_start(args, complaint);
  lua_pushvfstring(L, complaint, args);
  va_end(args);
  lua_concat(L, 2);
  return luaL_argerror(L, arg, lua_tostring(L, -1));
}

static void type_error(lua_State *L, int arg, const char *key, const char *expected) {
  clc_optionerror(L, arg, key, "%s expected, got %s", expected, clc_typename(L, -1));
}

lua_Number clc_numberoption(lua_State *L, int arg, const char *key, lua_Number def) {
  if (clc_pushoption(L, arg, key) != LUA_TNIL) {
    if (lua_type(L, -1) != LUA_TNUMBER) type_error(L, arg, key, "number");
    def = lua_tonumber(L, -1);
  }
  lua_pop(L, 1);
  return def;
}

lua_Integer clc_integeroption(lua_State *L, int arg, const char *key, lua_Integer min,
                              lua_Integer def) {
  if (clc_pushoption(L, arg, key) != LUA_TNIL) {
    int ok = lua_type(L, -1) == LUA_TNUMBER;
    if (!ok) type_error(L, arg, key, "integer");
    def = lua_tointegerx(L, -1, &ok);
    if (!ok || def < min)
      clc_optionerror(L, arg, key, "integer of at least %I expected, got %s", (LUAI_UACINT)min,
                      luaL_tolstring(L, -1, NULL));
  }
  lua_pop(L, 1);
  return def;
}

int clc_booleanoption(lua_State *L, int arg, const char *key, int def) {
  if (clc_pushoption(L, arg, key) != LUA_TNIL) {
    if (!lua_isboolean(L, -1)) type_error(L, arg, key, "boolean");
    def = lua_toboolean(L, -1);
  }
  lua_pop(L, 1);
  return def;
}

const char *clc_stringoption(lua_State *L, int arg, const char *key, const char *def) {
  if (clc_pushoption(L, arg, key) != LUA_TNIL) {
    if (lua_type(L, -1) != LUA_TSTRING) type_error(L, arg, key, "string");
    def = lua_tostring(L, -1);
    if (strlen(def) != lua_rawlen(L, -1)) clc_optionerror(L, arg, key, "the text holds a NUL byte");
  }
  lua_pop(L, 1);
  return def;
}

int clc_enumoption(lua_State *L, int arg, const char *key, const char *const names[], int def) {
  const char *name = clc_stringoption(L, arg, key, NULL);
  if (name == NULL) return def;
  int i = find_name(name, names);
  if (i < 0) {
    push_names(L, names);
    clc_optionerror(L, arg, key, "no '%s'; there are %s", name, lua_tostring(L, -1));
  }
  return i;
}

void clc_checkinterval(lua_State *L, int arg, size_t n, size_t *first, size_t *last) {
  lua_Integer lo = luaL_optinteger(L, arg, 1);
  lua_Integer hi = luaL_optinteger(L, arg + 1, (lua_Integer)n);
  if (lo < 1 || lo - 1 > (lua_Integer)n)
    clc_argerror(L, arg, "%I is outside 1 .. %I", (LUAI_UACINT)lo, (LUAI_UACINT)n);
  if (hi < lo - 1 || hi > (lua_Integer)n)
    clc_argerror(L, arg + 1, "%I is outside %I .. %I", (LUAI_UACINT)hi, (LUAI_UACINT)lo,
                 (LUAI_UACINT)n);
  *first = (size_t)lo;
  *last = (size_t)hi;
}
