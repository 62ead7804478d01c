/* SPDX-License-Identifier: MIT */
/*
 * Workers, as seen from the process that has one: a child that computes on memory of an arena,
 * so that what a kernel or a driver does wrong ends the child alone.
 */
#ifndef CLC_WORKER_H
#define CLC_WORKER_H

#include <lua.h>

#include "arena.h"
#include "message.h"
#include "spawn.h"

typedef struct clc_Worker {
  clc_Arena arena;
  clc_Process process;
  uint64_t generation; /* how many processes there were */
  double limit;        /* seconds that a launch may take */
  int busy;            /* an answer is due */
  char *out;           /* requests that were not sent */
  size_t used, room;
  size_t draft;     /* where a launch begins among them that may come to nothing */
  int lost;         /* there was no memory for one of these */
  int memory_fault; /* there was no answer because of one */
  char fate[320];   /* why there was none, in words */
} clc_Worker;

/* To be called first. There is no process yet, and no arena: its owner opens that. */
void clc_initworker(clc_Worker *w, double limit);

/*
 * Makes sure that there is a process which has the device open; raises when none can be had, or
 * when one is waiting for an answer (a hook may ask meanwhile). One that died since is replaced.
 */
void clc_startworker(lua_State *L, clc_Worker *w, int platform, int device);

/* Adds a request to those that go out with the next one that is answered. Raises nothing. */
void clc_request(clc_Worker *w, clc_Request request, const void *bytes);

/*
 * Sends all and waits for the answer, at most so many seconds; an interrupt ends the process. 0:
 * there is none, `fate` says why, and the process is gone. Lua code may run meanwhile, and close
 * the worker.
 */
int clc_ask(lua_State *L, clc_Worker *w, clc_Request request, const void *bytes, double limit,
            clc_Answer *answer);

/* Ends the process at once: who asks next has another one. */
void clc_endworker(clc_Worker *w);

/* Ends the process, and lets go of all; may be called twice. */
void clc_closeworker(clc_Worker *w);

#endif
