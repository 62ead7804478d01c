/* SPDX-License-Identifier: MIT */
/*
 * A small Lua interpreter to build with sanitizers (`make asan`), since one in the
 * environment's LD_PRELOAD would reach the programs that a driver starts.
 *
 *     lua-asan [-i] [-W] [-e code] [script [arguments]]
 *
 * As lua does: LUA_INIT_5_4, tracebacks, Ctrl-C, warnings, the script from stdin if there is none.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#define EXPORT __attribute__((visibility("default")))

static lua_State *state;

/*
 * Here, as workers have no such variable of the environment. Faults stay with the system, whose
 * signals messages name. A thread has no stack for signals: it would free the one that a driver's
 * compiler, begun in it, has put in its place.
 */
EXPORT const char *__asan_default_options(void);
const char *__asan_default_options(void) {
  return "handle_segv=0:use_sigaltstack=0";
}

/* Stands before the C library's: nothing is unloaded, so that what a library leaks bears its name.
 */
EXPORT int dlclose(void *library);
int dlclose(void *library) {
  (void)library;
  return 0;
}

static void raise_interrupted(lua_State *L, lua_Debug *ar) {
  (void)ar;
  lua_sethook(L, NULL, 0, 0);
  luaL_error(L, "interrupted!");
}

static void interrupt(int number) {
  signal(number, SIG_DFL);
  lua_sethook(state, raise_interrupted, LUA_MASKCALL | LUA_MASKRET | LUA_MASKLINE | LUA_MASKCOUNT,
              1);
}

static int add_traceback(lua_State *L) {
  luaL_traceback(L, L, luaL_tolstring(L, 1, NULL), 1);
  return 1;
}

/* Calls the function below n arguments, if the status of its loading was LUA_OK. */
static int call(lua_State *L, int status, int n) {
  if (status == LUA_OK) {
    int function = lua_gettop(L) - n;
    lua_pushcfunction(L, add_traceback);
    lua_insert(L, function);
    signal(SIGINT, interrupt);
    status = lua_pcall(L, n, 0, function);
    signal(SIGINT, SIG_DFL);
    lua_remove(L, function);
  }
  if (status == LUA_OK) return 1;
  fflush(stdout);
  fprintf(stderr, "lua-asan: %s\n", lua_tostring(L, -1));
  lua_pop(L, 1);
  return 0;
}

static int run_text(lua_State *L, const char *text, const char *name) {
  return call(L, luaL_loadbuffer(L, text, strlen(text), name), 0);
}

static int run_init(lua_State *L) {
  const char *init = getenv("LUA_INIT_5_4");
  return init == NULL || run_text(L, init, "=LUA_INIT_5_4");
}

/* Lines of stdin, each a chunk, for better or worse. */
static void converse(lua_State *L) {
  char line[4096];
  while (fputs("> ", stdout), fflush(stdout), fgets(line, sizeof line, stdin) != NULL)
    run_text(L, line, "=stdin");
}

static int run_script(lua_State *L, int n, char **arguments) {
  int status = luaL_loadfile(L, n > 0 ? arguments[0] : NULL);
  if (status != LUA_OK) return call(L, status, 0);
  luaL_checkstack(L, n, "too many arguments");
  for (int i = 1; i < n; i++) lua_pushstring(L, arguments[i]);
  return call(L, status, n > 0 ? n - 1 : 0);
}

static void set_arg(lua_State *L, int argc, char **argv, int first) {
  const int script = first < argc ? first : 0; /* as lua counts where there is none */
  lua_createtable(L, argc, script + 1);
  for (int i = 0; i < argc; i++) {
    lua_pushstring(L, argv[i]);
    lua_rawseti(L, -2, i - script);
  }
  lua_setglobal(L, "arg");
}

static int run(lua_State *L) {
  int argc = (int)lua_tointeger(L, 1), first = 1, interactive = 0, code = 0;
  char **argv = lua_touserdata(L, 2);
  luaL_openlibs(L);
  for (; first < argc && argv[first][0] == '-'; first++) {
    if (strcmp(argv[first], "-i") == 0)
      interactive = 1;
    else if (strcmp(argv[first], "-W") == 0)
      lua_warning(L, "@on", 0);
    else if (strcmp(argv[first], "-e") == 0 && first + 1 < argc)
      code = ++first;
    else
      return luaL_error(L, "unknown option '%s'", argv[first]);
  }
  set_arg(L, argc, argv, first);
  int ok = run_init(L) && (code == 0 || run_text(L, argv[code], "=(command line)"));
  if (ok && (first < argc || (code == 0 && !interactive)))
    ok = run_script(L, argc - first, argv + first);
  if (interactive) converse(L);
  lua_pushboolean(L, ok);
  return 1;
}

int main(int argc, char **argv) {
  lua_State *L = state = luaL_newstate();
  if (L == NULL) return EXIT_FAILURE;
  lua_pushcfunction(L, run);
  lua_pushinteger(L, argc);
  lua_pushlightuserdata(L, argv);
  int status = lua_pcall(L, 2, 1, 0);
  if (status != LUA_OK) fprintf(stderr, "lua-asan: %s\n", lua_tostring(L, -1));
  int ok = status == LUA_OK && lua_toboolean(L, -1);
  lua_close(L);
  return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
