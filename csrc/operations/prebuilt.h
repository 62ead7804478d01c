/* SPDX-License-Identifier: MIT */
/* Prebuilt kernels: the files of the kernels folder, built once a device. */
#ifndef CLC_PREBUILT_H
#define CLC_PREBUILT_H

#include "program/program.h"
#include "schedule.h"

/*
 * Pushes the kernel of kernels/<name>.cl for elements of a dtype (the macro
 * REAL), with a text before it: further macros ("#define TRANSA 1\n"), or "".
 */
clc_Kernel *clc_prebuilt(lua_State *L, clc_Device *d, const char *name, const clc_Dtype *dtype,
                         const char *before);

/*
 * The same of a row's macros and further ones, as clc_definerow has them: clc_tailored(L, d,
 * "saxpy", dtype, fields, &row, {"V", 4}). Once found, a kernel is found again by the numbers,
 * without their text.
 */
#define clc_tailored(L, d, name, dtype, fields, row, ...) \
  clc_pushtailored(L, d, name, dtype, fields, row, (const clc_Macro[]){__VA_ARGS__, {NULL, 0}})

clc_Kernel *clc_pushtailored(lua_State *L, clc_Device *d, const char *name, const clc_Dtype *dtype,
                             const clc_Field *fields, const void *row, const clc_Macro *macros);

void clc_openprebuilt(lua_State *L);

#endif
