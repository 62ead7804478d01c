/* SPDX-License-Identifier: MIT */
/* Properties of platforms and devices, as rows of a table. */
#ifndef CLC_INFO_H
#define CLC_INFO_H

#include "error.h"

/* Pushes a device's property of that name, or returns 0 where there is none.
   `version` is the device's, as 100 * major + minor. */
int clc_pushproperty(lua_State *L, cl_device_id id, int version, const char *name);

/* Pushes a table of all properties. */
void clc_pushproperties(lua_State *L, cl_device_id id, int version);

/* Pushes a string property of a platform or a device. */
const char *clc_pushplatformtext(lua_State *L, cl_platform_id platform, cl_platform_info what);
const char *clc_pushdevicetext(lua_State *L, cl_device_id id, cl_device_info what);

/* A number of a device; `opt`: or `def` where the driver does not know the property. Any other
   failure raises. */
cl_ulong clc_checkdevicenumber(lua_State *L, cl_device_id id, cl_device_info what);
cl_ulong clc_optdevicenumber(lua_State *L, cl_device_id id, cl_device_info what, cl_ulong def);

/* Whether the last groups of a launch may be smaller than the others. */
int clc_hasnonuniformgroups(lua_State *L, cl_device_id id, int version);

/* "OpenCL 1.2 ..." as 102; 0 for anything else. */
int clc_parseversion(const char *text);

#endif
