/* SPDX-License-Identifier: MIT */
/* When accesses leave their array, and how far they go. */
#ifndef CLC_POLY_EXTREMES_H
#define CLC_POLY_EXTREMES_H

#include <lua.h>

int clc_extremes(lua_State *L);

#endif
