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

/* --- options: options.c ---------------------------------------------------- */

/* Pushes the text of "#define" lines for the table at idx ({TS=16, REAL="float"}). */
const char *clc_pushdefines(lua_State *L, int arg, int idx);

/* Pushes the options as compilers of all drivers take them. They can also name files or plug-ins;
   these must not. */
const char *clc_pushbuildoptions(lua_State *L, int arg, const char *options);

/* Pushes " -I dir" for each folder of the option `include`. */
const char *clc_pushincludes(lua_State *L, int arg);

/* Pushes the option that lets a compiler find the library's headers as files; raises where it
   cannot. */
const char *clc_pushheaderoption(lua_State *L);

/* Opens the package: Device:program, the type of programs. */
void clc_openprograms(lua_State *L);

#endif
