/* SPDX-License-Identifier: MIT */
/*
 * Counters: what a kind of command took, for cl.profile. A counter lives as long as its Lua
 * state and is only ever set to zero, so that a command in flight can hold on to it.
 */
#ifndef CLC_PROFILE_H
#define CLC_PROFILE_H

#include "base/base.h"

typedef enum {
  CLC_WRITE,
  CLC_READ,
  CLC_COPY,
  CLC_FILL,
  CLC_TRANSFERS, /* how many kinds of transfer there are */
  CLC_LAUNCH = CLC_TRANSFERS,
  CLC_BUILD
} clc_Kind;

typedef struct clc_Counter {
  struct clc_Counter *next;
  clc_Place place;
  clc_Kind kind;
  cl_ulong calls, total, min, max; /* times in nanoseconds */
  cl_ulong bytes;
  char name[];
} clc_Counter;

typedef struct clc_Profile {
  int on;
  clc_Counter *counters;
} clc_Profile;

/* The profile of a state, which lives as long as the state. */
clc_Profile *clc_getprofile(lua_State *L);

/* The counter of that name, a new one if need be; finalizers may run. */
clc_Counter *clc_findcounter(lua_State *L, const clc_Place *place, clc_Kind kind, const char *name);

/* What a kind is called in rows; transfers have no other name. */
const char *clc_kindname(clc_Kind kind);

/* Adds what a complete command took on its device to *ns; false: the driver does not tell. */
int clc_addelapsed(cl_event event, cl_ulong *ns);

/* Counts a call. */
void clc_addcall(clc_Counter *c, cl_ulong ns, cl_ulong bytes);

/* Counts a command that has ended, if there is a counter (else: no event), and releases its event.
 */
void clc_countended(clc_Counter *c, cl_event event, cl_ulong bytes);

#endif
