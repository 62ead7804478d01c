/* SPDX-License-Identifier: MIT */
/* Profile: what the commands of a state took, by kernel and kind of transfer. */
#ifndef CLC_PROFILE_H
#define CLC_PROFILE_H

#include "device.h"

void clc_openprofile(lua_State *L);

#endif
