/* SPDX-License-Identifier: MIT */
/* Building: OpenCL C into a program, or the binary that was kept of it. */
#ifndef CLC_BUILD_H
#define CLC_BUILD_H

#include "log.h"
#include "device/isolation.h"

/* What is known of a build besides the program. */
typedef struct clc_Built {
  int seen;         /* every include was found */
  size_t start;     /* of the source itself in the text that was pushed */
  size_t max_group; /* the largest group for which its kernels share memory; 0: any */
} clc_Built;

/*
 * Builds a program and stores it at *program, which an object owns already, as it does *recipe,
 * which programs of isolated devices have: their worker builds it first. Or raises with the build
 * log. Pushes the text that scanners of kernels read, as plain text (with all that it includes and
 * what options and defines define: a macro from outside may hold the very call they look for), and
 * the declarations of the kernels if they were kept, else nil.
 */
clc_Built clc_build(lua_State *L, clc_Device *d, const clc_Source *s, cl_program *program,
                    clc_Recipe **recipe);

/* Whether that would find a binary in the cache. */
int clc_isbuilt(lua_State *L, clc_Device *d, const clc_Source *s);

#endif
