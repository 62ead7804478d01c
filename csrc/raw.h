/* SPDX-License-Identifier: MIT */
/* Raw OpenCL handles, for other libraries that compute on the same memory. */
#ifndef CLC_RAW_H
#define CLC_RAW_H

#include "memory.h"

#pragma GCC visibility push(hidden)

void clc_openraw(lua_State *L);

#pragma GCC visibility pop

#endif
