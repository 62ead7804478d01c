/* SPDX-License-Identifier: MIT */
/* What the targets of `make fuzz-c` share: a Lua state, and calls that may raise. */
#ifndef target_h
#define target_h

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

/* Calls f with the input as a string; an error is a result like others. */
static inline void target_call(lua_State *L, lua_CFunction f, const uint8_t *data, size_t size) {
  lua_pushcfunction(L, f);
  lua_pushlstring(L, (const char *)data, size);
  lua_pcall(L, 1, 0, 0);
  lua_settop(L, 0);
}

/* The state that all inputs share. */
static inline lua_State *target_state(void) {
  static lua_State *L;
  if (L == NULL) {
    L = luaL_newstate();
    luaL_openlibs(L);
  }
  return L;
}

#endif
