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
