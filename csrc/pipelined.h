/* SPDX-License-Identifier: MIT */
/* The product for GPUs that copy to local memory while they compute (kernels/gemm_pipelined.cl). */
#ifndef CLC_PIPELINED_H
#define CLC_PIPELINED_H

#include "matrix.h"

#pragma GCC visibility push(hidden)

/* Queues the product. The device's tuning of gemm, a row of the kernel "pipelined", is on top of
   the stack. May leave values there. */
void clc_multiplypipelined(lua_State *L, const clc_Multiply *x);

#pragma GCC visibility pop

#endif
