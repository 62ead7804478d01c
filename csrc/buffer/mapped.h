/* SPDX-License-Identifier: MIT */
/* Mapped transfers: a buffer's memory in the host's address space for as long as a copy takes. */
#ifndef CLC_MAPPED_H
#define CLC_MAPPED_H

#include "memory.h"

/* Adds the table `mapped` to the module at the top: read(buffer) --> string, write(buffer, string).
 */
void clc_openmapped(lua_State *L);

#endif
