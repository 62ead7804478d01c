/* SPDX-License-Identifier: MIT */
/* The product for GPUs that copy to local memory while they compute (kernels/gemm_pipelined.cl and
   gemm_tensor.cl). */
#ifndef CLC_PIPELINED_H
#define CLC_PIPELINED_H

#include "matrix.h"

/* Queues the product by a kernel with the arguments of gemm_pipelined, built with further macros;
   a row with shapes of blocks for it is on top of the stack. Returns 0 where the product is not for
   it: too small, or what is packed has no room. May leave values on the stack. */
int clc_multiplypipelined(lua_State *L, const clc_Multiply *x, const char *kernel,
                          const char *defines);

#endif
