/* SPDX-License-Identifier: MIT */
/*
 * Waiting for the device so that Ctrl-C still works, and the clock that measures. What the device
 * computes goes on; only the worker of an isolated device is ended (csrc/worker/worker.c).
 */
#define _POSIX_C_SOURCE 200809L
#include "base.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <time.h>

#define MAX_SLEEP 1e-3   /* keeps Ctrl-C prompt */
#define SLEEP_SHARE 0.03 /* of the time waited so far: what a late look may cost */

double clc_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void sleep_for(double seconds) {
  struct timespec t = {0, (long)(seconds * 1e9)};
  nanosleep(&t, NULL);
}

static int do_nothing(lua_State *L) {
  (void)L;
  return 0;
}

/* A signal handler cannot raise; the interpreter's sets a hook that will, at the
   next call. */
void clc_checkinterrupt(lua_State *L) {
  if (lua_gethook(L) == NULL) return;
  lua_pushcfunction(L, do_nothing);
  lua_call(L, 0, 0);
}

static sigset_t interrupt_set(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  return set;
}

int clc_holdinterrupt(void) {
  const sigset_t set = interrupt_set();
  sigset_t before;
  pthread_sigmask(SIG_BLOCK, &set, &before);
  return sigismember(&before, SIGINT) == 1;
}

void clc_letinterrupt(int was_held) {
  const sigset_t set = interrupt_set();
  if (!was_held) pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

static lua_State *main_thread(lua_State *L) {
  lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_MAINTHREAD);
  lua_State *thread = lua_tothread(L, -1);
  lua_pop(L, 1);
  return thread;
}

/* The interpreter's handler reaches the main thread alone. A coroutine takes a hook
   that appears there while it waits for an interrupt, and raises itself. */
clc_Wait clc_beginwait(lua_State *L) {
  lua_State *thread = main_thread(L);
  if (thread == L) thread = NULL;
  return (clc_Wait){clc_now(), CLC_SPIN, thread, thread != NULL ? lua_gethook(thread) : NULL};
}

void clc_checkwait(lua_State *L, const clc_Wait *w) {
  clc_checkinterrupt(L);
  if (w->thread == NULL || lua_gethook(w->thread) == w->hook) return;
  if (w->hook == NULL) lua_sethook(w->thread, NULL, 0, 0); /* or it would raise once more there */
  luaL_error(L, "interrupted!");
}

void clc_pause(lua_State *L, const clc_Wait *w) {
  clc_checkwait(L, w);
  const double waited = clc_now() - w->start;
  clc_rest(waited < w->spin ? 0 : waited);
}

void clc_rest(double waited) {
  if (waited < CLC_SPIN)
    sched_yield();
  else
    sleep_for(waited * SLEEP_SHARE < MAX_SLEEP ? waited * SLEEP_SHARE : MAX_SLEEP);
}
