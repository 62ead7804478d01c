/* SPDX-License-Identifier: MIT */
/* Discovery: the platforms and devices of this machine, as functions of the module. */
#ifndef CLC_DISCOVER_H
#define CLC_DISCOVER_H

#include "base/base.h"

void clc_opendiscovery(lua_State *L);

#endif
