/* SPDX-License-Identifier: MIT */
/* Pins: what C code goes on using while it allocates, whatever a finalizer releases meanwhile. */
#ifndef CLC_PIN_H
#define CLC_PIN_H

#include "handle.h"

#pragma GCC visibility push(hidden)

/* Pushes a reference of its own to what *object is, for as long as it is on the stack, and returns
   it. Raises where it is NULL: released, perhaps by what pushing has run. */
cl_program clc_pinprogram(lua_State *L, const cl_program *object);
cl_kernel clc_pinkernel(lua_State *L, const cl_kernel *object);

void clc_openpins(lua_State *L);

#pragma GCC visibility pop

#endif
