/* SPDX-License-Identifier: MIT */
/* An order of a sequential nest's passes in which many run side by side. */
#ifndef CLC_POLY_WAVEFRONT_H
#define CLC_POLY_WAVEFRONT_H

#include <lua.h>

int clc_wavefront(lua_State *L);

#endif
