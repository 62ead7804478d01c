/* SPDX-License-Identifier: MIT */
/* Tables that calls return: plain, but print shows what is in them. */
#ifndef CLC_RESULT_H
#define CLC_RESULT_H

#include "error.h"

/* Gives the table at the top, a list, a metatable of that name: tostring is a line
   for each element, or the text `empty`. */
void clc_namelist(lua_State *L, const char *name, const char *empty);

/* The same for a table of fields: tostring is "key = value, ..." of those that are
   there, in the order of the NULL-terminated list; of a list the first elements. */
void clc_namerecord(lua_State *L, const char *name, const char *const keys[]);

/* The same: tostring is a line "key = value" for each field, in order of their names. */
void clc_namefields(lua_State *L, const char *name);

#endif
