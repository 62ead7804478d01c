/* SPDX-License-Identifier: MIT */
/* Notices: a line for who waits at a terminal, written by a thread, for a driver that compiles does
   not return. The thread knows neither Lua nor OpenCL. */
#define _GNU_SOURCE /* pthread_condattr_setclock */
#include "base.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define METATABLE "clcompute.notice"
#define PATIENCE 0.5 /* seconds before it is written */
#define PAUSE 0.2    /* seconds: waits that are closer count as one */
#define LOOK 0.05    /* seconds between two looks for what is typed */
#define FLASH 0.05   /* seconds: a shorter wait is not told of, its line would flicker */
#define ROOM 79      /* characters */

/* The line stands below the cursor, which stays where the script left it, perhaps behind half a
   line: down (scrolling at the end of the screen) and up, save, down and to the left. */
#define BELOW "\033D\033[A\0337\033[B\r"
#define BACK "\0338"
#define ERASE "\033[J" /* from the cursor on: also where the window was made narrower */
#define CLEAR BELOW ERASE BACK

typedef struct {
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t ended;
  int is_over;
  double due;    /* by clc_now */
  pid_t process; /* a forked child has no such thread */
  char line[sizeof BELOW + ROOM + sizeof BACK];
} Notice;

static atomic_int shown; /* one line at a time, of the outermost wait */

/* By clc_now: when the first of the waits began that count as one, and when the last one ended. */
static _Atomic double began, ended;

/* When the line is due: who sits there sees many short builds as one long wait. */
static double due_time(void) {
  const double now = clc_now();
  if (now - atomic_load(&ended) > PAUSE) atomic_store(&began, now);
  return fmax(atomic_load(&began) + PATIENCE, now + FLASH);
}

static struct timespec to_timespec(double seconds) {
  const time_t whole = (time_t)seconds;
  return (struct timespec){whole, (long)((seconds - (double)whole) * 1e9)};
}

static void put(const char *text) {
  (void)!write(STDERR_FILENO, text, strlen(text));
}

/* A job in the background leaves the terminal to others. Below 0: this is not the terminal that
   controls our jobs. */
static int is_in_foreground(void) {
  const pid_t group = tcgetpgrp(STDERR_FILENO);
  return group < 0 || group == getpgrp();
}

/* Waits for the end until a moment by clc_now; returns whether it came. */
static int is_over_by(Notice *n, double moment) {
  const struct timespec at = to_timespec(moment);
  int waiting = 0;
  while (!n->is_over && waiting == 0) waiting = pthread_cond_timedwait(&n->ended, &n->lock, &at);
  return n->is_over;
}

/* Bytes of whole lines that were typed and not read. */
static int count_typed(void) {
  int bytes;
  return ioctl(STDERR_FILENO, FIONREAD, &bytes) == 0 ? bytes : 0;
}

/* Until the end; but whoever types Enter has the cursor on the line, which goes at once then. */
static void show(Notice *n) {
  const int typed = count_typed();
  int stands = 1;
  put(n->line);
  while (!is_over_by(n, clc_now() + LOOK))
    if (stands && count_typed() > typed) {
      put(ERASE);
      stands = 0;
    }
  if (stands && is_in_foreground()) put(CLEAR);
}

static void *show_late(void *given) {
  Notice *n = given;
  pthread_mutex_lock(&n->lock);
  if (!is_over_by(n, n->due) && is_in_foreground()) {
    if (atomic_fetch_add(&shown, 1) == 0) show(n);
    while (!n->is_over) pthread_cond_wait(&n->ended, &n->lock);
    atomic_fetch_sub(&shown, 1);
  }
  pthread_mutex_unlock(&n->lock);
  return NULL;
}

static int end_notice(lua_State *L) {
  Notice *n = luaL_checkudata(L, 1, METATABLE);
  if (n->process == 0 || n->process != getpid()) return 0;
  n->process = 0;
  atomic_store(&ended, clc_now());
  pthread_mutex_lock(&n->lock);
  n->is_over = 1;
  pthread_cond_signal(&n->ended);
  pthread_mutex_unlock(&n->lock);
  pthread_join(n->thread, NULL);
  pthread_cond_destroy(&n->ended);
  pthread_mutex_destroy(&n->lock);
  return 0;
}

/* The thread takes no signal but Ctrl-C, which comes to it while the script's thread holds it: a
   second one then ends a process whose driver hangs. A program that blocks it has its reasons. */
static int start(Notice *n) {
  pthread_condattr_t monotonic;
  sigset_t all, before;
  pthread_mutex_init(&n->lock, NULL);
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_cond_init(&n->ended, &monotonic);
  pthread_condattr_destroy(&monotonic);
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, NULL, &before);
  if (!sigismember(&before, SIGINT)) sigdelset(&all, SIGINT);
  pthread_sigmask(SIG_SETMASK, &all, NULL);
  const int code = pthread_create(&n->thread, NULL, show_late, n);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return code == 0;
}

/* Columns of the terminal in which a line can be written and taken back; 0: there is none. */
static size_t count_columns(void) {
  const char *term = getenv("TERM");
  return term != NULL && strcmp(term, "dumb") == 0 ? 0 : (size_t)clc_terminalcolumns(STDERR_FILENO);
}

/* A line that breaks would be two: it leaves a column. */
static void write_line(Notice *n, const char *text, size_t columns) {
  char words[ROOM + 1];
  snprintf(words, clc_smaller(sizeof words, columns), "clcompute: %s", text);
  for (char *p = words; *p != '\0'; p++)
    if ((unsigned char)*p < ' ') *p = ' '; /* of a name that a script gave */
  snprintf(n->line, sizeof n->line, BELOW "%s" BACK, words);
}

/* Pushes it, or nil. */
static void push_notice(lua_State *L, const char *text) {
  const size_t columns = count_columns();
  if (columns == 0) {
    lua_pushnil(L);
    return;
  }
  Notice *n = lua_newuserdatauv(L, sizeof *n, 0);
  memset(n, 0, sizeof *n);
  write_line(n, text, columns);
  n->due = due_time();
  luaL_setmetatable(L, METATABLE);
  if (start(n)) n->process = getpid();
}

void clc_pushnotice(lua_State *L, const char *text) {
  push_notice(L, text);
  lua_toclose(L, -1);
}

void clc_telllate(lua_State *L, int top, const char *compiled) {
  if (compiled == NULL) {
    lua_settop(L, top);
  } else if (lua_gettop(L) == top) {
    luaL_checkstack(L, 5, NULL);
    clc_pushnotice(L, lua_pushfstring(L, "compiling %s", compiled));
  }
}

/* notice(text) --> what is to be closed, or nil */
static int new_notice(lua_State *L) {
  push_notice(L, luaL_checkstring(L, 1));
  return 1;
}

/* hush_notices(): none is shown from now on, as the process shows a line of its own. */
static int hush_notices(lua_State *L) {
  (void)L;
  atomic_fetch_add(&shown, 1);
  return 0;
}

void clc_opennotices(lua_State *L) {
  static const luaL_Reg functions[] = {
      {"notice", new_notice}, {"hush_notices", hush_notices}, {NULL, NULL}};
  static const luaL_Reg methods[] = {{"__close", end_notice}, {"__gc", end_notice}, {NULL, NULL}};
  clc_addinternal(L, functions);
  luaL_newmetatable(L, METATABLE);
  luaL_setfuncs(L, methods, 0);
  lua_pop(L, 1);
}
