/* SPDX-License-Identifier: MIT */
/* OpenBLAS, a peer to be compared with on the CPU. */
#ifndef CLC_OPENBLAS_H
#define CLC_OPENBLAS_H

#include <lua.h>

/* Adds the function `openblas` to the module at the top. */
void clc_openopenblas(lua_State *L);

#endif
