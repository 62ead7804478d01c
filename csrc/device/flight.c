/* SPDX-License-Identifier: MIT */
/* Commands in flight: those of one in-order queue that were not seen to end. */
#include "flight.h"

#include <stdio.h>
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

static int is_kernel(const char *what) {
  return strncmp(what, "kernel", 6) == 0;
}

/* Kernels are to blame before copies and fills are. */
static void lengthen(clc_Run *r, const char *what) {
  const int kernel = is_kernel(what), begins = r->n == 0 || (kernel && !r->has_kernel);
  if (begins) copy_name(r->first, what);
  if (begins || kernel || !r->has_kernel) copy_name(r->last, what);
  r->has_kernel |= kernel;
  r->n++;
}

/* Lets an idle device begin; what that misses the flush of a wait makes up for. */
static void begin(const clc_Flight *f) {
  if (!f->begins_at_once) clFlush(f->queue);
}

static void queued_unseen(clc_Flight *f) {
  lengthen(&f->unseen, clc_nextcommand(f)->what);
  if (f->unseen.n == 1 && f->count == 0) begin(f);
  if (f->unseen.n >= (f->replays ? CLC_REPLAYED : CLC_UNSEEN)) clc_mark(f);
}

static void forget_unseen(clc_Flight *f) {
  f->unseen.n = 0;
  f->unseen.has_kernel = 0;
}

void clc_queued(clc_Flight *f, int has_event) {
  clc_Command *c = clc_nextcommand(f);
  c->ticket = ++f->queued;
  c->is_barrier = 0;
  if (!has_event) {
    queued_unseen(f);
    return;
  }
  c->before = f->unseen;
  forget_unseen(f);
  if (f->count++ == 0) begin(f);
}

/* NVIDIA's driver is as quick to end a barrier as it is to finish the queue, and twice as slow with
   a marker. */
void clc_putbarrier(clc_Flight *f, const char *what) {
  clc_Command *c = clc_nextcommand(f);
  const cl_int code = clEnqueueBarrierWithWaitList(f->queue, 0, NULL, &c->event);
  clc_namecommand(c, what);
  c->counter = NULL;
  if (code == CL_SUCCESS)
    clc_queued(f, 1);
  else
    clc_notefailure(f, code, "clEnqueueBarrierWithWaitList");
  c->is_barrier = 1;
}

void clc_mark(clc_Flight *f) {
  if (f->unseen.n == 0) return;
  clc_putbarrier(f, f->unseen.last);
  forget_unseen(f);
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

/* What the oldest command, or those before it, are called, of which one failed; where the driver
   now fails in every call, as NVIDIA's does after a fault, a kernel in the queue is to blame rather
   than the copy or fill that stands first in it. */
static clc_Run find_culprits(const clc_Flight *f) {
  const clc_Command *oldest = &f->pending[f->oldest];
  clc_Run own = {0};
  cl_int status;
  const int is_told = get_status(oldest->event, &status) == CL_SUCCESS;
  for (unsigned i = 0; i < (is_told ? 1 : f->count); i++) {
    const clc_Command *c = &f->pending[(f->oldest + i) % CLC_PENDING];
    if (c->before.n > 0 && (c->is_barrier || (!is_told && c->before.has_kernel))) return c->before;
    if (!is_told && is_kernel(c->what)) {
      lengthen(&own, c->what);
      return own;
    }
  }
  lengthen(&own, oldest->what);
  return own;
}

static void name_failure(clc_Failure *failure, const clc_Run *culprits) {
  if (strcmp(culprits->first, culprits->last) == 0)
    strcpy(failure->what, culprits->first);
  else
    snprintf(failure->what, sizeof failure->what, "%s, %s or one between them", culprits->first,
             culprits->last);
}

static uint64_t later(uint64_t a, uint64_t b) {
  return a > b ? a : b;
}

/* Where there are too many to be told of, the last one is of all that follow too. Commands behind
   which no barrier could be put failed before their end was seen. */
static void fail(clc_Flight *f, cl_int code, const clc_Run *culprits, uint64_t through) {
  if (f->failed - f->told == CLC_FAILURES) {
    clc_Failure *last = &f->failures[(f->failed - 1) % CLC_FAILURES];
    last->through = later(last->through, through);
    return;
  }
  const uint64_t known = f->failed > 0 ? f->failures[(f->failed - 1) % CLC_FAILURES].through : 0;
  clc_Failure *failure = &f->failures[f->failed++ % CLC_FAILURES];
  failure->code = code;
  failure->after = later(known, f->ended);
  failure->through = later(failure->after, through);
  name_failure(failure, culprits);
}

void clc_notefailure(clc_Flight *f, cl_int code, const char *what) {
  clc_Run run = {0};
  lengthen(&run, what);
  fail(f, code, &run, f->queued);
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
  const uint64_t ticket = f->pending[f->oldest].ticket;
  count_oldest(f, status);
  if (status < 0) {
    const clc_Run culprits = find_culprits(f);
    fail(f, status, &culprits, ticket);
  }
  f->ended = ticket;
  forget_oldest(f);
  if (f->watched != 0 && f->lasted == 0 && ticket >= f->watched) f->lasted = clc_now() - f->begun;
}

/* As far as the driver tells; else what it says. */
static cl_int retire_told(clc_Flight *f) {
  while (f->count > 0) {
    cl_int status;
    const cl_int code = get_status(f->pending[f->oldest].event, &status);
    if (code != CL_SUCCESS) return code;
    if (status > CL_COMPLETE) break;
    retire(f, status);
  }
  return CL_SUCCESS;
}

static void finish(clc_Flight *f) {
  f->lost = clFinish(f->queue) != CL_SUCCESS;
}

void clc_retireended(clc_Flight *f) {
  cl_int code;
  if (f->lost) finish(f);
  while ((code = retire_told(f)) != CL_SUCCESS) {
    finish(f);
    retire(f, code);
  }
}

int clc_haveended(clc_Flight *f) {
  clc_retireended(f);
  if (f->count > 0 || f->lost) return 0;
  forget_unseen(f);
  f->ended = f->queued;
  return 1;
}

void clc_raisefailure(lua_State *L, const clc_Failure *failure) {
  luaL_error(L, "%s failed on the device: %s (%d)", failure->what, clc_codename(failure->code),
             (int)failure->code);
}

const clc_Failure *clc_untoldfailure(const clc_Flight *f) {
  return f->told < f->failed ? &f->failures[f->told % CLC_FAILURES] : NULL;
}

void clc_reportfailure(lua_State *L, clc_Flight *f) {
  clc_retireended(f);
  const clc_Failure *failure = clc_untoldfailure(f);
  f->told = f->failed;
  if (failure != NULL) clc_raisefailure(L, failure);
}

/* --- tickets --------------------------------------------------------------- */

const clc_Command *clc_follow(clc_Flight *f, uint64_t ticket) {
  clc_retireended(f);
  if (f->ended >= ticket) return NULL;
  if (ticket > f->queued - f->unseen.n) clc_mark(f);
  for (unsigned i = 0; i < f->count; i++) {
    const clc_Command *c = &f->pending[(f->oldest + i) % CLC_PENDING];
    if (c->ticket >= ticket) return c;
  }
  return NULL;
}

const clc_Failure *clc_findfailure(const clc_Flight *f, uint64_t ticket) {
  for (unsigned n = f->failed; n > 0 && f->failed - n < CLC_FAILURES; n--) {
    const clc_Failure *failure = &f->failures[(n - 1) % CLC_FAILURES];
    if (ticket > failure->after && ticket <= failure->through) return failure;
  }
  return NULL;
}

/* --- waiting ----------------------------------------------------------- */

/* Hands all commands to the device. Where that fails, those that have not ended may never begin:
   they count as failed. */
static void flush(clc_Flight *f) {
  const cl_int code = clFlush(f->queue);
  clc_retireended(f);
  if (code == CL_SUCCESS || f->count == 0) return;
  finish(f);
  while (f->count > 0) retire(f, code);
}

/* The kernel that is compiled now, as messages call it, or NULL: the oldest command was handed to
   the driver's threads, which no other queue uses, and does not run. */
static const char *find_compiled(const clc_Flight *f) {
  const clc_Command *c = &f->pending[f->oldest];
  cl_int status;
  const int is_handed_out = f->count > 0 && is_kernel(c->what) && c->ticket > f->printing &&
                            get_status(c->event, &status) == CL_SUCCESS && status == CL_SUBMITTED;
  return is_handed_out ? c->what : NULL;
}

void clc_pauseflight(lua_State *L, const clc_Flight *f, const clc_Wait *w, int top) {
  if (f->sharers != NULL && *f->sharers == 1 && clc_now() - w->start > CLC_UNTOLD)
    clc_telllate(L, top, find_compiled(f));
  clc_pause(L, w);
}

/* Until at most so many commands are in flight. After a fault in a kernel NVIDIA's driver
   fails in every call: then the state of the commands is that failure, and all of them end. */
void clc_waitflight(lua_State *L, clc_Flight *f, unsigned most) {
  if (f->count <= most) return;
  const int top = lua_gettop(L);
  clc_Wait w = clc_beginwait(L);
  w.spin = f->spin;
  clc_checkinterrupt(L);
  for (flush(f); f->count > most; clc_retireended(f)) clc_pauseflight(L, f, &w, top);
  lua_settop(L, top);
}

/*
 * Commands may be in flight still when a state ends, and the process with it: POCL aborts when
 * it compiles a kernel meanwhile. One that does not end must not keep the process for ever.
 */
int clc_endflight(clc_Flight *f) {
  const double start = clc_now();
  clc_mark(f);
  cl_int code = f->count > 0 ? clFlush(f->queue) : CL_SUCCESS;
  if (code == CL_SUCCESS) code = retire_told(f);
  while (code == CL_SUCCESS && f->count > 0 && clc_now() - start < PATIENCE) {
    clc_rest(clc_now() - start);
    code = retire_told(f);
  }
  const int have_ended = f->count + f->unseen.n == 0;
  while (f->count > 0) forget_oldest(f);
  forget_unseen(f);
  f->ended = f->queued;
  return have_ended;
}

void clc_watch(clc_Flight *f, double begun) {
  f->watched = f->queued;
  f->begun = begun;
  f->lasted = 0;
}

void clc_uncount(clc_Flight *f) {
  for (unsigned i = 0; i < f->count; i++) f->pending[(f->oldest + i) % CLC_PENDING].counter = NULL;
}
