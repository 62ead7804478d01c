/* SPDX-License-Identifier: MIT */
/* Platforms: what OpenCL finds on this machine, and selectors that choose from it. */
#ifndef CLC_PLATFORM_H
#define CLC_PLATFORM_H

#include "error.h"

/* A device and where it stands: "platform:device", counted from 0 as clinfo does. */
typedef struct clc_Place {
  cl_platform_id platform;
  cl_device_id device;
  int p, d;
} clc_Place;

/* Pushes a block with the ids of all platforms; none is no error. */
const cl_platform_id *clc_pushplatforms(lua_State *L, cl_uint *n);

/* A platform whose driver would not tell its devices; code CL_SUCCESS: there is none. */
typedef struct clc_Mute {
  int p;
  cl_int code;
} clc_Mute;

/* Pushes a block with all places, or those of platform p alone (negative: all). A driver that
   fails hides its own devices, not those of others; the first that did is told. */
const clc_Place *clc_pushplaces(lua_State *L, int p, size_t *n, clc_Mute *mute);

/* Raises why that platform tells no devices. */
void clc_raisemute(lua_State *L, const clc_Mute *mute);

/* Whether a place is meant by a selector (DESIGN: a type, "p:d", or part of
   "platform/device" in any case); NULL means every place. */
int clc_selects(lua_State *L, const clc_Place *place, const char *selector);

/* The best match: GPU before accelerator before CPU unless the selector says
   more. Raises, listing what there is or what to install, when none matches;
   `origin` says behind the selector where it came from. */
clc_Place clc_bestplace(lua_State *L, const char *selector, const char *origin);

#endif
