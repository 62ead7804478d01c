/* SPDX-License-Identifier: MIT */
/*
 * Ctrl-C in the terminal of a prompt of our own, which it must not end. The handler of the lua
 * interpreter serves once, reaches the main thread alone, and leaves the process to the next
 * signal. The wait for a kernel looks for Ctrl-C in wait.c.
 */
#define _POSIX_C_SOURCE 200809L
#include "base.h"

#include <lualib.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#define HANDLER "clcompute.interrupts" /* in the registry: what takes the handler away */
#define IN_VAIN 3                      /* interrupts, from which on somebody is at a loss */
#define DEEPEST 256 /* coroutines inside each other: more than Lua's C stack allows */
#define MASK (LUA_MASKCALL | LUA_MASKRET | LUA_MASKLINE | LUA_MASKCOUNT)

/* Variables of the process, as signal handlers are. */
static pthread_t owner;                      /* the thread that runs the prompt */
static volatile sig_atomic_t interrupts;     /* since the computation or the wait began */
static lua_State *volatile computing;        /* the main thread while Lua code of the user runs */
static lua_State *volatile resumed[DEEPEST]; /* the coroutines in which it is, from outside in */
static volatile sig_atomic_t depth;

/* --- the signal ---------------------------------------------------------- */

/* Code that catches errors may catch the first interrupt; from the second on nothing goes on. */
static void raise_interrupt(lua_State *L, lua_Debug *ar) {
  (void)ar;
  if (interrupts < 2) lua_sethook(L, NULL, 0, 0);
  luaL_where(L, 0);
  lua_pushliteral(L, "interrupted!");
  lua_concat(L, 2);
  lua_error(L);
}

/* Lua runs no hook within a hook, a finalizer or a long call in C. */
static void say_how_to_end(void) {
  static const char text[] = "\nwhat runs cannot be interrupted: Ctrl-\\ ends the process\n";
  (void)!write(STDERR_FILENO, text, sizeof text - 1);
}

static void handle(int signal) {
  if (!pthread_equal(pthread_self(), owner)) { /* a driver's thread took it */
    pthread_kill(owner, signal);
    return;
  }
  interrupts++;
  if (computing == NULL) return;
  if (interrupts == IN_VAIN) say_how_to_end();
  lua_sethook(computing, raise_interrupt, MASK, 1);
  for (int i = 0; i < depth; i++) lua_sethook(resumed[i], raise_interrupt, MASK, 1);
}

/* --- coroutines, which have hooks of their own --------------------------- */

/* A coroutine counts as resumed until `depth` is set back to what this returns. */
static int enter(lua_State *co) {
  const int before = depth;
  if (before < DEEPEST) {
    resumed[before] = co;
    depth = before + 1;
  }
  return before;
}

/* Resumes a coroutine with the values at the top, so many. Pushes what it gives and returns how
   many that is, or pushes an error and returns -1. Calling Lua's own function here would take a
   second level of the C stack for each coroutine within another one. */
static int resume_coroutine(lua_State *L, lua_State *co, int given) {
  int results = 1;
  if (!lua_checkstack(co, given)) {
    lua_pushliteral(L, "too many arguments to resume");
    return -1;
  }
  lua_xmove(L, co, given);
  const int before = enter(co), status = lua_resume(co, L, given, &results);
  depth = before;
  if (status != LUA_OK && status != LUA_YIELD) {
    lua_xmove(co, L, 1);
    return -1;
  }
  if (!lua_checkstack(L, results + 1)) {
    lua_pop(co, results);
    lua_pushliteral(L, "too many results to resume");
    return -1;
  }
  lua_xmove(co, L, results);
  return results;
}

/* coroutine.resume */
static int resume(lua_State *L) {
  lua_State *co = lua_tothread(L, 1);
  luaL_argexpected(L, co != NULL, 1, "thread");
  const int results = resume_coroutine(L, co, lua_gettop(L) - 1);
  lua_pushboolean(L, results >= 0);
  lua_insert(L, results >= 0 ? -results - 1 : -2);
  return results >= 0 ? results + 1 : 2;
}

/* Closes the variables of a coroutine that an error has ended; the error, or what closing raised,
   is at the top of its stack. */
static int close_failed(lua_State *L, lua_State *co) {
  const int before = enter(co);
#if LUA_VERSION_RELEASE_NUM >= 50406
  const int status = lua_closethread(co, L);
#else
  (void)L;
  const int status = lua_resetthread(co);
#endif
  depth = before;
  return status;
}

/* What coroutine.wrap returns. Upvalue: the coroutine. */
static int resume_wrapped(lua_State *L) {
  lua_State *co = lua_tothread(L, lua_upvalueindex(1));
  const int results = resume_coroutine(L, co, lua_gettop(L));
  if (results >= 0) return results;
  int status = lua_status(co);
  if (status != LUA_OK && status != LUA_YIELD) {
    status = close_failed(L, co);
    lua_xmove(co, L, 1);
  }
  if (status != LUA_ERRMEM && lua_type(L, -1) == LUA_TSTRING) {
    luaL_where(L, 1);
    lua_insert(L, -2);
    lua_concat(L, 2);
  }
  return lua_error(L);
}

/* coroutine.wrap */
static int wrap(lua_State *L) {
  luaL_checktype(L, 1, LUA_TFUNCTION);
  lua_State *co = lua_newthread(L);
  lua_pushvalue(L, 1);
  lua_xmove(L, co, 1);
  lua_pushcclosure(L, resume_wrapped, 1);
  return 1;
}

/* coroutine.close; upvalue: Lua's own. What it runs to close variables can be ended too. */
static int close_coroutine(lua_State *L) {
  lua_State *co = lua_tothread(L, 1);
  const int before = co != NULL ? enter(co) : depth;
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  const int status = lua_pcall(L, lua_gettop(L) - 1, LUA_MULTRET, 0);
  depth = before;
  return status == LUA_OK ? lua_gettop(L) : lua_error(L);
}

/* --- for the prompt ------------------------------------------------------ */

static void set_handler(void (*handler)(int)) {
  struct sigaction action = {.sa_handler = handler};
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, NULL); /* without SA_RESTART: reads end */
}

/* A finalizer: the handler must not meet a state that os.exit has closed. */
static int remove_handler(lua_State *L) {
  (void)L;
  set_handler(SIG_DFL);
  computing = NULL;
  return 0;
}

/* catch_interrupts(on): true: Ctrl-C ends what `compute` runs, or `wait_input`, and no more;
   false: the process, as ever. */
static int catch_interrupts(lua_State *L) {
  if (luaL_newmetatable(L, HANDLER)) { /* its own metatable: finalized with the state */
    lua_pushcfunction(L, remove_handler);
    lua_setfield(L, -2, "__gc");
    lua_pushvalue(L, -1);
    lua_setmetatable(L, -2);
  }
  owner = pthread_self();
  set_handler(lua_toboolean(L, 1) ? handle : SIG_DFL);
  return 0;
}

int clc_takeinterrupts(void) {
  const int count = interrupts;
  interrupts = 0;
  return count;
}

/* follow_coroutines(): Ctrl-C also ends what coroutines compute. Once. */
static int follow_coroutines(lua_State *L) {
  static const luaL_Reg functions[] = {{"resume", resume}, {"wrap", wrap}, {NULL, NULL}};
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  lua_getfield(L, -1, LUA_COLIBNAME);
  lua_getfield(L, -1, "close");
  lua_pushcclosure(L, close_coroutine, 1);
  lua_setfield(L, -2, "close");
  luaL_setfuncs(L, functions, 0);
  return 0;
}

/* Puts what was raised, at the top, into a table. */
static void wrap_reason(lua_State *L) {
  lua_createtable(L, 0, 2);
  lua_insert(L, -2);
  lua_setfield(L, -2, "reason");
}

/* The handler of messages: adds the calls that led to the error. */
static int add_traceback(lua_State *L) {
  lua_settop(L, 1);
  wrap_reason(L);
  luaL_traceback(L, L, NULL, 1);
  lua_setfield(L, 1, "traceback");
  return 1;
}

/* A hook of `debug.sethook` holds within chunks alone: one that raises would end the prompt. */
typedef struct {
  lua_Hook call;
  int mask, count;
} Hook;

static Hook left; /* that a chunk has set for those after it */

static Hook hook_of(lua_State *L) {
  return (Hook){lua_gethook(L), lua_gethookmask(L), lua_gethookcount(L)};
}

static void set_hook(lua_State *L, Hook hook) {
  lua_sethook(L, hook.call, hook.mask, hook.count);
}

/* compute(f [, is_chunk]) --> nil, or what it raised, { reason =, traceback =, unhooked = }; no
   traceback where there was no memory or stack for one; unhooked: the hook of earlier chunks, or
   of this one, is taken away. In the main thread. */
static int compute(lua_State *L) {
  const int is_chunk = lua_toboolean(L, 2);
  lua_settop(L, 1);
  lua_pushcfunction(L, add_traceback);
  lua_insert(L, 1);
  interrupts = depth = 0;
  const Hook outer = hook_of(L);
  if (is_chunk && left.call != NULL) set_hook(L, left);
  computing = L;
  const int status = lua_pcall(L, 0, 0, 1);
  computing = NULL;
  Hook set = hook_of(L);
  set_hook(L, outer);
  if (set.call == raise_interrupt || set.call == outer.call) set.call = NULL;
  interrupts = 0;
  if (is_chunk) left = status == LUA_OK ? set : (Hook){NULL, 0, 0};
  if (status == LUA_OK) return 0;
  if (status != LUA_ERRRUN) wrap_reason(L);
  lua_pushboolean(L, is_chunk && set.call != NULL);
  lua_setfield(L, -2, "unhooked");
  return 1;
}

void clc_openinterrupts(lua_State *L) {
  static const luaL_Reg functions[] = {{"catch_interrupts", catch_interrupts},
                                       {"compute", compute},
                                       {"follow_coroutines", follow_coroutines},
                                       {NULL, NULL}};
  clc_addinternal(L, functions);
}
