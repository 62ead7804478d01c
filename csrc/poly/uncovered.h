/* SPDX-License-Identifier: MIT */
/* When a nest of loops needs what an array held before it. */
#ifndef CLC_POLY_UNCOVERED_H
#define CLC_POLY_UNCOVERED_H

#include <lua.h>

int clc_uncovered(lua_State *L);

#endif
