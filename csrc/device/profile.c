/* SPDX-License-Identifier: MIT */
/* Profile: what the commands of a state took, by kernel and kind of transfer. */
#include "profile.h"

#include "base/base.h"

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
  clc_pushdevicetext(L, c->place.device, CL_DEVICE_NAME);
  lua_setfield(L, -2, "device");
  lua_pushfstring(L, "%d:%d", c->place.p, c->place.d);
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
    if (!p->on) return 0;
    forget_commands(L);
    clc_resetcounters(p);
    return 0;
  }
  if (clc_isforked()) clc_checkfork(L); /* rows ask the driver for names */
  clc_settleall(L, NULL);
  push_rows(L);
  return 1;
}

void clc_openprofile(lua_State *L) {
  static const luaL_Reg functions[] = {{"read_profile", read_profile}, {NULL, NULL}};
  luaL_setfuncs(L, functions, 0);
}
