/* SPDX-License-Identifier: MIT */
/* What all packages stand on: the C API of Lua with the errors, arguments, handles and element
 * types of this library. */
#ifndef CLC_BASE_H
#define CLC_BASE_H

#include "dtype.h"
#include "error.h"
#include "handle.h"
#include "platform.h"
#include "shape.h"
#include "wait.h"

/* --- option tables: args.c ------------------------------------------------- */

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

/* --- results that print: result.c ------------------------------------------ */

/* Gives the table at the top, a list, a metatable of that name: tostring is a line
   for each element, or the text `empty`. */
void clc_namelist(lua_State *L, const char *name, const char *empty);

/* The same for a table of fields: tostring is "key = value, ..." of those that are
   there, in the order of the NULL-terminated list; of a list the first elements. */
void clc_namerecord(lua_State *L, const char *name, const char *const keys[]);

/* The same: tostring is a line "key = value" for each field, in order of their names. */
void clc_namefields(lua_State *L, const char *name);

#endif
