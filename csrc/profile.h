/* SPDX-License-Identifier: MIT */
/* Profile: what the commands of a state took, by kernel and kind of transfer. */
#ifndef CLC_PROFILE_H
#define CLC_PROFILE_H

#include "device.h"

#pragma GCC visibility push(hidden)

void clc_openprofile(lua_State *L);

#pragma GCC visibility pop

#endif
