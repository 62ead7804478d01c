/* SPDX-License-Identifier: MIT */
/*
 * Work-group functions for kernels of users: what #include <clcompute/work_group.h> does to
 * a text. The header itself (kernels/clcompute/work_group.h) says what it needs.
 */
#ifndef CLC_WORKGROUP_H
#define CLC_WORKGROUP_H

#include "device/device.h"

/* The largest group that a kernel of such a text can have: all share local memory. */
size_t clc_workgroupslots(const clc_Device *d);

/* Pushes the header, with what it must know of the device before it. Asks Lua, the first time,
   whether the device's own functions are right. */
const char *clc_pushworkgroup(lua_State *L, const clc_Device *d);

/* Pushes a plain text from `start` on, in which every kernel declares what its group shares, and
   the header is not asked for any more. What stood on a line still does. Macros before `start`
   may stand for the head of a kernel too. */
const char *clc_pushbodies(lua_State *L, const char *plain, size_t start);

/* Pushes the option that lets a compiler find the header from a file; raises where it cannot. */
const char *clc_pushheaderoption(lua_State *L);

void clc_openworkgroup(lua_State *L);

#endif
