/* SPDX-License-Identifier: MIT */
/*
 * What kernels print: OpenCL has no way to ask for it. Drivers write it to the standard output of
 * the process, some when a launch ends, others when the queue is finished. Where a script asks for
 * it, descriptor 1 leads to a file for as long as the launch takes. A worker has such a file
 * anyway.
 */
#define _GNU_SOURCE /* memfd_create */
#include "device.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "files/files.h"

void clc_beforeoutput(void) {
  fflush(stdout);
}

void clc_awaitoutput(lua_State *L, clc_Device *d) {
  clc_drain(L, d);
  clc_check(L, clFinish(d->queue), "clFinish"); /* the queue is empty: it prints alone */
}

void clc_awaitprinted(lua_State *L, clc_Device *d) {
  d->flight.printing = d->flight.queued;
  clc_awaitoutput(L, d);
}

/* --- redirection -------------------------------------------------------- */

/* The standard output is one for all Lua states of a process. */
static struct {
  _Atomic(const void *) owner; /* the registry of the state that has it; NULL: none */
  int is_on;                   /* descriptor 1 leads to the file */
  int file, before;            /* before: descriptor 1 as it was; -1: it was closed */
} redirection;

static void claim(lua_State *L) {
  const void *self = lua_topointer(L, LUA_REGISTRYINDEX), *free = NULL;
  const clc_Wait w = clc_beginwait(L);
  while (!atomic_compare_exchange_strong(&redirection.owner, &free, self)) {
    if (free == self) luaL_error(L, "what another launch prints is captured now");
    free = NULL;
    clc_pause(L, &w);
  }
}

/* Returns 0 with errno set. */
static int redirect(void) {
  fflush(stdout);
  redirection.file = memfd_create("clcompute output", MFD_CLOEXEC);
  if (redirection.file < 0) return 0;
  fcntl(redirection.file, F_SETFL, O_APPEND); /* a driver's threads write at once */
  redirection.before = dup(STDOUT_FILENO);
  if ((redirection.before >= 0 || errno == EBADF) && dup2(redirection.file, STDOUT_FILENO) >= 0)
    return redirection.is_on = 1;
  const int code = errno;
  if (redirection.before >= 0) close(redirection.before);
  close(redirection.file);
  errno = code;
  return 0;
}

void clc_beginredirection(lua_State *L, clc_Device *d) {
  (void)d;
  claim(L);
  if (redirect()) return;
  const int code = errno;
  atomic_store(&redirection.owner, NULL);
  luaL_error(L, "the output cannot be captured: %s", strerror(code));
}

static void restore(void) {
  fflush(stdout);
  if (redirection.before >= 0) {
    dup2(redirection.before, STDOUT_FILENO);
    close(redirection.before);
  } else {
    close(STDOUT_FILENO);
  }
  redirection.is_on = 0;
}

void clc_pushredirected(lua_State *L, clc_Device *d) {
  (void)d;
  restore();
  clc_pushwritten(L, redirection.file);
}

void clc_dropredirected(clc_Device *d) {
  (void)d;
  if (redirection.is_on) restore();
  close(redirection.file);
  atomic_store(&redirection.owner, NULL);
}

/* --- a launch ------------------------------------------------------------ */

static int push_output(lua_State *L) {
  clc_Device *d = lua_touserdata(L, 1);
  d->context->executor->push_output(L, d);
  return 1;
}

void clc_capture(lua_State *L, clc_Device *d, lua_CFunction f, int n) {
  const clc_Executor *executor = d->context->executor;
  const int first = lua_gettop(L) - n + 1;
  luaL_checkstack(L, 10, NULL);
  clc_pushdevice(L, d); /* keeps it */
  lua_insert(L, first);
  clc_drain(L, d);
  executor->keep_output(L, d);
  lua_pushcfunction(L, f);
  lua_insert(L, first + 1);
  const int status = lua_pcall(L, n, 0, 0);
  lua_pushcfunction(L, push_output);
  lua_pushlightuserdata(L, d);
  const int text_status = lua_pcall(L, 1, 1, 0);
  executor->drop_output(d);
  if (text_status != LUA_OK) lua_error(L);
  if (status != LUA_OK) {
    fwrite(lua_tostring(L, -1), 1, lua_rawlen(L, -1), stdout);
    lua_pop(L, 1);
    luaL_where(L, 1); /* which the protected call has none of */
    lua_insert(L, -2);
    if (lua_type(L, -1) == LUA_TSTRING) lua_concat(L, 2);
    lua_error(L);
  }
  lua_remove(L, first);
}
