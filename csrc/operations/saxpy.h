/* SPDX-License-Identifier: MIT */
/* saxpy: out <- alpha * x + y. */
#ifndef CLC_SAXPY_H
#define CLC_SAXPY_H

#include "buffer/buffer.h"

/* Queues it for checked operands of the same dtype, count and device; out may be
   x or y itself. */
void clc_saxpy(lua_State *L, lua_Number alpha, clc_Buffer *x, clc_Buffer *y, clc_Buffer *out);

void clc_opensaxpy(lua_State *L);

#endif
