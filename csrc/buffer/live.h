/* SPDX-License-Identifier: MIT */
/* What is alive in a state, and what holds device memory. */
#ifndef CLC_LIVE_H
#define CLC_LIVE_H

#include "memory.h"

void clc_openlive(lua_State *L);

#endif
