/* SPDX-License-Identifier: MIT */
/* gemm: C <- alpha * op(A) * op(B) + beta * C. */
#ifndef CLC_GEMM_H
#define CLC_GEMM_H

#include "memory.h"

#pragma GCC visibility push(hidden)

void clc_opengemm(lua_State *L);

#pragma GCC visibility pop

#endif
