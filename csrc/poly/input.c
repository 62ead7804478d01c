/* SPDX-License-Identifier: MIT */
/* The argument of an analysis: one table of strings, numbers and lists of such tables. */
#include "poly.h"

#include <limits.h>
#include <string.h>

#include "base/base.h"

/* Operations of isl; a kernel of a textbook takes a few thousands to 200,000. */
#define DEFAULT_BUDGET 3000000

enum { INPUT = 1, KEPT = 2 }; /* stack indices; KEPT maps what was read to true */

static int contains(const char *const keys[], const char *key) {
  for (int i = 0; keys[i] != NULL; i++)
    if (strcmp(keys[i], key) == 0) return 1;
  return 0;
}

static void check_keys(lua_State *L, const char *const keys[]) {
  lua_pushnil(L);
  while (lua_next(L, -2)) {
    if (lua_type(L, -2) != LUA_TSTRING || !contains(keys, lua_tostring(L, -2))) {
      const char *key = luaL_tolstring(L, -2, NULL);
      luaL_error(L, "%sno field '%s' is known here", clc_pushrunning(L), key);
    }
    lua_pop(L, 1);
  }
}

/* A finalizer, which any allocation may run, could take it out of the script's table. */
static void keep(lua_State *L) {
  lua_pushvalue(L, -1);
  lua_pushboolean(L, 1);
  lua_rawset(L, KEPT);
}

static void push_field(lua_State *L, const char *key, int type) {
  lua_pushstring(L, key);
  const int given = lua_rawget(L, -2);
  if (given != type)
    luaL_error(L, "%sfield '%s': %s expected, got %s", clc_pushrunning(L), key,
               lua_typename(L, type), lua_typename(L, given));
}

void clc_checkinput(lua_State *L, const char *const keys[]) {
  luaL_checktype(L, INPUT, LUA_TTABLE);
  lua_settop(L, INPUT);
  lua_newtable(L);
  lua_pushvalue(L, INPUT);
  check_keys(L, keys);
}

const char *clc_checktext(lua_State *L, const char *key) {
  push_field(L, key, LUA_TSTRING);
  keep(L);
  const char *text = lua_tostring(L, -1);
  lua_pop(L, 1);
  return text;
}

const char *clc_opttext(lua_State *L, const char *key) {
  lua_pushstring(L, key);
  const int absent = lua_rawget(L, -2) == LUA_TNIL;
  lua_pop(L, 1);
  return absent ? NULL : clc_checktext(L, key);
}

lua_Integer clc_checknumber(lua_State *L, const char *key, lua_Integer min, lua_Integer max) {
  push_field(L, key, LUA_TNUMBER);
  int integral;
  const lua_Integer n = lua_tointegerx(L, -1, &integral);
  if (!integral || n < min || n > max) {
    const char *given = luaL_tolstring(L, -1, NULL);
    luaL_error(L, "%sfield '%s': integer within %I .. %I expected, got %s", clc_pushrunning(L), key,
               (LUAI_UACINT)min, (LUAI_UACINT)max, given);
  }
  lua_pop(L, 1);
  return n;
}

int clc_toflag(lua_State *L, const char *key) {
  lua_pushstring(L, key);
  lua_rawget(L, -2);
  const int flag = lua_toboolean(L, -1);
  lua_pop(L, 1);
  return flag;
}

unsigned long clc_optbudget(lua_State *L) {
  lua_pushliteral(L, "budget");
  const int absent = lua_rawget(L, -2) == LUA_TNIL;
  lua_pop(L, 1);
  return absent ? DEFAULT_BUDGET : (unsigned long)clc_checknumber(L, "budget", 1, INT_MAX);
}

size_t clc_checklist(lua_State *L, const char *key) {
  push_field(L, key, LUA_TTABLE);
  keep(L);
  return lua_rawlen(L, -1);
}

void clc_checkrow(lua_State *L, size_t i, const char *const keys[]) {
  const int given = lua_rawgeti(L, -1, (lua_Integer)i + 1);
  if (given != LUA_TTABLE)
    luaL_error(L, "%srow %d: table expected, got %s", clc_pushrunning(L), (int)i + 1,
               lua_typename(L, given));
  keep(L);
  check_keys(L, keys);
}
