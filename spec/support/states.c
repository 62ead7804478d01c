/* SPDX-License-Identifier: MIT */
/*
 * Lua states beside each other: require "states".run(threads, lives, script, argument) runs a
 * script in so many threads, in each so many states one after the other. Returns how many ended
 * well, and the error of one that did not.
 */
#include <pthread.h>
#include <stdio.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#define MOST_THREADS 16

typedef struct {
  pthread_t thread;
  int lives, good;
  const char *script, *argument;
  char message[400];
} Worker;

static int run_life(Worker *w) {
  lua_State *L = luaL_newstate();
  if (L == NULL) return 0;
  luaL_openlibs(L);
  int status = luaL_loadstring(L, w->script);
  lua_pushstring(L, w->argument);
  if (status == LUA_OK) status = lua_pcall(L, 1, 0, 0);
  if (status != LUA_OK) snprintf(w->message, sizeof w->message, "%s", luaL_tolstring(L, -1, NULL));
  lua_close(L);
  return status == LUA_OK;
}

static void *work(void *given) {
  Worker *w = given;
  for (int i = 0; i < w->lives; i++) w->good += run_life(w);
  return NULL;
}

static int states_run(lua_State *L) {
  Worker workers[MOST_THREADS];
  const lua_Integer threads = luaL_checkinteger(L, 1);
  int good = 0;
  luaL_argcheck(L, threads >= 1 && threads <= MOST_THREADS, 1, "too many threads");
  for (int i = 0; i < threads; i++) {
    workers[i] = (Worker){.lives = (int)luaL_checkinteger(L, 2),
                          .script = luaL_checkstring(L, 3),
                          .argument = luaL_checkstring(L, 4)};
    if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0)
      return luaL_error(L, "no thread");
  }
  lua_pushnil(L);
  for (int i = 0; i < threads; i++) {
    pthread_join(workers[i].thread, NULL);
    good += workers[i].good;
    if (workers[i].message[0] != '\0') {
      lua_pushstring(L, workers[i].message);
      lua_replace(L, -2);
    }
  }
  lua_pushinteger(L, good);
  lua_insert(L, -2);
  return 2;
}

int luaopen_states(lua_State *L) {
  static const luaL_Reg functions[] = {{"run", states_run}, {NULL, NULL}};
  luaL_newlib(L, functions);
  return 1;
}
