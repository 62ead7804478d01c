/* SPDX-License-Identifier: MIT */
/* Buffers as a script sees them: fields, elements, tables and packed bytes. */
#ifndef CLC_BUFFER_H
#define CLC_BUFFER_H

#include "memory.h"
#include "scratch.h"

void clc_openbuffers(lua_State *L);

#endif
