/* SPDX-License-Identifier: MIT */
/* The folder of the library's own OpenCL C. */
#include "kernel_folder.h"

static const char key = 0; /* in the registry */

const char *clc_pushkernelfolder(lua_State *L) {
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &key) == LUA_TSTRING) return lua_tostring(L, -1);
  lua_pop(L, 1);
  return lua_pushliteral(L, "kernels");
}

/* Internal: cl.set_kernel_folder(path); init.lua takes it away. */
static int set_kernel_folder(lua_State *L) {
  luaL_checkstring(L, 1);
  lua_settop(L, 1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &key);
  return 0;
}

void clc_openkernelfolder(lua_State *L) {
  lua_pushcfunction(L, set_kernel_folder);
  lua_setfield(L, -2, "set_kernel_folder");
}
