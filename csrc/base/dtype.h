/* SPDX-License-Identifier: MIT */
/* Element types: OpenCL's scalar types as rows of a table, and how one element
   of each crosses between Lua and memory. */
#ifndef CLC_DTYPE_H
#define CLC_DTYPE_H

#include "error.h"

typedef struct clc_Dtype {
  const char *name; /* as in OpenCL C: "float" */
  size_t size;      /* bytes of an element */
  int floating;
  /* Converts the number at a stack index; returns 0 when it has no such value.
     The element may be unaligned memory. */
  int (*to)(lua_State *L, int idx, void *element);
  void (*push)(lua_State *L, const void *element);
  /* The same over n elements of the table at idx; returns the 1-based place of
     the first value that failed, or 0. Here the memory is aligned. */
  size_t (*totable)(lua_State *L, int idx, size_t n, void *elements);
  void (*pushtable)(lua_State *L, size_t n, const void *elements);
} clc_Dtype;

extern const clc_Dtype *const clc_int, *const clc_float, *const clc_double;

/* The type of that name, or NULL. */
const clc_Dtype *clc_finddtype(const char *name, size_t length);

/* The type named by an argument, with `def` (NULL: none) where it is absent. */
const clc_Dtype *clc_checkdtype(lua_State *L, int arg);
const clc_Dtype *clc_optdtype(lua_State *L, int arg, const char *def);

/* Pushes why the value at idx is no element of the type: "number expected, got
   nil", "3.5 has no integer value", "300 does not fit char". */
const char *clc_pushmismatch(lua_State *L, int idx, const clc_Dtype *dtype);

/* Converts an argument, or raises with the mismatch. */
void clc_checkelement(lua_State *L, int arg, const clc_Dtype *dtype, void *element);

#endif
