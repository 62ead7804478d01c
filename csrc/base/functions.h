/* SPDX-License-Identifier: MIT */
/* Functions as scripts call them, and how many arguments each takes. */
#ifndef CLC_FUNCTIONS_H
#define CLC_FUNCTIONS_H

#include <lauxlib.h>
#include <limits.h>
#include <lua.h>

#define CLC_ANY (INT_MAX - 1) /* the function counts its arguments */

/* A row of a list that ends with {NULL}. The row must outlive the Lua state. */
typedef struct clc_Function {
  const char *name;
  lua_CFunction call;
  int most; /* arguments, not counting the object of a method */
} clc_Function;

/* Sets the functions, or methods, in the table at the top. They raise when they are called with
   more arguments than they take; nils at the end do not count. */
void clc_setfunctions(lua_State *L, const clc_Function *functions);
void clc_setmethods(lua_State *L, const clc_Function *methods);

/* What such a function does first. `self`: 1 for a method, whose object is on the stack too. */
void clc_checkcount(lua_State *L, const char *name, int most, int self);

/* Whether the function that runs is one that was set as a method. */
int clc_inmethod(lua_State *L);

/* Pushes what messages of the function that runs begin with, "zeros: "; "" where it is none of a
   list. */
const char *clc_pushrunning(lua_State *L);

#endif
