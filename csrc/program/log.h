/* SPDX-License-Identifier: MIT */
/* Build logs: why a program does not build, with the lines that are meant. */
#ifndef CLC_BUILDLOG_H
#define CLC_BUILDLOG_H

#include "device/device.h"

typedef struct clc_Source {
  const char *text;
  const char *name;    /* what build logs call the text */
  const char *defines; /* goes before it, outside the count of lines */
  const char *options;
} clc_Source;

/* Raises the failure of a build with its log, in which the source has our name and its
   own lines, and with the lines it points at, numbered, each once. */
void clc_raisebuild(lua_State *L, const clc_Device *d, const clc_Source *s,
                    const cl_program *program, cl_int code);

#endif
