/* SPDX-License-Identifier: MIT */
/* Objects with methods and constant fields, which stand in a table that is their user value. */
#include "object.h"

void *clc_checkobject(lua_State *L, int arg, const char *tname) {
  const clc_Object *o = luaL_checkudata(L, arg, tname);
  if (lua_rawlen(L, arg) < sizeof *o || o->type != tname)
    luaL_argerror(L, arg, lua_pushfstring(L, "%s expected, got its metatable alone", tname));
  return (void *)o;
}

/* Upvalues: the type's name, methods. */
static int object_index(lua_State *L) {
  const char *tname = lua_tostring(L, lua_upvalueindex(1));
  luaL_checkudata(L, 1, tname);
  if (lua_islightuserdata(L, 1)) luaL_typeerror(L, 1, tname); /* these have a metatable in common */
  lua_settop(L, 2);
  lua_pushvalue(L, 2);
  if (lua_rawget(L, lua_upvalueindex(2)) != LUA_TNIL) return 1;
  if (lua_getiuservalue(L, 1, 1) == LUA_TTABLE) {
    lua_pushvalue(L, 2);
    if (lua_rawget(L, -2) != LUA_TNIL) return 1;
  }
  return luaL_error(L, "%s has no field '%s'", tname, luaL_tolstring(L, 2, NULL));
}

void clc_openobject(lua_State *L, const char *tname, const luaL_Reg *methods,
                    const luaL_Reg *metamethods) {
  luaL_newmetatable(L, tname);
  lua_pushboolean(L, 0);
  lua_setfield(L, -2, "__metatable");
  lua_newtable(L);
  luaL_setfuncs(L, methods, 0);
  lua_pushvalue(L, -1);
  lua_setfield(L, -3, "methods");
  lua_pushstring(L, tname);
  lua_insert(L, -2);
  lua_pushcclosure(L, object_index, 2);
  lua_setfield(L, -2, "__index");
  luaL_setfuncs(L, metamethods, 0);
  lua_pop(L, 1);
}
