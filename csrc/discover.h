/* SPDX-License-Identifier: MIT */
/* Discovery: the platforms and devices of this machine, as functions of the module. */
#ifndef CLC_DISCOVER_H
#define CLC_DISCOVER_H

#include "error.h"

#pragma GCC visibility push(hidden)

void clc_opendiscovery(lua_State *L);

#pragma GCC visibility pop

#endif
