/* SPDX-License-Identifier: MIT */
/* gauss: solves A X = B, or says clearly why not. */
#ifndef CLC_GAUSS_H
#define CLC_GAUSS_H

#include "buffer/buffer.h"

void clc_opengauss(lua_State *L);

#endif
