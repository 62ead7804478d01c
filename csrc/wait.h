/* SPDX-License-Identifier: MIT */
/* Waiting for the device so that Ctrl-C still works. */
#ifndef CLC_WAIT_H
#define CLC_WAIT_H

#include "error.h"

#pragma GCC visibility push(hidden)

/* Gives a hook its turn, such as the one that an interrupt sets. May raise, and may
   run other Lua code. */
void clc_checkinterrupt(lua_State *L);

/*
 * Polls an event, whose queue must have been flushed, until it has ended or
 * `seconds` (negative: no limit) have passed; returns its execution status, which is CL_COMPLETE,
 * negative when it (or asking for it) failed, positive when the time ran out. Raises when the
 * script was interrupted meanwhile, as by Ctrl-C in the lua interpreter.
 */
cl_int clc_waitevent(lua_State *L, cl_event event, double seconds);

#pragma GCC visibility pop

#endif
