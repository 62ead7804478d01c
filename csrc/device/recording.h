/* SPDX-License-Identifier: MIT */
/*
 * Recordings: commands of a queue that are kept in place of being queued, to be queued as often as
 * one likes. A kept launch has an OpenCL kernel of its own, with its arguments. What commands use
 * is held for as long as they are kept: no pool gets it, whoever releases it.
 */
#ifndef CLC_RECORDING_H
#define CLC_RECORDING_H

#include "executor.h"
#include "flight.h"
#include "transfer.h"

/* What a kept command uses. Each package that has such objects puts its own behind this. */
typedef struct clc_Held clc_Held;
struct clc_Held {
  clc_Held *next;
  size_t size;      /* of all of it */
  cl_uint argument; /* of a launch */
  void (*drop)(clc_Held *h);
};

typedef struct clc_Kept {
  clc_Held *held;
  cl_kernel kernel;       /* of a launch, else NULL */
  clc_Launch launch;      /* its pointers but `counter` and `parts` are set when it is queued */
  clc_Part *parts;        /* `launch.n` of them */
  clc_Transfer *transfer; /* NULL: a launch */
  char what[CLC_WHAT];
} clc_Kept;

typedef struct clc_Recording {
  clc_Device *device;
  clc_Allocator allocator; /* Lua's: it runs no finalizers */
  clc_Kept *commands;
  size_t n, room, launches; /* commands, places for them, how many are launches */
  clc_Held *pending;        /* of the command that is being made */
  int depth;                /* levels of calls where it began */
  int prints;               /* one of its kernels does */
  int is_unheld;            /* what its commands use belongs to who replays it */
} clc_Recording;

/* Between the two what is put into the device's queue is kept. Begin raises where a queue of the
   context records already. */
void clc_beginrecording(lua_State *L, clc_Device *d, clc_Recording *r);
void clc_endrecording(clc_Recording *r);

/* The recording of a device, or NULL. */
clc_Recording *clc_getrecording(const clc_Device *d);

/* Raise while a queue of the context records, naming the call: it waits, or it queues what a
   sequence does not keep. */
void clc_refuserecorded(lua_State *L, const clc_Device *d);
void clc_refuseothers(lua_State *L, const clc_Device *d);

/* Holds something for the command to come, or for an argument that is exchanged: returns the zeroed
   node of that size. Runs no Lua code; raises where memory is short. */
void *clc_hold(lua_State *L, clc_Recording *r, cl_uint argument, size_t size,
               void (*drop)(clc_Held *h));

/* Holds a memory object, or a sampler, for OpenCL. */
void clc_holdobject(lua_State *L, clc_Recording *r, cl_uint argument, cl_mem mem,
                    cl_sampler sampler);

/* Forgets what a command holds that was never made. */
void clc_dropheld(clc_Recording *r);

/* Keep a launch or a transfer. The kernel of a launch is taken, and its owner gets a new one. */
void clc_keeplaunch(lua_State *L, clc_Recording *r, const clc_Launch *launch);
void clc_keeptransfer(lua_State *L, clc_Recording *r, const clc_Transfer *t);

/* A launch of those kept, counted from 0. */
clc_Kept *clc_keptlaunch(const clc_Recording *r, size_t i);

/* Whether an argument of a kept launch is an object that clc_holdobject holds. */
int clc_isheld(const clc_Kept *launch, cl_uint argument, cl_mem mem);

/* What was held last takes the place of what an argument of a kept launch held. */
void clc_exchangeheld(clc_Recording *r, clc_Kept *launch, cl_uint argument);

/* Queues all of it; `e` learns of the commands. */
void clc_replay(lua_State *L, clc_Recording *r, clc_Event *e);

/* Releases all that it keeps. */
void clc_droprecording(clc_Recording *r);

/* Adds functions for the library alone to the module at the top. */
void clc_openrecordings(lua_State *L);

#endif
