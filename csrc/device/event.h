/* SPDX-License-Identifier: MIT */
/* Events: a launch that can be waited for and timed. */
#ifndef CLC_EVENT_H
#define CLC_EVENT_H

#include "device.h"

typedef struct clc_Event {
  clc_Handle h;
  clc_Device *device;
  cl_event first, last; /* one, retained once, unless split; NULL: nothing was launched here */
  cl_ulong when[4];     /* if so: what a worker launched has ended, and passed each stage then */
  char what[CLC_WHAT];
} clc_Event;

/* Pushes a new event that waits to be told of its commands. */
clc_Event *clc_newevent(lua_State *L, clc_Device *d, const char *what);

/* Tells it of the next command of its launch; retains the OpenCL event. */
void clc_addcommand(clc_Event *e, cl_event command);

/* The same of one that a worker has run: when it was queued, submitted, started, finished. */
void clc_addended(clc_Event *e, const cl_ulong when[4]);

void clc_openevents(lua_State *L);

#endif
