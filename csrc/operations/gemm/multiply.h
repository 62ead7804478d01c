/* SPDX-License-Identifier: MIT */
/* The product of matrices in device memory: what gemm, LU and others compute with. */
#ifndef CLC_MULTIPLY_H
#define CLC_MULTIPLY_H

#include "matrix.h"

/* Fast is what suits the device and the product best. */
typedef enum { CLC_NAIVE, CLC_TILED, CLC_FAST } clc_Multiplier;

/* Queues the product on the device of C. The matrices fit their buffers, and C shares no
   element with A or B. */
void clc_multiply(lua_State *L, clc_Multiplier multiplier, const clc_Multiply *x);

#endif
