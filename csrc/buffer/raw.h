/* SPDX-License-Identifier: MIT */
/* Raw OpenCL handles, for other libraries that compute on the same memory. */
#ifndef CLC_RAW_H
#define CLC_RAW_H

#include "memory.h"

void clc_openraw(lua_State *L);

#endif
