/* SPDX-License-Identifier: MIT */
/* New files: written beside the one they replace, so that readers see a whole file. */
#ifndef CLC_NEWFILE_H
#define CLC_NEWFILE_H

#include "base/base.h"

void clc_opennewfiles(lua_State *L);

#endif
