/* SPDX-License-Identifier: MIT */
/* Arguments: option tables with refused unknown keys, and their fields. */
#ifndef CLC_ARGS_H
#define CLC_ARGS_H

#include "error.h"

/* Checks that an argument is absent or a table whose keys are all in the
   NULL-terminated list; returns whether it is a table. Fields are read raw. */
int clc_checkoptions(lua_State *L, int arg, const char *const keys[]);

/* The field of an option table, or the default where table or field is absent. */
lua_Number clc_numberoption(lua_State *L, int arg, const char *key, lua_Number def);
lua_Integer clc_integeroption(lua_State *L, int arg, const char *key, lua_Integer min,
                              lua_Integer def);
int clc_booleanoption(lua_State *L, int arg, const char *key, int def);
/* The string lives as long as the table keeps it. */
const char *clc_stringoption(lua_State *L, int arg, const char *key, const char *def);
/* Index into a NULL-terminated list of names. */
int clc_enumoption(lua_State *L, int arg, const char *key, const char *const names[], int def);

/* Pushes the field (nil where absent) and returns its type. */
int clc_pushoption(lua_State *L, int arg, const char *key);

/* Raises "option 'key': complaint"; the complaint is a lua_pushfstring format. */
int clc_optionerror(lua_State *L, int arg, const char *key, const char *complaint, ...);

/* An optional pair first, last: 1-based, inclusive, within 1 .. n; default all.
   `first == last + 1` is the empty range. */
void clc_checkinterval(lua_State *L, int arg, size_t n, size_t *first, size_t *last);

#endif
