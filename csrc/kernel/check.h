/* SPDX-License-Identifier: MIT */
/* Check mode: the buffers of a launch looked at before and after it. */
#ifndef CLC_CHECK_H
#define CLC_CHECK_H

#include "signature.h"

/* A launch from Lua: a kernel's signature, and its arguments from stack index `first` on. */
typedef struct clc_Checked {
  clc_Device *device;
  const char *kernel_name;
  const clc_Argument *args;
  cl_uint nargs;
  int first;
  int watches; /* stack index of what was seen before; 0: nothing is watched */
} clc_Checked;

/* Before the arguments are set: raises where an output overlaps an input, and pushes what there is
   in and round the buffers that were made in check mode. Does nothing where none was. Blocks. */
void clc_begincheck(lua_State *L, clc_Checked *c);

/* After the launch: waits for it, and raises where it wrote outside of a buffer or made NaN or
   infinity. Leaves the stack as it is. */
void clc_endcheck(lua_State *L, const clc_Checked *c);

void clc_openchecks(lua_State *L);

#endif
