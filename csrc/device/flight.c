/* SPDX-License-Identifier: MIT */
/* Commands in flight: those of one in-order queue that were not seen to end. */
#include "flight.h"

#include <string.h>

#include "base/base.h"

#define PATIENCE 2 /* seconds that the end of a queue waits for its commands */

clc_Command *clc_nextcommand(clc_Flight *f) {
  return &f->pending[(f->oldest + f->count) % CLC_PENDING];
}

static void copy_name(char name[CLC_WHAT], const char *what) {
  const size_t length = strlen(what);
  const size_t kept = length < CLC_WHAT ? length : CLC_WHAT - 1;
  memcpy(name, what, kept);
  name[kept] = '\0';
}

void clc_namecommand(clc_Command *c, const char *what) {
  copy_name(c->what, what);
}

/* Lets an idle device begin; what that misses the flush of a wait makes up for. */
void clc_queued(clc_Flight *f) {
  clc_nextcommand(f)->follows = f->unseen > 0;
  f->unseen = 0;
  if (f->count++ == 0) clFlush(f->queue);
}

void clc_putmarker(clc_Flight *f, const char *what) {
  clc_Command *c = clc_nextcommand(f);
  clc_namecommand(c, what);
  c->counter = NULL;
  const cl_int code = clEnqueueMarkerWithWaitList(f->queue, 0, NULL, &c->event);
  if (code == CL_SUCCESS)
    clc_queued(f);
  else
    clc_notefailure(f, code, "clEnqueueMarkerWithWaitList");
}

void clc_mark(clc_Flight *f) {
  if (f->unseen == 0 || f->count == CLC_PENDING) return;
  clc_putmarker(f, f->last);
  f->unseen = 0;
}

void clc_queuedunseen(clc_Flight *f, const char *what) {
  copy_name(f->last, what);
  if (f->unseen++ == 0 && f->count == 0) clFlush(f->queue);
  if (f->unseen >= CLC_UNSEEN) clc_mark(f);
}

/* --- ending ------------------------------------------------------------ */

static void forget_oldest(clc_Flight *f) {
  clReleaseEvent(f->pending[f->oldest].event);
  f->oldest = (f->oldest + 1) % CLC_PENDING;
  f->count--;
}

static cl_int get_status(cl_event event, cl_int *status) {
  return clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof *status, status, NULL);
}

/* What the oldest command is called, which failed; where the driver now fails in every call, as
   NVIDIA's does after a fault, a kernel in the queue is to blame rather than the copy
   or fill that stands first in it. */
static const char *find_culprit(const clc_Flight *f) {
  const clc_Command *oldest = &f->pending[f->oldest];
  cl_int status;
  if (get_status(oldest->event, &status) == CL_SUCCESS) return oldest->what;
  for (unsigned i = 0; i < f->count; i++) {
    const clc_Command *c = &f->pending[(f->oldest + i) % CLC_PENDING];
    if (strncmp(c->what, "kernel", 6) == 0) return c->what;
    if (c->follows) return f->last;
  }
  return oldest->what;
}

void clc_notefailure(clc_Flight *f, cl_int code, const char *what) {
  if (f->failure != CL_SUCCESS) return;
  f->failure = code;
  copy_name(f->failed, what);
}

/* A launch of several commands is one call that took their sum. */
static void count_oldest(clc_Flight *f, cl_int status) {
  const clc_Command *c = &f->pending[f->oldest];
  if (c->counter == NULL) return;
  if (c->first) f->elapsed = 0;
  f->whole =
      (c->first || f->whole) && status == CL_COMPLETE && clc_addelapsed(c->event, &f->elapsed);
  if (c->last && f->whole) clc_addcall(c->counter, f->elapsed, c->bytes);
}

/* Takes the oldest command, which has ended with that status, off the ring. */
static void retire(clc_Flight *f, cl_int status) {
  count_oldest(f, status);
  if (status < 0) clc_notefailure(f, status, find_culprit(f));
  forget_oldest(f);
}

void clc_retireended(clc_Flight *f) {
  while (f->count > 0) {
    cl_int status;
    const cl_int code = get_status(f->pending[f->oldest].event, &status);
    if (code == CL_SUCCESS && status > CL_COMPLETE) return;
    retire(f, code == CL_SUCCESS ? status : code);
  }
}

void clc_reportfailure(lua_State *L, clc_Flight *f) {
  clc_retireended(f);
  cl_int code = f->failure;
  if (code == CL_SUCCESS) return;
  f->failure = CL_SUCCESS;
  luaL_error(L, "%s failed on the device: %s (%d)", f->failed, clc_codename(code), (int)code);
}

/* --- waiting ----------------------------------------------------------- */

/* Hands all commands to the device. Where that fails, those that have not ended may never begin:
   they count as failed. */
static void flush(clc_Flight *f) {
  const cl_int code = clFlush(f->queue);
  clc_retireended(f);
  while (code != CL_SUCCESS && f->count > 0) retire(f, code);
}

/* Until at most so many commands are in flight. After a fault in a kernel NVIDIA's driver
   fails in every call: then the state of the commands is that failure, and all of them end. */
void clc_waitflight(lua_State *L, clc_Flight *f, unsigned most) {
  if (f->count <= most) return;
  const clc_Wait w = clc_beginwait(L);
  clc_checkinterrupt(L);
  for (flush(f); f->count > most; clc_retireended(f)) clc_pause(L, &w);
}

/*
 * Commands may be in flight still when a state ends, and the process with it: POCL aborts when
 * it compiles a kernel meanwhile. One that does not end must not keep the process for ever.
 */
void clc_endflight(clc_Flight *f) {
  const double start = clc_now();
  clc_mark(f);
  if (f->count > 0) flush(f);
  for (; f->count > 0 && clc_now() - start < PATIENCE; clc_retireended(f))
    clc_rest(clc_now() - start);
  while (f->count > 0) forget_oldest(f);
  f->unseen = 0;
}

void clc_uncount(clc_Flight *f) {
  for (unsigned i = 0; i < f->count; i++) f->pending[(f->oldest + i) % CLC_PENDING].counter = NULL;
}
