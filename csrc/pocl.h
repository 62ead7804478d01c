/* SPDX-License-Identifier: MIT */
/* What POCL must have before it compiles: without it the driver ends the process. */
#ifndef CLC_POCL_H
#define CLC_POCL_H

#include "device.h"

#pragma GCC visibility push(hidden)

/* On POCL alone: raises when there is no `ld` in PATH, which links its kernels, or
   too little room for the files it makes of them. To be called before a build. */
void clc_checkpocl(lua_State *L, clc_Device *d);

#pragma GCC visibility pop

#endif
