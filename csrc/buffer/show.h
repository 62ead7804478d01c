/* SPDX-License-Identifier: MIT */
/* Elements of a buffer as text for a glance. */
#ifndef CLC_SHOW_H
#define CLC_SHOW_H

#include "memory.h"

/* Pushes the first elements of the buffer at an index, which is alive: in one dimension
   " 1, 2, 3"; else a line for each of the first rows of the last dimension, in aligned
   columns, with an empty line between matrices. Reads only what it shows. */
void clc_pushelements(lua_State *L, int idx);

#endif
