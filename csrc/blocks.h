/* SPDX-License-Identifier: MIT */
/* The product for the multiprocessors of a GPU: register-blocked slices (kernels/gemm_blocks.cl).
 */
#ifndef CLC_BLOCKS_H
#define CLC_BLOCKS_H

#include "matrix.h"

#pragma GCC visibility push(hidden)

/* Queues the product. The device's tuning of gemm, a row for blocks, is on top of the stack. May
   leave values there. */
void clc_multiplyblocks(lua_State *L, const clc_Multiply *x);

#pragma GCC visibility pop

#endif
