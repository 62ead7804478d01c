/* SPDX-License-Identifier: MIT */
/* Profile: what the commands of a state took, by kernel and kind of transfer. */
#include "device.h"

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

/* A sub-device may be gone, and another one have its id. */
static int is_same(const clc_Place *a, const clc_Place *b) {
  return a->whole == b->whole && strcmp(a->part, b->part) == 0;
}

static clc_Counter *search(const clc_Profile *p, const clc_Place *place, clc_Kind kind,
                           const char *name) {
  clc_Counter *c = p->counters;
  while (c != NULL && (c->kind != kind || !is_same(&c->place, place) || strcmp(c->name, name) != 0))
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

static void reset_counters(clc_Profile *p) {
  for (clc_Counter *c = p->counters; c != NULL; c = c->next)
    c->calls = c->total = c->min = c->max = c->bytes = 0;
}

/* --- starting ---------------------------------------------------------- */

/* What was queued before belongs to no new profile. */
static void forget_commands(lua_State *L) {
  for (clc_Handle *h = clc_nexthandle(L, NULL); h != NULL; h = clc_nexthandle(L, h))
    if (h->type == &clc_devicetype) clc_uncount(&((clc_Device *)h)->flight);
}

/* --- rows -------------------------------------------------------------- */

static void set_integer(lua_State *L, const char *key, cl_ulong n) {
  lua_pushinteger(L, (lua_Integer)n);
  lua_setfield(L, -2, key);
}

static void set_seconds(lua_State *L, const char *key, cl_ulong ns) {
  lua_pushnumber(L, (lua_Number)ns * 1e-9);
  lua_setfield(L, -2, key);
}

static void push_row(lua_State *L, const clc_Counter *c) {
  lua_createtable(L, 0, 11); /* and mean and share */
  lua_pushstring(L, c->name);
  lua_setfield(L, -2, "name");
  lua_pushstring(L, clc_kindname(c->kind));
  lua_setfield(L, -2, "kind");
  clc_pushdevicetext(L, c->place.whole, CL_DEVICE_NAME);
  lua_setfield(L, -2, "device");
  clc_pushplacename(L, &c->place);
  lua_setfield(L, -2, "place");
  set_integer(L, "calls", c->calls);
  set_seconds(L, "total", c->total);
  set_seconds(L, "min", c->min);
  set_seconds(L, "max", c->max);
  if (c->kind != CLC_BUILD) set_integer(L, "bytes", c->bytes);
}

static void push_rows(lua_State *L) {
  lua_Integer n = 0;
  lua_newtable(L);
  lua_pushboolean(L, clc_getprofile(L)->on);
  lua_setfield(L, -2, "on");
  for (const clc_Counter *c = clc_getprofile(L)->counters; c != NULL; c = c->next)
    if (c->calls > 0) {
      push_row(L, c);
      lua_rawseti(L, -2, ++n);
    }
}

/* Internal: read_profile(true) clears and starts, read_profile(false) stops, read_profile() waits
   for all queues and returns rows in no order; the Lua side makes cl.profile of it. */
static int read_profile(lua_State *L) {
  if (lua_isboolean(L, 1)) {
    clc_Profile *p = clc_getprofile(L);
    p->on = lua_toboolean(L, 1);
    if (p->on) forget_commands(L);
    if (p->on) reset_counters(p);
    if (!clc_isforked()) clc_settimings(L);
    return 0;
  }
  if (clc_isforked()) clc_checkfork(L); /* rows ask the driver for names */
  clc_settleall(L, NULL);
  push_rows(L);
  return 1;
}

void clc_openprofile(lua_State *L) {
  static const luaL_Reg functions[] = {{"read_profile", read_profile}, {NULL, NULL}};
  clc_Profile *p = lua_newuserdatauv(L, sizeof *p, 0);
  *p = (clc_Profile){0, NULL};
  lua_rawsetp(L, LUA_REGISTRYINDEX, &profile_key);
  lua_newtable(L);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &counters_key);
  clc_addinternal(L, functions);
}
