/* SPDX-License-Identifier: MIT */
/* Build options: what a script may tell the compiler. */
#ifndef CLC_BUILDOPTIONS_H
#define CLC_BUILDOPTIONS_H

#include "base/base.h"

/* Pushes the text of "#define" lines for the table at idx ({TS=16, REAL="float"}). */
const char *clc_pushdefines(lua_State *L, int arg, int idx);

/* A compiler's options can also name files or plug-ins; these must not. */
void clc_checkbuildoptions(lua_State *L, int arg, const char *options);

/* Pushes " -I dir" for each folder of the option `include`. */
const char *clc_pushincludes(lua_State *L, int arg);

#endif
