/* SPDX-License-Identifier: MIT */
/* What the two halves of the library hand each other: functions of the core for its own Lua
   modules, and those of Lua that the core asks. */
#include "base.h"

#define INTERNAL "clcompute.internal" /* in the registry: the table of both */

void clc_addinternal(lua_State *L, const luaL_Reg *functions) {
  luaL_getsubtable(L, LUA_REGISTRYINDEX, INTERNAL);
  luaL_setfuncs(L, functions, 0);
  lua_setfield(L, -2, "internal");
}

int clc_getinternal(lua_State *L, const char *name) {
  luaL_getsubtable(L, LUA_REGISTRYINDEX, INTERNAL);
  const int type = lua_getfield(L, -1, name);
  lua_remove(L, -2);
  return type;
}

int clc_isspread(lua_State *L, int arg) {
  if (luaL_getmetafield(L, arg, "clcompute") == LUA_TNIL) return 0;
  lua_pop(L, 1);
  return 1;
}

int clc_callspread(lua_State *L, const char *name) {
  clc_getinternal(L, "call_spread");
  lua_pushstring(L, name);
  lua_rotate(L, 1, 2);
  lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
  return lua_gettop(L);
}
