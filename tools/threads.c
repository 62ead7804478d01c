/* SPDX-License-Identifier: MIT */
/*
 * Several threads, each of which opens a Lua state, runs a script in it and closes it again, time
 * after time: what the states share without knowing is for ThreadSanitizer to find (`make tsan`).
 *
 *     threads [-race] script threads times [arguments of the script]
 *
 * With -race the threads also count in a variable of all, which it must find.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#define MOST 64

static struct {
  const char *script;
  char **arguments;
  int times, races;
} task;

static int counter; /* of all threads, and of none with a lock */

/* Returns what went wrong, or NULL. */
static const char *run_state(char message[256]) {
  lua_State *L = luaL_newstate();
  int n = 0, status;
  if (L == NULL) return "no memory";
  luaL_openlibs(L);
  status = luaL_loadfile(L, task.script);
  for (; status == LUA_OK && task.arguments[n] != NULL; n++) lua_pushstring(L, task.arguments[n]);
  if (status == LUA_OK) status = lua_pcall(L, n, 0, 0);
  if (status != LUA_OK) snprintf(message, 256, "%s", lua_tostring(L, -1));
  lua_close(L);
  return status == LUA_OK ? NULL : message;
}

static void *run_states(void *failed) {
  char message[256];
  for (int i = 0; i < task.times; i++) {
    const char *wrong = run_state(message);
    if (task.races) counter++;
    if (wrong == NULL) continue;
    fprintf(stderr, "threads: %s\n", wrong);
    return failed;
  }
  return NULL;
}

int main(int argc, char **argv) {
  pthread_t threads[MOST];
  task.races = argc > 1 && strcmp(argv[1], "-race") == 0;
  argv += task.races;
  argc -= task.races;
  const int n = argc > 3 ? atoi(argv[2]) : 0;
  if (n < 1 || n > MOST) return EXIT_FAILURE;
  task.script = argv[1];
  task.times = atoi(argv[3]);
  task.arguments = argv + 4;
  int ok = 1;
  for (int i = 0; i < n; i++)
    if (pthread_create(&threads[i], NULL, run_states, &task) != 0) return EXIT_FAILURE;
  for (int i = 0; i < n; i++) {
    void *failed;
    ok = pthread_join(threads[i], &failed) == 0 && failed == NULL && ok;
  }
  return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
