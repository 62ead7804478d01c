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
#include <time.h>
#include <unistd.h>

#define METATABLE "clcompute.notice"
#define PATIENCE 0.5 /* seconds before it is written */
#define PAUSE 0.2    /* seconds: waits that are closer count as one */
#define FLASH 0.05   /* seconds: a shorter wait is not told of, its line would flicker */
#define ROOM 79      /* characters */

/* The line stands below the cursor, which stays where the script left it, perhaps behind half a
   line: down (scrolling at the end of the screen) and up, save, down and to the left. */
#define BELOW "\033D\033[A\0337\033[B\r"
#define BACK "\0338"
#define CLEAR BELOW "\033[J" BACK /* also where the window was made narrower */

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

/* A job in the background leaves the terminal to others; ENOTTY: it is that of no job of ours. */
static int is_in_foreground(void) {
  const pid_t group = tcgetpgrp(STDERR_FILENO);
  return group < 0 || group == getpgrp();
}

static void *show_late(void *given) {
  Notice *n = given;
  const struct timespec at = to_timespec(n->due);
  pthread_mutex_lock(&n->lock);
  int waiting = 0;
  while (!n->is_over && waiting == 0) waiting = pthread_cond_timedwait(&n->ended, &n->lock, &at);
  const int counts = !n->is_over && is_in_foreground();
  const int shows = counts && atomic_fetch_add(&shown, 1) == 0;
  if (shows) put(n->line);
  while (!n->is_over) pthread_cond_wait(&n->ended, &n->lock);
  if (shows) put(CLEAR);
  if (counts) atomic_fetch_sub(&shown, 1);
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

/* Signals are for the threads that there were, but for Ctrl-C where these hold it: a second one
   ends the process, also one whose driver hangs. */
static int start(Notice *n) {
  pthread_condattr_t monotonic;
  sigset_t all, before;
  pthread_mutex_init(&n->lock, NULL);
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_cond_init(&n->ended, &monotonic);
  pthread_condattr_destroy(&monotonic);
  sigfillset(&all);
  sigdelset(&all, SIGINT);
  pthread_sigmask(SIG_SETMASK, &all, &before);
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
