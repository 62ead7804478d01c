/* SPDX-License-Identifier: MIT */
/* Waiting for the device so that Ctrl-C still works, and the clock that measures. */
#ifndef CLC_WAIT_H
#define CLC_WAIT_H

#include "error.h"

/* Seconds since an arbitrary start, by a clock that only goes forward. */
double clc_now(void);

/* Gives a hook its turn, such as the one that an interrupt sets. May raise, and may
   run other Lua code. */
void clc_checkinterrupt(lua_State *L);

#define CLC_SPIN 100e-6 /* seconds of busy polling: most launches end within */

/* A wait that began. */
typedef struct clc_Wait {
  double start;
  lua_State *thread; /* the main one, unless that waits itself */
  lua_Hook hook;     /* that it had then */
} clc_Wait;

clc_Wait clc_beginwait(lua_State *L);

/*
 * Between two looks at what is waited for: gives hooks their turn and then the processor away,
 * shortly at first. Raises when the script was interrupted meanwhile, as by Ctrl-C in the lua
 * interpreter. A hook may have waited for the same, or released it.
 */
void clc_pause(lua_State *L, const clc_Wait *w);

/* The first half of that, for what gives the processor away by itself. */
void clc_checkwait(lua_State *L, const clc_Wait *w);

/* Gives the processor away, the longer the more seconds were waited already. */
void clc_rest(double waited);

#endif
