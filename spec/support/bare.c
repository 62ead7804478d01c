/* SPDX-License-Identifier: MIT */
/* The yardstick for transfers: what Lua's own interface costs an element. */
#include <lauxlib.h>
#include <lua.h>
#include <stdint.h>

/* get(t, n): a table's n numbers, each by lua_rawgeti and lua_tonumberx, to floats. */
static int bare_get(lua_State *L) {
  const lua_Integer n = luaL_checkinteger(L, 2);
  float *out = lua_newuserdatauv(L, (size_t)n * sizeof *out, 0);
  for (lua_Integer i = 0; i < n; i++) {
    lua_rawgeti(L, 1, i + 1);
    out[i] = (float)lua_tonumberx(L, -1, NULL);
    lua_pop(L, 1);
  }
  return 1;
}

/* set(floats, n): n floats in a new table, each by lua_pushnumber and lua_rawseti. */
static int bare_set(lua_State *L) {
  const float *in = lua_touserdata(L, 1);
  const lua_Integer n = luaL_checkinteger(L, 2);
  lua_createtable(L, (int)n, 0);
  for (lua_Integer i = 0; i < n; i++) {
    lua_pushnumber(L, (lua_Number)in[i]);
    lua_rawseti(L, -2, i + 1);
  }
  return 1;
}

int luaopen_bare(lua_State *L) {
  static const luaL_Reg functions[] = {{"get", bare_get}, {"set", bare_set}, {NULL, NULL}};
  luaL_newlib(L, functions);
  return 1;
}
