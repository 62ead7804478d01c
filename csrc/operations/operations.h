/* SPDX-License-Identifier: MIT */
/* What every operation shares: operands, prebuilt kernels, schedules; and saxpy. */
#ifndef CLC_OPERATIONS_H
#define CLC_OPERATIONS_H

#include "operand.h"
#include "prebuilt.h"
#include "schedule.h"

/* Queues out <- alpha * x + y for checked operands of the same dtype, count and device; out may be
   x or y itself. */
void clc_saxpy(lua_State *L, lua_Number alpha, clc_Buffer *x, clc_Buffer *y, clc_Buffer *out);

/* Opens the package; gemm and gauss are packages of their own. */
void clc_openoperations(lua_State *L);

/* --- between the files of the package -------------------------------------- */

void clc_opensaxpy(lua_State *L);
void clc_openrandom(lua_State *L);

#endif
