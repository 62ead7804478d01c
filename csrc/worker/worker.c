/* SPDX-License-Identifier: MIT */
/* Workers, as seen from the process that has one. */
#define _POSIX_C_SOURCE 200809L
#include "worker.h"

#include <errno.h>
#include <lauxlib.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/base.h"

#define START_LIMIT 60 /* seconds for Lua and the driver to begin: much more than they need */
#define LONGEST_REST \
  5                /* milliseconds: keeps Ctrl-C prompt where a driver's thread takes the signal */
#define PATIENCE 2 /* seconds that an idle one has to end by itself */

void clc_initworker(clc_Worker *w) {
  memset(w, 0, sizeof *w);
  w->arena.fd = w->process.socket = w->process.stderr_fd = -1;
}

/* --- its process ------------------------------------------------------- */

static void drop_requests(clc_Worker *w) {
  free(w->out);
  w->out = NULL;
  w->used = w->room = 0;
  w->lost = 0;
}

/* Reaps the process, which ends when there is nothing to read, by force after so many seconds;
   returns waitpid's status. */
static int end_process(clc_Worker *w, double patience) {
  shutdown(w->process.socket, SHUT_RDWR);
  const int status = clc_reap(&w->process, patience);
  w->process.pid = 0;
  w->busy = 0;
  drop_requests(w);
  return status;
}

void clc_endworker(clc_Worker *w) {
  if (w->process.pid == 0) return;
  end_process(w, 0);
  clc_closeprocess(&w->process);
}

void clc_closeworker(clc_Worker *w) {
  if (w->process.pid != 0) {
    end_process(w, w->busy ? 0 : PATIENCE);
    clc_closeprocess(&w->process);
  }
  drop_requests(w);
  clc_closearena(&w->arena);
}

/* An idle process sends nothing: what can be read is its end. */
static int is_alive(const clc_Worker *w) {
  char byte;
  return recv(w->process.socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 &&
         (errno == EAGAIN || errno == EINTR);
}

static void start_process(lua_State *L, clc_Worker *w, int platform, int device) {
  char room[1024];
  clc_Answer answer;
  const char *lua = clc_findinterpreter(room, sizeof room);
  const int code = clc_spawn(&w->process, lua, w->arena.fd);
  if (code != 0)
    luaL_error(L, "cannot start a worker by %s: %s; CLCOMPUTE_LUA names another Lua interpreter",
               lua, strerror(code));
  w->generation++;
  const clc_Request open = {CLC_ASK_OPEN, (uint32_t)device, (uint64_t)platform, 0, 0};
  if (!clc_ask(L, w, open, NULL, START_LIMIT, &answer))
    luaL_error(L, "%s does not start as a worker: %s; CLCOMPUTE_LUA names another Lua interpreter",
               lua, w->fate);
  if (answer.code != CL_SUCCESS) {
    clc_endworker(w);
    clc_raise(L, answer.code, answer.call, "in the worker");
  }
}

void clc_startworker(lua_State *L, clc_Worker *w, int platform, int device) {
  if (w->busy) luaL_error(L, "the worker of this device is computing: a hook cannot use it now");
  if (w->process.pid != 0 && !is_alive(w)) clc_endworker(w);
  if (w->process.pid == 0) start_process(L, w, platform, device);
}

/* --- requests ---------------------------------------------------------- */

static int make_room(clc_Worker *w, size_t bytes) {
  if (w->used + bytes <= w->room) return 1;
  size_t room = w->room > 0 ? w->room : 4096;
  while (room < w->used + bytes) room *= 2;
  char *out = realloc(w->out, room);
  if (out == NULL) return 0;
  w->out = out;
  w->room = room;
  return 1;
}

/* A launch that came to nothing is not told of; what was let go of since is. */
static void drop_draft(clc_Worker *w) {
  size_t to = w->draft, size;
  for (size_t at = w->draft; at < w->used; at += size) {
    clc_Request r;
    memcpy(&r, w->out + at, sizeof r);
    size = sizeof r + r.bytes;
    if (r.ask != CLC_ASK_FORGET) continue;
    memmove(w->out + to, w->out + at, size);
    to += size;
  }
  if (w->draft < w->used) w->used = to;
  w->draft = w->used;
}

void clc_request(clc_Worker *w, clc_Request request, const void *bytes) {
  if (request.ask == CLC_ASK_KERNEL) drop_draft(w);
  if (!make_room(w, sizeof request + request.bytes)) {
    w->lost = 1;
    return;
  }
  memcpy(w->out + w->used, &request, sizeof request);
  if (request.bytes > 0) memcpy(w->out + w->used + sizeof request, bytes, request.bytes);
  w->used += sizeof request + request.bytes;
}

/* --- answers ----------------------------------------------------------- */

typedef struct {
  size_t sent, received;
  int ended; /* the process closed its end, or the connection broke */
  int fault; /* that broke it, of the system */
} Exchange;

/* Whether the connection broke: the result of send or recv. */
static int note_fault(Exchange *x, ssize_t n) {
  if (n >= 0 || errno == EAGAIN || errno == EINTR) return 0;
  x->fault = errno;
  return 1;
}

/* As far as it goes without waiting. */
static void exchange(const clc_Worker *w, Exchange *x, clc_Answer *answer) {
  ssize_t n;
  while (x->sent < w->used && !x->ended) {
    n = send(w->process.socket, w->out + x->sent, w->used - x->sent, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n <= 0) {
      x->ended = note_fault(x, n);
      break;
    }
    x->sent += (size_t)n;
  }
  n = recv(w->process.socket, (char *)answer + x->received, sizeof *answer - x->received,
           MSG_DONTWAIT);
  if (n > 0) x->received += (size_t)n;
  if (n == 0 || note_fault(x, n)) x->ended = 1;
}

static int check_script(lua_State *L) {
  clc_checkwait(L, lua_touserdata(L, 1));
  return 0;
}

/* Gives the processor away: after a while until there is something to read, or to look at
   interrupts again. */
static void rest(const clc_Worker *w, const Exchange *x, double waited) {
  struct pollfd p = {w->process.socket, POLLIN, 0};
  if (x->sent < w->used) p.events |= POLLOUT;
  if (waited < CLC_SPIN)
    clc_rest(waited);
  else
    poll(&p, 1, LONGEST_REST);
}

/* An interrupted script does not wait for the answer, so nobody ever will. */
static void check_or_end(lua_State *L, clc_Worker *w, clc_Wait *wait) {
  luaL_checkstack(L, 3, NULL);
  lua_pushcfunction(L, check_script);
  lua_pushlightuserdata(L, wait);
  if (lua_pcall(L, 1, 0, 0) == LUA_OK) return;
  clc_endworker(w);
  lua_error(L);
}

/* What it died of comes before what that did to the connection. */
static int note_end(clc_Worker *w, int fault) {
  const int status = end_process(w, PATIENCE);
  w->memory_fault = status != -1 && WIFSIGNALED(status) &&
                    (WTERMSIG(status) == SIGSEGV || WTERMSIG(status) == SIGBUS);
  const int n = snprintf(w->fate, sizeof w->fate, "its worker process ");
  const int is_own = fault != 0 && fault != EPIPE && fault != ECONNRESET; /* not of its end */
  if (is_own && status != -1 && !WIFSIGNALED(status))
    snprintf(w->fate + n, sizeof w->fate - (size_t)n, "was lost: %s", strerror(fault));
  else
    clc_describedeath(&w->process, status, w->fate + n, sizeof w->fate - (size_t)n);
  clc_closeprocess(&w->process);
  return 0;
}

static int note_limit(clc_Worker *w, double limit) {
  clc_endworker(w);
  snprintf(w->fate, sizeof w->fate, "not done within the limit of %g seconds, and ended", limit);
  return 0;
}

static int note_lost(clc_Worker *w) {
  clc_endworker(w);
  snprintf(w->fate, sizeof w->fate, "not enough memory for what it was to be told");
  return 0;
}

int clc_ask(lua_State *L, clc_Worker *w, clc_Request request, const void *bytes, double limit,
            clc_Answer *answer) {
  Exchange x = {0};
  clc_Wait wait = clc_beginwait(L);
  const uint64_t generation = w->generation;
  clc_hear(&w->process);
  clc_request(w, request, bytes);
  w->draft = SIZE_MAX; /* it goes out, with all before it */
  if (w->lost) return note_lost(w);
  w->busy = 1;
  w->memory_fault = 0;
  for (exchange(w, &x, answer); x.received < sizeof *answer; exchange(w, &x, answer)) {
    if (x.ended) return note_end(w, x.fault);
    if (clc_now() - wait.start > limit) return note_limit(w, limit);
    rest(w, &x, clc_now() - wait.start);
    check_or_end(L, w, &wait);
    if (w->generation != generation || w->process.pid == 0)
      luaL_error(L, "the device was closed meanwhile");
  }
  answer->call[sizeof answer->call - 1] = '\0'; /* a kernel may have written anywhere */
  w->busy = 0;
  w->used -= x.sent; /* what a hook let go of meanwhile may not have gone out */
  memmove(w->out, w->out + x.sent, w->used);
  return 1;
}
