/* SPDX-License-Identifier: MIT */
/* Prebuilt kernels: the files of the kernels folder, built once a device. */
#ifndef CLC_PREBUILT_H
#define CLC_PREBUILT_H

#include "program/program.h"

/*
 * Pushes the kernel of kernels/<name>.cl for elements of a dtype (the macro
 * REAL), with further macros ("#define TRANSA 1\n", or "").
 */
clc_Kernel *clc_prebuilt(lua_State *L, clc_Device *d, const char *name, const clc_Dtype *dtype,
                         const char *defines);

/* A kernel that an operation has built, under a key of its own. Pushes it, or NULL and nil where
   there is none; keeps the one at the top. */
clc_Kernel *clc_pushkept(lua_State *L, const clc_Device *d, const char *key);
void clc_keepkernel(lua_State *L, const clc_Device *d, const char *key);

void clc_openprebuilt(lua_State *L);

#endif
