/* SPDX-License-Identifier: MIT */
/* The programs a worker has built, and their kernels. */
#ifndef CLC_SERVICE_PROGRAMS_H
#define CLC_SERVICE_PROGRAMS_H

#include <stddef.h>

#include "service.h"

typedef struct clc_Entry clc_Entry; /* a kernel */

typedef struct clc_Unit {
  struct clc_Unit *next;
  uint64_t number;
  cl_program program;
  clc_Entry *kernels;
} clc_Unit;

/* Builds a program, under that number, of options, a NUL and the source; its kernels are made too,
   as a driver may fail then. */
void clc_buildunit(clc_Service *s, clc_Unit **units, uint64_t number, const char *text,
                   size_t length);

/* A kernel by the number of its program and its name; NULL: it failed. */
cl_kernel clc_findentry(clc_Service *s, clc_Unit *units, uint64_t number, const char *name,
                        size_t length);

void clc_forgetunit(clc_Unit **units, uint64_t number);
void clc_dropunits(clc_Unit **units);

#endif
