/* SPDX-License-Identifier: MIT */
/* What operations written in Lua share with those in C. */
#ifndef CLC_ENQUEUE_H
#define CLC_ENQUEUE_H

#include "kernel/kernel.h"

/* Adds the internal table `enqueue`, which the Lua side takes away again. */
void clc_openenqueue(lua_State *L);

#endif
