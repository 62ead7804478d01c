/* SPDX-License-Identifier: MIT */
/* The product for the multiprocessors of a GPU: register-blocked slices (kernels/gemm_blocks.cl).
 */
#ifndef CLC_BLOCKS_H
#define CLC_BLOCKS_H

#include "matrix.h"

/* Queues the product. The device's tuning of gemm, a row for blocks, is on top of the stack. May
   leave values there. */
void clc_multiplyblocks(lua_State *L, const clc_Multiply *x);

#endif
