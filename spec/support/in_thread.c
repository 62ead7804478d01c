/* SPDX-License-Identifier: MIT */
/* in_thread(f): calls f in a thread of its own and waits for the end of that. */
#include <pthread.h>

#include <lauxlib.h>

static void *call(void *L) {
  lua_call(L, 0, 0);
  return NULL;
}

static int in_thread(lua_State *L) {
  pthread_t thread;
  lua_settop(L, 1);
  if (pthread_create(&thread, NULL, call, L) != 0) return luaL_error(L, "no thread");
  pthread_join(thread, NULL);
  return 0;
}

int luaopen_in_thread(lua_State *L) {
  lua_pushcfunction(L, in_thread);
  return 1;
}
