/* SPDX-License-Identifier: MIT */
/* When a nest of loops needs what an array held before it. */
#ifndef CLC_POLY_UNCOVERED_H
#define CLC_POLY_UNCOVERED_H

#include <lua.h>

#pragma GCC visibility push(hidden)

int clc_uncovered(lua_State *L);

#pragma GCC visibility pop

#endif
