/* SPDX-License-Identifier: MIT */
/* Waiting for the device so that Ctrl-C still works. */
#define _POSIX_C_SOURCE 200809L
#include "wait.h"

#include <sched.h>
#include <time.h>

#define SPIN 50e-6      /* seconds of busy polling: most launches end within */
#define MAX_SLEEP 1e-3  /* keeps Ctrl-C prompt */
#define SLEEP_SHARE 0.1 /* of the time waited so far: what a late look may cost */

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

static lua_State *main_thread(lua_State *L) {
  lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_MAINTHREAD);
  lua_State *thread = lua_tothread(L, -1);
  lua_pop(L, 1);
  return thread;
}

/* A signal handler cannot raise; the interpreter's sets a hook that will, at
   the next call. So a hook that appears while we wait means: stop. Calling a
   function lets the hook raise its own error; a coroutine, which has hooks of
   its own, gets ours. */
static void raise_interrupt(lua_State *L) {
  lua_pushcfunction(L, do_nothing);
  lua_call(L, 0, 0);
  luaL_error(L, "interrupted!");
}

cl_int clc_waitevent(lua_State *L, cl_event event, double seconds) {
  lua_State *thread = main_thread(L);
  const lua_Hook hook = lua_gethook(thread);
  const double start = clc_now();
  for (;;) {
    cl_int status;
    clc_check(
        L, clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL),
        "clGetEventInfo");
    if (status <= CL_COMPLETE) return status;
    const double waited = clc_now() - start;
    if (seconds >= 0 && waited >= seconds) return status;
    if (lua_gethook(thread) != hook) raise_interrupt(L);
    if (waited < SPIN)
      sched_yield();
    else
      sleep_for(waited * SLEEP_SHARE < MAX_SLEEP ? waited * SLEEP_SHARE : MAX_SLEEP);
  }
}
