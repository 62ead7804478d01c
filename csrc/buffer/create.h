/* SPDX-License-Identifier: MIT */
/* Making buffers: from tables and bytes, of zeros, of random numbers. */
#ifndef CLC_CREATE_H
#define CLC_CREATE_H

#include "memory.h"

void clc_opencreate(lua_State *L);

#endif
