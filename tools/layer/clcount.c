/* SPDX-License-Identifier: MIT */
/*
** require "clcount": asks the counting layer that OPENCL_LAYERS has put into
** this process. The loader takes its layers in at the first OpenCL call, so
** each function looks for it anew; without it they return nil and a message.
*/

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>
#include <lua.h>

#include "count.h"

/*
** The layer must come first in OPENCL_LAYERS: ocl-icd writes '\0' over the
** colons of the list when it reads it, so the rest may be out of sight.
** It stays in the process to the end, so the object outlives the dlclose.
*/
static const count_Api *find_api(lua_State *L) {
  const count_Api *api = NULL;
  const char *list = getenv("OPENCL_LAYERS");
  if (list == NULL) return NULL;
  void *layer = dlopen(lua_pushlstring(L, list, strcspn(list, ":")), RTLD_LAZY | RTLD_NOLOAD);
  if (layer != NULL) {
    api = dlsym(layer, "count_api");
    dlclose(layer);
  }
  lua_pop(L, 1);
  return api;
}

static int not_loaded(lua_State *L) {
  luaL_pushfail(L);
  lua_pushliteral(
      L, "the counting layer is not loaded: name it in OPENCL_LAYERS and make an OpenCL call");
  return 2;
}

/* clcount.live() --> { {type="cl_mem", call="clCreateBuffer", number=4, references=1}, ... },
 * oldest first */
static int clcount_live(lua_State *L) {
  const count_Api *api = find_api(L);
  if (api == NULL) return not_loaded(L);
  const size_t room = api->live(NULL, 0);
  count_Handle *handles = lua_newuserdatauv(L, (room + 1) * sizeof *handles, 0);
  size_t n = api->live(handles, room);
  if (n > room) /* another thread has made some since */
    n = room;
  lua_createtable(L, (int)n, 0);
  for (size_t i = 0; i < n; i++) {
    lua_createtable(L, 0, 4);
    lua_pushstring(L, handles[i].type);
    lua_setfield(L, -2, "type");
    lua_pushstring(L, handles[i].made.name);
    lua_setfield(L, -2, "call");
    lua_pushinteger(L, (lua_Integer)handles[i].made.number);
    lua_setfield(L, -2, "number");
    lua_pushinteger(L, (lua_Integer)handles[i].references);
    lua_setfield(L, -2, "references");
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  return 1;
}

/* clcount.bad() --> releases and retains, so far, of handles that were not alive */
static int clcount_bad(lua_State *L) {
  const count_Api *api = find_api(L);
  if (api == NULL) return not_loaded(L);
  lua_pushinteger(L, (lua_Integer)api->bad());
  return 1;
}

/* clcount.calls() --> OpenCL calls, so far */
static int clcount_calls(lua_State *L) {
  const count_Api *api = find_api(L);
  if (api == NULL) return not_loaded(L);
  lua_pushinteger(L, (lua_Integer)api->calls());
  return 1;
}

/*
 * clcount.fail(call, code [, nth=1 [, times=1]]): that call of OpenCL fails with that code, the nth
 * time from now and `times` in all. "any": every call but retains and releases counts. "command": a
 * program that asks for the status of a command that has ended is told the code. clcount.fail(): no
 * more. Replaces what was planned before.
 */
static int clcount_fail(lua_State *L) {
  const count_Api *api = find_api(L);
  if (api == NULL) return not_loaded(L);
  const char *call = luaL_optstring(L, 1, "");
  const lua_Integer code = luaL_optinteger(L, 2, -1), nth = luaL_optinteger(L, 3, 1);
  const lua_Integer times = luaL_optinteger(L, 4, *call != '\0');
  luaL_argcheck(L, code < 0, 2, "negative code expected");
  luaL_argcheck(L, nth > 0, 3, "number from 1 expected");
  luaL_argcheck(L, times >= 0, 4, "number from 0 expected");
  api->fail(call, (unsigned long)nth, (int)code, (unsigned long)times);
  return 0;
}

/* clcount.hits() --> {seen=, failed=, call=}: how many calls the latest plan was for, how many of
 * them failed, and the first of these (nil: none) */
static int clcount_hits(lua_State *L) {
  const count_Api *api = find_api(L);
  if (api == NULL) return not_loaded(L);
  const count_Hits hits = api->hits();
  lua_createtable(L, 0, 3);
  lua_pushinteger(L, (lua_Integer)hits.seen);
  lua_setfield(L, -2, "seen");
  lua_pushinteger(L, (lua_Integer)hits.failed);
  lua_setfield(L, -2, "failed");
  if (hits.call != NULL) {
    lua_pushstring(L, hits.call);
    lua_setfield(L, -2, "call");
  }
  return 1;
}

static const luaL_Reg functions[] = {{"live", clcount_live},   {"bad", clcount_bad},
                                     {"calls", clcount_calls}, {"fail", clcount_fail},
                                     {"hits", clcount_hits},   {NULL, NULL}};

__attribute__((visibility("default"))) int luaopen_clcount(lua_State *L) {
  luaL_newlib(L, functions);
  return 1;
}
