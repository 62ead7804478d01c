/* SPDX-License-Identifier: MIT */
/* Which loops carry a dependence, and between which accesses. */
#ifndef CLC_POLY_DEPENDENCES_H
#define CLC_POLY_DEPENDENCES_H

#include <lua.h>

int clc_dependences(lua_State *L);

#endif
