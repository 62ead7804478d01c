/* SPDX-License-Identifier: MIT */
/*
 * A Lua interpreter whose allocations fail when a script says so:
 *
 *     lua-faults script [arguments]
 *
 * A failure is one of Lua's own: the request returns NULL; shrinking never fails. The script has
 * the functions of the global table `memory`.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

/* What an allocator knows. */
typedef struct {
  long nth, times; /* requests up to the first that fails, 0: none does; how many do, 0: all */
  long seen, hits; /* requests, and failures of them, since it was told */
  long blocks;     /* allocated */
} Plan;

static int must_fail(Plan *p) {
  if (p->nth == 0 || ++p->seen < p->nth || (p->times > 0 && p->hits == p->times)) return 0;
  p->hits++;
  return 1;
}

static void *allocate(void *ud, void *block, size_t old, size_t size) {
  Plan *p = ud;
  if (size == 0) {
    p->blocks -= block != NULL;
    if (block != NULL) memset(block, 0x55, old); /* what is used after this shows */
    free(block);
    return NULL;
  }
  if ((block == NULL || size > old) && must_fail(p)) return NULL;
  void *moved = realloc(block, size);
  p->blocks += block == NULL && moved != NULL;
  return moved;
}

static Plan *plan_of(lua_State *L) {
  void *ud;
  lua_getallocf(L, &ud);
  return ud;
}

/*
 * memory.try(nth, times, f, ...) --> hits, whether f returned, its result or the error
 * Calls f while requests for memory fail: the nth, and `times` in all (0: all from then on); then
 * collects all garbage with the failures going on.
 */
static int memory_try(lua_State *L) {
  Plan *p = plan_of(L);
  const long nth = (long)luaL_checkinteger(L, 1), times = (long)luaL_checkinteger(L, 2);
  luaL_checktype(L, 3, LUA_TFUNCTION);
  luaL_checkstack(L, 5, NULL);
  p->seen = p->hits = 0;
  p->times = times;
  p->nth = nth;
  const int status = lua_pcall(L, lua_gettop(L) - 3, 1, 0);
  lua_gc(L, LUA_GCCOLLECT);
  p->nth = 0;
  lua_pushinteger(L, p->hits);
  lua_pushboolean(L, status == LUA_OK);
  lua_rotate(L, -3, 2);
  return 3;
}

static void open_memory(lua_State *L);

/* Arguments: a script and its argument. */
static int run_script(lua_State *L) {
  const char *script = lua_touserdata(L, 1), *argument = lua_touserdata(L, 2);
  luaL_openlibs(L);
  open_memory(L);
  if (luaL_loadfile(L, script) != LUA_OK) return lua_error(L);
  lua_pushstring(L, argument);
  lua_call(L, 1, 0);
  return 0;
}

/*
 * memory.state(nth, times, script, argument) --> hits, whether the script returned, its error,
 * blocks left. The whole life of another state, to the end of which the failures go on.
 */
static int memory_state(lua_State *L) {
  Plan plan = {(long)luaL_checkinteger(L, 1), (long)luaL_checkinteger(L, 2), 0, 0, 0};
  const char *script = luaL_checkstring(L, 3), *argument = luaL_checkstring(L, 4);
  char message[1000] = "";
  int ok = 0;
  lua_State *other = lua_newstate(allocate, &plan);
  if (other != NULL) {
    lua_pushcfunction(other, run_script);
    lua_pushlightuserdata(other, (void *)script);
    lua_pushlightuserdata(other, (void *)argument);
    ok = lua_pcall(other, 2, 0, 0) == LUA_OK;
    if (!ok && lua_type(other, -1) == LUA_TSTRING)
      snprintf(message, sizeof message, "%s", lua_tostring(other, -1));
    lua_close(other);
  }
  lua_pushinteger(L, plan.hits);
  lua_pushboolean(L, ok);
  lua_pushstring(L, other != NULL ? message : "not enough memory");
  lua_pushinteger(L, plan.blocks);
  return 4;
}

static void open_memory(lua_State *L) {
  static const luaL_Reg functions[] = {{"try", memory_try}, {"state", memory_state}, {NULL, NULL}};
  luaL_newlib(L, functions);
  lua_setglobal(L, "memory");
}

static int add_traceback(lua_State *L) {
  luaL_traceback(L, L, luaL_tolstring(L, 1, NULL), 1);
  return 1;
}

/* Arguments: argc and argv. */
static int run(lua_State *L) {
  const int argc = (int)lua_tointeger(L, 1);
  char **argv = lua_touserdata(L, 2);
  luaL_openlibs(L);
  open_memory(L);
  lua_pushcfunction(L, add_traceback);
  if (luaL_loadfile(L, argv[1]) != LUA_OK) return lua_error(L);
  luaL_checkstack(L, argc, NULL);
  for (int i = 2; i < argc; i++) lua_pushstring(L, argv[i]);
  if (lua_pcall(L, argc - 2, 0, 3) != LUA_OK) return lua_error(L);
  return 0;
}

int main(int argc, char **argv) {
  Plan plan = {0, 0, 0, 0, 0};
  if (argc < 2) {
    fputs("usage: lua-faults script [arguments]\n", stderr);
    return EXIT_FAILURE;
  }
  lua_State *L = lua_newstate(allocate, &plan);
  if (L == NULL) return EXIT_FAILURE;
  lua_pushcfunction(L, run);
  lua_pushinteger(L, argc);
  lua_pushlightuserdata(L, argv);
  const int ok = lua_pcall(L, 2, 0, 0) == LUA_OK;
  if (!ok) fprintf(stderr, "lua-faults: %s\n", lua_tostring(L, -1));
  lua_close(L);
  return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
