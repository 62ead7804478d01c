/* SPDX-License-Identifier: MIT */
/* The product of floats for the tensor cores of NVIDIA's Hopper (kernels/gemm_warpgroups.cl). */
#ifndef CLC_WARPGROUPS_H
#define CLC_WARPGROUPS_H

#include "matrix.h"

/* Queues the product by one or three products of parts of elements; a row with shapes for it is on
   top of the stack. Returns 0 where the product is not for it: too small, or what is packed has no
   room. May leave values on the stack. */
int clc_multiplywarpgroups(lua_State *L, const clc_Multiply *x, int products);

#endif
