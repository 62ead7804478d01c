/* SPDX-License-Identifier: MIT */
/* Sizes of structs, which OpenCL does not tell: the compiler is asked. */
#ifndef CLC_STRUCTSIZE_H
#define CLC_STRUCTSIZE_H

#include "build.h"
#include "kernel/kernel.h"

/* Whether one of the kernel's arguments is a struct. */
int clc_takesstructs(const clc_Kernel *k);

/*
 * Tells the kernel at that stack index how many bytes its structs have: POCL takes an argument
 * of any size, reading past it. The source is the kernel's own. Where the probe does not build,
 * the sizes stay unknown.
 */
void clc_measurestructs(lua_State *L, clc_Device *d, const clc_Source *source, int kernel);

void clc_openstructsizes(lua_State *L);

#endif
