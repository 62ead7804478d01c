/* SPDX-License-Identifier: MIT */
/* Prebuilt kernels: the files of the kernels folder, built once a device. */
#ifndef CLC_PREBUILT_H
#define CLC_PREBUILT_H

#include "program/program.h"

/*
 * Pushes the kernel of kernels/<name>.cl for elements of a dtype (the macro
 * REAL), with a text before it: further macros ("#define TRANSA 1\n"), or "".
 */
clc_Kernel *clc_prebuilt(lua_State *L, clc_Device *d, const char *name, const clc_Dtype *dtype,
                         const char *before);

void clc_openprebuilt(lua_State *L);

#endif
