/* SPDX-License-Identifier: MIT */
/* The folder of the library's own OpenCL C: prebuilt kernels, and headers for those of users. */
#ifndef CLC_KERNELFOLDER_H
#define CLC_KERNELFOLDER_H

#include "base/base.h"

/* Pushes its path, as the module that found the core told. */
const char *clc_pushkernelfolder(lua_State *L);

void clc_openkernelfolder(lua_State *L);

#endif
