/* SPDX-License-Identifier: MIT */
/* Programs: OpenCL C built for a device, and the kernels in it. */
#ifndef CLC_PROGRAM_H
#define CLC_PROGRAM_H

#include "kernel/kernel.h"

/*
 * Pushes the program built from the text at stack index `source`. The text of
 * `defines` (lines that end in a newline, or "") goes before it, outside the
 * count of lines; build logs call it `name`.
 */
void clc_buildprogram(lua_State *L, clc_Device *d, int source, const char *name,
                      const char *defines, const char *options);

/* Pushes the kernel of the program at idx, the same object each time. */
clc_Kernel *clc_pushkernel(lua_State *L, int idx, const char *name);

void clc_openprograms(lua_State *L);

#endif
