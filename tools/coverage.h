/* SPDX-License-Identifier: MIT */
/*
 * Put before every file by `make coverage`, so that branches which nothing can take, and those
 * within macros of Lua's own headers, are not counted as the library's.
 */
#ifndef CLC_COVERAGE_H
#define CLC_COVERAGE_H

#define _GNU_SOURCE /* what a file asks of the system's headers comes too late here */

#include <lauxlib.h>
#include <lua.h>

/* They do not return, which Lua's headers do not say. */
__attribute__((noreturn)) int lua_error(lua_State *L);
__attribute__((noreturn)) int luaL_error(lua_State *L, const char *format, ...);
__attribute__((noreturn)) int luaL_argerror(lua_State *L, int arg, const char *complaint);
__attribute__((noreturn)) int luaL_typeerror(lua_State *L, int arg, const char *name);

/* It asks whether there is room, and then whether making room has failed. */
#undef luaL_addchar
#define luaL_addchar(B, c) luaL_addlstring((B), (const char[]){(char)(c)}, 1)

#endif
