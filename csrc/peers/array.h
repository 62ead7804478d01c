/* SPDX-License-Identifier: MIT */
/* Arrays in host memory that a script holds and a C library computes with, uncopied. */
#ifndef CLC_ARRAY_H
#define CLC_ARRAY_H

#include "base/base.h"
#include "object.h"

typedef struct clc_Array {
  clc_Object object;
  void *elements; /* begin a cache line */
  size_t count;
  int is_double; /* else float */
} clc_Array;

/* Pushes a new array whose elements are not set. */
clc_Array *clc_newarray(lua_State *L, size_t count, int is_double);

/* The array of an argument; like: of that dtype, with exactly so many elements. */
clc_Array *clc_checkarray(lua_State *L, int arg);
clc_Array *clc_checkarraylike(lua_State *L, int arg, const clc_Array *like, size_t count);

/* Adds the function `array` to the module at the top. */
void clc_openarrays(lua_State *L);

#endif
