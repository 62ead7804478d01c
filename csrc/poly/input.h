/* SPDX-License-Identifier: MIT */
/* The argument of an analysis: one table of strings, numbers and lists of such tables. */
#ifndef CLC_POLY_INPUT_H
#define CLC_POLY_INPUT_H

#include <lauxlib.h>
#include <lua.h>

/* Begins with argument 1 alone, a table whose keys are all in the NULL-terminated list. It stands
   on top of the stack; what is read from it stays alive until the call ends. */
void clc_checkinput(lua_State *L, const char *const keys[]);

/* A field of the table on top. */
const char *clc_checktext(lua_State *L, const char *key);
lua_Integer clc_checknumber(lua_State *L, const char *key, lua_Integer min, lua_Integer max);
int clc_toflag(lua_State *L, const char *key);
unsigned long clc_optbudget(lua_State *L);

/* Pushes a list of the table on top, and returns its length. */
size_t clc_checklist(lua_State *L, const char *key);

/* Pushes row i (from 0) of the list on top: a table with keys of the NULL-terminated list. */
void clc_checkrow(lua_State *L, size_t i, const char *const keys[]);

#endif
