/* SPDX-License-Identifier: MIT */
/* CLBlast, a peer to be compared with on the same OpenCL device. */
#ifndef CLC_CLBLAST_H
#define CLC_CLBLAST_H

#include <lua.h>

/* Adds the function `clblast` to the module at the top. */
void clc_openclblast(lua_State *L);

#endif
