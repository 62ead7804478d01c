/* SPDX-License-Identifier: MIT */
/* The product for the cores of a CPU: packed panels and register tiles (kernels/gemm_panels.cl). */
#ifndef CLC_PANELS_H
#define CLC_PANELS_H

#include "matrix.h"

/* Queues the product. The device's tuning of gemm, a row for panels, is on top of the stack. May
   leave values there. */
void clc_multiplypanels(lua_State *L, const clc_Multiply *x);

#endif
