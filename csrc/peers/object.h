/* SPDX-License-Identifier: MIT */
/* Objects with methods and constant fields, which stand in a table that is their user value. */
#ifndef CLC_OBJECT_H
#define CLC_OBJECT_H

#include <lauxlib.h>
#include <lua.h>

/* What every object begins with, since a metatable alone can be set by `debug`: the address of its
   type's name. */
typedef struct clc_Object {
  const char *type;
} clc_Object;

/* The object of an argument; tname is where its type's name stands. */
void *clc_checkobject(lua_State *L, int arg, const char *tname);

/* Makes the metatable of a type. What is neither a method nor a field is an error. */
void clc_openobject(lua_State *L, const char *tname, const luaL_Reg *methods,
                    const luaL_Reg *metamethods);

#endif
