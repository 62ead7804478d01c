/* SPDX-License-Identifier: MIT */
/* What builds cost: seconds of processor time by phase, noted for who asks to see them. */
#define _XOPEN_SOURCE 700
#include "build.h"

#include <sys/resource.h>

static const char noted_key =
    0; /* registry: a list of { name, phase, seconds }; nil: nobody asked */

static double seconds_of(int who) {
  struct rusage u;
  if (getrusage(who, &u) != 0) return 0;
  return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
         (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
}

double clc_processortime(void) {
  return seconds_of(RUSAGE_SELF) + seconds_of(RUSAGE_CHILDREN);
}

void clc_notecost(lua_State *L, const char *name, const char *phase, double start) {
  const double seconds = clc_processortime() - start;
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &noted_key) == LUA_TTABLE) {
    lua_createtable(L, 0, 3);
    lua_pushstring(L, name);
    lua_setfield(L, -2, "name");
    lua_pushstring(L, phase);
    lua_setfield(L, -2, "phase");
    lua_pushnumber(L, seconds);
    lua_setfield(L, -2, "seconds");
    lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
  }
  lua_pop(L, 1);
}

/* note_costs() --> the list, to which builds from now on are added */
static int note_costs(lua_State *L) {
  lua_newtable(L);
  lua_pushvalue(L, -1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &noted_key);
  return 1;
}

/* processor_time() --> seconds of this process and of children that ended; of these alone */
static int processor_time(lua_State *L) {
  lua_pushnumber(L, clc_processortime());
  lua_pushnumber(L, seconds_of(RUSAGE_CHILDREN));
  return 2;
}

void clc_opencosts(lua_State *L) {
  static const luaL_Reg functions[] = {
      {"note_costs", note_costs}, {"processor_time", processor_time}, {NULL, NULL}};
  clc_addinternal(L, functions);
}
