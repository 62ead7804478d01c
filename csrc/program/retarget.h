/* SPDX-License-Identifier: MIT */
/*
 * Retargeting: programs with instructions that the OpenCL compiler does not know. NVIDIA's compiles
 * for sm_90, where the product of a warpgroup (wgmma) is for sm_90a alone. Its binaries are PTX
 * text, in which inline assembly stands as it was written, comments too. So such instructions are
 * written as comments, `//@sm_90a wgmma...`, and from the text they are built once more,
 * uncommented.
 */
#ifndef CLC_RETARGET_H
#define CLC_RETARGET_H

#include "device/device.h"

/* Whether a source has instructions of that kind. */
int clc_wantstarget(const char *text);

/* Builds a program again for the target that it wants, and pushes the declarations of its kernels.
   Returns 0 and pushes nothing where the device's binaries are not PTX for sm_90: the program
   stays. Raises where the driver refuses the text. */
int clc_retarget(lua_State *L, const clc_Device *d, const char *options, cl_program *program);

#endif
