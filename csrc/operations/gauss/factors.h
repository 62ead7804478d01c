/* SPDX-License-Identifier: MIT */
/* lu: the factors of a matrix as an object, to solve with as often as one likes. */
#ifndef CLC_FACTORS_H
#define CLC_FACTORS_H

#include "buffer/buffer.h"

void clc_openfactors(lua_State *L);

#endif
