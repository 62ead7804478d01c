/* SPDX-License-Identifier: MIT */
/* gauss: solves A X = B, or says clearly why not. */
#ifndef CLC_GAUSS_H
#define CLC_GAUSS_H

#include "memory.h"

#pragma GCC visibility push(hidden)

void clc_opengauss(lua_State *L);

#pragma GCC visibility pop

#endif
