/* SPDX-License-Identifier: MIT */
/*
 * Calls functions of shared objects that were compiled on this machine. A module for the
 * library's own reports: it cannot know what is called. The function is void name(const long
 * *sizes, const double *numbers, void *const *arrays) and operands and results are strings of
 * packed elements, as in clcompute.sequential.
 */
#include <dlfcn.h>
#include <lauxlib.h>
#include <lua.h>
#include <stdint.h>
#include <string.h>

#include "base/base.h"

__attribute__((visibility("default"))) int luaopen_clcompute_native(lua_State *L);

typedef void Function(const long *sizes, const double *numbers, void *const *arrays);

enum { LINE = 64 }; /* bytes of a cache line, on which arrays start */

/* It stays open: threads of OpenMP outlive the call. */
static Function *check_function(lua_State *L) {
  const char *path = luaL_checkstring(L, 1), *name = luaL_checkstring(L, 2);
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == NULL) luaL_error(L, "%s", dlerror());
  void *address = dlsym(library, name);
  if (address == NULL) {
    dlclose(library);
    luaL_error(L, "%s has no function %s", path, name);
  }
  Function *function;
  memcpy(&function, &address, sizeof function);
  return function;
}

static lua_Unsigned check_list(lua_State *L, int arg) {
  luaL_checktype(L, arg, LUA_TTABLE);
  return lua_rawlen(L, arg);
}

static long *push_sizes(lua_State *L, int arg) {
  const lua_Unsigned count = check_list(L, arg);
  long *sizes = lua_newuserdatauv(L, (count + 1) * sizeof *sizes, 0);
  for (lua_Unsigned i = 0; i < count; i++) {
    int is_integer;
    lua_rawgeti(L, arg, (lua_Integer)i + 1);
    sizes[i] = (long)lua_tointegerx(L, -1, &is_integer);
    luaL_argcheck(L, is_integer, arg, "list of integers expected");
    lua_pop(L, 1);
  }
  return sizes;
}

static double *push_numbers(lua_State *L, int arg) {
  const lua_Unsigned count = check_list(L, arg);
  double *numbers = lua_newuserdatauv(L, (count + 1) * sizeof *numbers, 0);
  for (lua_Unsigned i = 0; i < count; i++) {
    int is_number;
    lua_rawgeti(L, arg, (lua_Integer)i + 1);
    numbers[i] = lua_tonumberx(L, -1, &is_number);
    luaL_argcheck(L, is_number, arg, "list of numbers expected");
    lua_pop(L, 1);
  }
  return numbers;
}

/* A copy of the string on the top of the stack, which it replaces: memory that the collector
   frees. */
static void *to_array(lua_State *L) {
  const size_t bytes = lua_rawlen(L, -1);
  char *memory = lua_newuserdatauv(L, bytes + LINE, 0);
  memory += LINE - (uintptr_t)memory % LINE;
  memcpy(memory, lua_tostring(L, -2), bytes);
  lua_remove(L, -2);
  return memory;
}

/* Copies of a list of strings; pushes the pointers to them, and a table that keeps them alive. */
static void **push_arrays(lua_State *L, int arg) {
  const lua_Unsigned count = check_list(L, arg);
  void **arrays = lua_newuserdatauv(L, (count + 1) * sizeof *arrays, 0);
  lua_createtable(L, (int)count, 0);
  for (lua_Unsigned i = 0; i < count; i++) {
    const int type = lua_rawgeti(L, arg, (lua_Integer)i + 1);
    luaL_argcheck(L, type == LUA_TSTRING, arg, "list of strings expected");
    arrays[i] = to_array(L);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  return arrays;
}

/* native.call(path, name, sizes, numbers, arrays) --> a list of the arrays after it, seconds. */
static int native_call(lua_State *L) {
  Function *function = check_function(L);
  lua_settop(L, 5);
  const long *sizes = push_sizes(L, 3);
  const double *numbers = push_numbers(L, 4);
  void *const *arrays = push_arrays(L, 5);
  const double start = clc_now();
  function(sizes, numbers, arrays);
  const double seconds = clc_now() - start;
  const lua_Unsigned count = lua_rawlen(L, 5);
  lua_createtable(L, (int)count, 0);
  for (lua_Unsigned i = 0; i < count; i++) {
    lua_rawgeti(L, 5, (lua_Integer)i + 1);
    lua_pushlstring(L, (const char *)arrays[i], lua_rawlen(L, -1));
    lua_remove(L, -2);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_pushnumber(L, seconds);
  return 2;
}

int luaopen_clcompute_native(lua_State *L) {
  static const luaL_Reg functions[] = {{"call", native_call}, {NULL, NULL}};
  luaL_newlib(L, functions);
  return 1;
}
