/* SPDX-License-Identifier: MIT */
/* gemm: C <- alpha * op(A) * op(B) + beta * C. */
#ifndef CLC_GEMM_H
#define CLC_GEMM_H

#include "buffer/buffer.h"

void clc_opengemm(lua_State *L);

#endif
