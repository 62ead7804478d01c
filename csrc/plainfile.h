/* SPDX-License-Identifier: MIT */
/* Plain files opened for reading: a pipe that nobody writes would keep an open for ever. */
#ifndef CLC_PLAINFILE_H
#define CLC_PLAINFILE_H

#include "error.h"

#pragma GCC visibility push(hidden)

/* Adds the internal function `open_plain` to the table at the top. */
void clc_openplainfiles(lua_State *L);

#pragma GCC visibility pop

#endif
