/* SPDX-License-Identifier: MIT */
/*
 * Ctrl-C in the terminal of a prompt of our own, which it must not end. The handler of the lua
 * interpreter serves once, reaches the main thread alone, and leaves the process to the next
 * signal. And what else such a prompt asks of its terminal.
 */
#define _POSIX_C_SOURCE 200809L
#include "base.h"

#include <errno.h>
#include <lualib.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define DEEPEST 256 /* coroutines inside each other: more than Lua's C stack allows */
#define LOOK 200    /* milliseconds: what a signal just before poll() costs */
#define MASK (LUA_MASKCALL | LUA_MASKRET | LUA_MASKLINE | LUA_MASKCOUNT)

/* Variables of the process, as signal handlers are. */
static pthread_t owner;               /* the thread that runs the prompt */
static volatile sig_atomic_t came;    /* interrupts since the computation or the wait began */
static lua_State *volatile computing; /* the main thread while Lua code of the user runs */
static lua_State *volatile resumed[DEEPEST]; /* the coroutines in which it is, from outside in */
static volatile sig_atomic_t depth;

/* --- the signal ---------------------------------------------------------- */

/* Code that catches errors may catch the first interrupt; from the second on nothing goes on. */
static void stop(lua_State *L, lua_Debug *ar) {
  (void)ar;
  if (came < 2) lua_sethook(L, NULL, 0, 0);
  luaL_where(L, 0);
  lua_pushliteral(L, "interrupted!");
  lua_concat(L, 2);
  lua_error(L);
}

static void handle(int signal) {
  if (!pthread_equal(pthread_self(), owner)) { /* a driver's thread took it */
    pthread_kill(owner, signal);
    return;
  }
  came++;
  if (computing == NULL) return;
  lua_sethook(computing, stop, MASK, 1);
  for (int i = 0; i < depth; i++) lua_sethook(resumed[i], stop, MASK, 1);
}

/* --- coroutines, which have hooks of their own --------------------------- */

/* Calls the first upvalue with all arguments while a coroutine counts as resumed. */
static int call_resumed(lua_State *L, lua_State *co) {
  const int before = depth;
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  if (co != NULL && before < DEEPEST) {
    resumed[before] = co;
    depth = before + 1;
  }
  const int status = lua_pcall(L, lua_gettop(L) - 1, LUA_MULTRET, 0);
  depth = before;
  if (status != LUA_OK) lua_error(L);
  return lua_gettop(L);
}

static int resume(lua_State *L) {
  return call_resumed(L, lua_tothread(L, 1));
}

static int resume_wrapped(lua_State *L) {
  return call_resumed(L, lua_tothread(L, lua_upvalueindex(2)));
}

/* The interpreter's own function has the coroutine as its upvalue. */
static int wrap(lua_State *L) {
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_call(L, lua_gettop(L) - 1, 1);
  if (lua_getupvalue(L, -1, 1) == NULL) return 1;
  lua_pushcclosure(L, resume_wrapped, 2);
  return 1;
}

/* Puts a function around one of the coroutine library, which is at the top. */
static void put_around(lua_State *L, const char *name, lua_CFunction f) {
  lua_getfield(L, -1, name);
  lua_pushcclosure(L, f, 1);
  lua_setfield(L, -2, name);
}

/* --- for the prompt ------------------------------------------------------ */

/* catch_interrupts(on): true: Ctrl-C ends what `compute` runs, or `wait_input`, and no more;
   false: the process, as ever. */
static int catch_interrupts(lua_State *L) {
  struct sigaction action = {.sa_handler = lua_toboolean(L, 1) ? handle : SIG_DFL};
  sigemptyset(&action.sa_mask);
  owner = pthread_self();
  sigaction(SIGINT, &action, NULL); /* without SA_RESTART: reads end */
  return 0;
}

/* follow_coroutines(): Ctrl-C also ends what coroutines compute. Once. */
static int follow_coroutines(lua_State *L) {
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  lua_getfield(L, -1, LUA_COLIBNAME);
  put_around(L, "resume", resume);
  put_around(L, "close", resume);
  put_around(L, "wrap", wrap);
  return 0;
}

/* Puts what was raised, at the top, into a table. */
static void wrap_reason(lua_State *L) {
  lua_createtable(L, 0, 2);
  lua_insert(L, -2);
  lua_setfield(L, -2, "reason");
}

/* The handler of messages: adds the calls that led to the error. */
static int describe(lua_State *L) {
  lua_settop(L, 1);
  wrap_reason(L);
  luaL_traceback(L, L, NULL, 1);
  lua_setfield(L, 1, "traceback");
  return 1;
}

/* compute(f) --> nil, or what it raised, { reason =, traceback = }; no traceback where there was
   no memory or stack for one. In the main thread. */
static int compute(lua_State *L) {
  lua_settop(L, 1);
  lua_pushcfunction(L, describe);
  lua_insert(L, 1);
  came = depth = 0;
  computing = L;
  const int status = lua_pcall(L, 0, 0, 1);
  computing = NULL;
  if (lua_gethook(L) == stop) lua_sethook(L, NULL, 0, 0);
  came = 0;
  if (status == LUA_OK) return 0;
  if (status != LUA_ERRRUN) wrap_reason(L);
  return 1;
}

/* wait_input() --> whether standard input has something, or its end; false: an interrupt came. */
static int wait_input(lua_State *L) {
  struct pollfd input = {STDIN_FILENO, POLLIN, 0};
  while (came == 0) {
    const int n = poll(&input, 1, LOOK);
    if (n > 0 || (n < 0 && errno != EINTR)) break;
  }
  lua_pushboolean(L, came == 0);
  came = 0;
  return 1;
}

/* terminal_columns() --> of the terminal that standard input is; nil where it is none. */
static int terminal_columns(lua_State *L) {
  struct winsize size;
  if (!isatty(STDIN_FILENO)) return 0;
  const int known = ioctl(STDIN_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  lua_pushinteger(L, known ? size.ws_col : 80);
  return 1;
}

void clc_openinterrupts(lua_State *L) {
  static const luaL_Reg functions[] = {{"catch_interrupts", catch_interrupts},
                                       {"compute", compute},
                                       {"follow_coroutines", follow_coroutines},
                                       {"terminal_columns", terminal_columns},
                                       {"wait_input", wait_input},
                                       {NULL, NULL}};
  clc_addinternal(L, functions);
}
