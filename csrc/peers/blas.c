/* SPDX-License-Identifier: MIT */
/*
 * Peers to be compared with: OpenBLAS on the CPU, CLBlast on an OpenCL device. Both are opened
 * when asked, and nothing else of clcompute needs them.
 */
#include "peers.h"

#include <limits.h>

__attribute__((visibility("default"))) int luaopen_clcompute_blas(lua_State *L);

/* --- objects ---------------------------------------------------------------- */

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

void clc_openobject(lua_State *L, const char *tname, const clc_Function *methods,
                    const luaL_Reg *metamethods) {
  luaL_newmetatable(L, tname);
  lua_pushboolean(L, 0);
  lua_setfield(L, -2, "__metatable");
  lua_newtable(L);
  clc_setmethods(L, methods);
  lua_pushvalue(L, -1);
  lua_setfield(L, -3, "methods");
  lua_pushstring(L, tname);
  lua_insert(L, -2);
  lua_pushcclosure(L, object_index, 2);
  lua_setfield(L, -2, "__index");
  luaL_setfuncs(L, metamethods, 0);
  lua_pop(L, 1);
}

/* --- arguments -------------------------------------------------------------- */

int clc_checkextent(lua_State *L, int arg) {
  const lua_Integer n = luaL_checkinteger(L, arg);
  if (n < 0 || n > INT_MAX) clc_argerror(L, arg, "%I is outside 0 .. %d", (LUAI_UACINT)n, INT_MAX);
  return (int)n;
}

size_t clc_area(int rows, int cols) {
  return (size_t)rows * (size_t)cols;
}

/* BLAS wants rows at least 1 apart, even where they are empty. */
static int distance(int cols) {
  return cols > 0 ? cols : 1;
}

clc_Product clc_checkproduct(lua_State *L, int arg) {
  static const char *const keys[] = {"alpha", "beta", "transa", "transb", NULL};
  const int options = arg + 3;
  clc_Product p = {0};
  p.m = clc_checkextent(L, arg);
  p.n = clc_checkextent(L, arg + 1);
  p.k = clc_checkextent(L, arg + 2);
  clc_checkoptions(L, options, keys);
  p.alpha = clc_numberoption(L, options, "alpha", 1);
  p.beta = clc_numberoption(L, options, "beta", 0);
  p.transa = clc_booleanoption(L, options, "transa", 0);
  p.transb = clc_booleanoption(L, options, "transb", 0);
  p.lda = distance(p.transa ? p.m : p.k);
  p.ldb = distance(p.transb ? p.k : p.n);
  p.ldc = distance(p.n);
  return p;
}

/* --- the module ------------------------------------------------------------- */

int luaopen_clcompute_blas(lua_State *L) {
  lua_newtable(L);
  clc_openarrays(L);
  clc_openopenblas(L);
  clc_openclblast(L);
  return 1;
}
