/* SPDX-License-Identifier: MIT */
/* Plans: the launches of a range, for scripts that look at them. */
#ifndef CLC_PLAN_H
#define CLC_PLAN_H

#include "kernel.h"

void clc_openplan(lua_State *L);

#endif
