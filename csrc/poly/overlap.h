/* SPDX-License-Identifier: MIT */
/* Whether elements are touched by two sets of accesses. */
#ifndef CLC_POLY_OVERLAP_H
#define CLC_POLY_OVERLAP_H

#include <lua.h>

int clc_overlap(lua_State *L);

#endif
