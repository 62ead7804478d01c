/* SPDX-License-Identifier: MIT */
/* Counters: what a kind of command took, for cl.profile. */
#include "counter.h"

#include <string.h>

static const char profile_key = 0;  /* registry: clc_Profile */
static const char counters_key = 0; /* registry: list of all counters, which keeps them */

const char *clc_kindname(clc_Kind kind) {
  static const char *const names[] = {"write", "read", "copy", "fill", "kernel", "build"};
  return names[kind];
}

clc_Profile *clc_getprofile(lua_State *L) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &profile_key);
  clc_Profile *p = lua_touserdata(L, -1);
  lua_pop(L, 1);
  return p;
}

static clc_Counter *search(const clc_Profile *p, const clc_Place *place, clc_Kind kind,
                           const char *name) {
  clc_Counter *c = p->counters;
  while (c != NULL &&
         (c->kind != kind || c->place.device != place->device || strcmp(c->name, name) != 0))
    c = c->next;
  return c;
}

/* Pushes nothing: the list in the registry keeps it. */
static clc_Counter *new_counter(lua_State *L, const clc_Place *place, clc_Kind kind,
                                const char *name) {
  const size_t size = sizeof(clc_Counter) + strlen(name) + 1;
  lua_rawgetp(L, LUA_REGISTRYINDEX, &counters_key);
  clc_Counter *c = memset(lua_newuserdatauv(L, size, 0), 0, size);
  c->place = *place;
  c->kind = kind;
  strcpy(c->name, name);
  lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
  lua_pop(L, 1);
  return c;
}

clc_Counter *clc_findcounter(lua_State *L, const clc_Place *place, clc_Kind kind,
                             const char *name) {
  clc_Profile *p = clc_getprofile(L);
  clc_Counter *c = search(p, place, kind, name);
  if (c != NULL) return c;
  clc_Counter *made = new_counter(L, place, kind, name);
  if ((c = search(p, place, kind, name)) != NULL) return c; /* by a finalizer */
  made->next = p->counters;
  return p->counters = made;
}

int clc_addelapsed(cl_event event, cl_ulong *ns) {
  cl_ulong start, end;
  if (clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL) !=
          CL_SUCCESS ||
      clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL) !=
          CL_SUCCESS)
    return 0;
  if (end > start) *ns += end - start;
  return 1;
}

void clc_addcall(clc_Counter *c, cl_ulong ns, cl_ulong bytes) {
  if (c->calls++ == 0 || ns < c->min) c->min = ns;
  if (ns > c->max) c->max = ns;
  c->total += ns;
  c->bytes += bytes;
}

void clc_countended(clc_Counter *c, cl_event event, cl_ulong bytes) {
  cl_ulong ns = 0;
  if (c == NULL) return;
  if (clc_addelapsed(event, &ns)) clc_addcall(c, ns, bytes);
  clReleaseEvent(event);
}

void clc_resetcounters(clc_Profile *p) {
  for (clc_Counter *c = p->counters; c != NULL; c = c->next)
    c->calls = c->total = c->min = c->max = c->bytes = 0;
}

void clc_opencounters(lua_State *L) {
  clc_Profile *p = lua_newuserdatauv(L, sizeof *p, 0);
  *p = (clc_Profile){0, NULL};
  lua_rawsetp(L, LUA_REGISTRYINDEX, &profile_key);
  lua_newtable(L);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &counters_key);
}
