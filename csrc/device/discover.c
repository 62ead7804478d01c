/* SPDX-License-Identifier: MIT */
/* Discovery: the platforms and devices of this machine, as functions of the module. */
#include "device.h"

#include <stdlib.h>
#include <string.h>

void clc_namedevices(lua_State *L) {
  clc_namelist(L, "clcompute.Devices", "no device");
}

/* A number would be taken for part of a name. */
static const char *opt_selector(lua_State *L) {
  if (lua_isnoneornil(L, 1)) return NULL;
  luaL_checktype(L, 1, LUA_TSTRING);
  luaL_argcheck(L, lua_rawlen(L, 1) > 0, 1, "empty selector");
  luaL_argcheck(L, strlen(lua_tostring(L, 1)) == lua_rawlen(L, 1), 1, "a NUL byte in the selector");
  return lua_tostring(L, 1);
}

static int clc_devices(lua_State *L) {
  const char *selector = opt_selector(L);
  size_t n;
  clc_Mute mute;
  lua_settop(L, 1);
  const clc_Place *places = clc_pushplaces(L, -1, &n, &mute);
  lua_newtable(L);
  for (size_t i = 0; i < n; i++)
    if (clc_selects(L, &places[i], selector)) {
      clc_pushplace(L, places[i], &clc_localexecutor);
      lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
    }
  if (lua_rawlen(L, -1) == 0 && mute.code != CL_SUCCESS) clc_raisemute(L, &mute);
  clc_namedevices(L);
  return 1;
}

static const char *env_selector(void) {
  const char *selector = getenv("CLCOMPUTE_DEVICE");
  return selector != NULL && *selector != '\0' ? selector : NULL;
}

/* 0: none is given. */
static double opt_limit(lua_State *L, const char *name, int isolated) {
  const int given = clc_pushoption(L, 2, name) != LUA_TNIL;
  lua_pop(L, 1);
  const double limit = clc_numberoption(L, 2, name, 0);
  if (given && !isolated) clc_optionerror(L, 2, name, "only isolated devices have one");
  if (given && !(limit > 0)) clc_optionerror(L, 2, name, "seconds above 0 expected");
  return limit;
}

static int clc_device(lua_State *L) {
  static const char *const keys[] = {"build_limit", "careful", "check", "isolated",
                                     "limit",       "timing",  NULL};
  if (lua_istable(L, 1)) clc_argerror(L, 1, "options come second: cl.device(nil, {...})");
  const char *selector = opt_selector(L);
  clc_checkoptions(L, 2, keys);
  const int check = clc_booleanoption(L, 2, "check", -1);
  const int careful = clc_booleanoption(L, 2, "careful", -1);
  const int isolated = clc_booleanoption(L, 2, "isolated", 0);
  const int timing = clc_booleanoption(L, 2, "timing", -1);
  const clc_TimeLimits limits = {opt_limit(L, "build_limit", isolated),
                                 opt_limit(L, "limit", isolated)};
  const clc_Place place = selector != NULL
                              ? clc_bestplace(L, selector, "")
                              : clc_bestplace(L, env_selector(), " (from $CLCOMPUTE_DEVICE)");
  if (isolated)
    clc_pushisolated(L, place, limits);
  else
    clc_pushplace(L, place, &clc_localexecutor);
  clc_Device *d = clc_checkdevice(L, -1);
  clc_Context *c = d->context;
  if (check >= 0) c->checks = check;
  if (careful >= 0) c->careful = careful;
  if (timing >= 0) clc_settiming(L, d, timing);
  return 1;
}

static int clc_platforms(lua_State *L) {
  static const struct {
    const char *name;
    cl_platform_info what;
  } fields[] = {
      {"name", CL_PLATFORM_NAME}, {"vendor", CL_PLATFORM_VENDOR}, {"version", CL_PLATFORM_VERSION}};
  static const char *const shown[] = {"name", "vendor", "version", "devices", "fault", NULL};
  cl_uint n;
  const cl_platform_id *ids = clc_pushplatforms(L, &n);
  lua_createtable(L, (int)n, 0);
  for (cl_uint p = 0; p < n; p++) {
    size_t count;
    clc_Mute mute;
    lua_createtable(L, 0, 4);
    for (size_t f = 0; f < sizeof fields / sizeof *fields; f++) {
      clc_pushplatformtext(L, ids[p], fields[f].what);
      lua_setfield(L, -2, fields[f].name);
    }
    const clc_Place *places = clc_pushplaces(L, (int)p, &count, &mute);
    lua_createtable(L, (int)count, 0);
    for (size_t d = 0; d < count; d++) {
      clc_pushplace(L, places[d], &clc_localexecutor);
      lua_rawseti(L, -2, (lua_Integer)d + 1);
    }
    clc_namedevices(L);
    lua_setfield(L, -3, "devices");
    lua_pop(L, 1);
    if (mute.code != CL_SUCCESS) {
      lua_pushfstring(L, "clGetDeviceIDs: %s (%d)", clc_codename(mute.code), (int)mute.code);
      lua_setfield(L, -2, "fault");
    }
    clc_namerecord(L, "clcompute.Platform", shown);
    lua_rawseti(L, -2, (lua_Integer)p + 1);
  }
  clc_namelist(L, "clcompute.Platforms", "no platform");
  return 1;
}

static int clc_clock(lua_State *L) {
  lua_pushnumber(L, clc_now());
  return 1;
}

void clc_opendiscovery(lua_State *L) {
  static const clc_Function functions[] = {{"devices", clc_devices, 1},
                                           {"device", clc_device, 2},
                                           {"platforms", clc_platforms, 0},
                                           {"clock", clc_clock, 0},
                                           {NULL, NULL, 0}};
  clc_setfunctions(L, functions);
}
