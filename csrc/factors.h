/* SPDX-License-Identifier: MIT */
/* lu: the factors of a matrix as an object, to solve with as often as one likes. */
#ifndef CLC_FACTORS_H
#define CLC_FACTORS_H

#include "memory.h"

#pragma GCC visibility push(hidden)

void clc_openfactors(lua_State *L);

#pragma GCC visibility pop

#endif
