/* SPDX-License-Identifier: MIT */
/* Plans: the launches of a range, for scripts that look at them. */
#ifndef CLC_PLAN_H
#define CLC_PLAN_H

#include "kernel.h"

#pragma GCC visibility push(hidden)

void clc_openplan(lua_State *L);

#pragma GCC visibility pop

#endif
