/* SPDX-License-Identifier: MIT */
/* POCL: what it must have before it compiles, and where its threads run. */
#ifndef CLC_POCL_H
#define CLC_POCL_H

#include "device.h"

/*
 * Has POCL pin each of its threads to a processor, unless the environment says otherwise or some
 * processors are not this process's. Woken together, they else begin on one processor, and wait
 * for each other until the next look of the scheduler: work of less than 200 us then runs on one
 * core. To be called before the first call of OpenCL.
 */
void clc_pinpocl(void);

/* On POCL alone: raises when there is no `ld` in PATH, which links its kernels, or
   too little room for the files it makes of them. To be called before a build. */
void clc_checkpocl(lua_State *L, clc_Device *d);

#endif
