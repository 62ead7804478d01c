/* SPDX-License-Identifier: MIT */
/* Parts: a device divided into sub-devices, each a Device with a context of its own. */
#include "device.h"

#include <stdio.h>
#include <string.h>

typedef cl_device_partition_property Property;

/* The ways to divide, by the options that choose them. */
enum { COUNTS, DOMAIN, UNITS, NWAYS };
static const char *const ways[] = {"counts", "domain", "units", NULL};
static const Property kinds[NWAYS] = {CL_DEVICE_PARTITION_BY_COUNTS,
                                      CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN,
                                      CL_DEVICE_PARTITION_EQUALLY};

/* --- what the driver offers -------------------------------------------- */

/* Stores whether the driver divides the device in each way. */
static void find_ways(lua_State *L, const clc_Context *c, int offered[NWAYS]) {
  Property known[16] = {0};
  const cl_device_id id = c->place.device;
  memset(offered, 0, NWAYS * sizeof *offered);
  if (c->version < 102 || clc_optdevicenumber(L, id, CL_DEVICE_PARTITION_MAX_SUB_DEVICES, 0) == 0)
    return;
  clc_check(L, clGetDeviceInfo(id, CL_DEVICE_PARTITION_PROPERTIES, sizeof known, known, NULL),
            "clGetDeviceInfo");
  for (int way = 0; way < NWAYS; way++)
    for (int i = 0; i < 16; i++) offered[way] |= known[i] == kinds[way];
}

/* Pushes "counts, units", or "none". */
static const char *push_ways(lua_State *L, const int offered[NWAYS]) {
  const char *list = "none";
  for (int way = 0, n = 0; way < NWAYS; way++)
    if (offered[way]) list = n++ == 0 ? ways[way] : lua_pushfstring(L, "%s, %s", list, ways[way]);
  return lua_pushstring(L, list);
}

/* The one way that is asked for; raises unless the driver has it. */
static int check_way(lua_State *L, const clc_Context *c) {
  int offered[NWAYS], asked = NWAYS;
  for (int way = 0; way < NWAYS; way++) {
    const int is_given = clc_pushoption(L, 2, ways[way]) != LUA_TNIL;
    lua_pop(L, 1);
    if (is_given && asked != NWAYS) luaL_argerror(L, 2, "one option expected, got two");
    if (is_given) asked = way;
  }
  if (asked == NWAYS) luaL_argerror(L, 2, "option counts, domain or units expected");
  if (c->executor->is_isolated)
    luaL_error(L, "an isolated device has no parts; cl.device(\"%d:%d\", {isolated = false}) has",
               c->place.p, c->place.d);
  find_ways(L, c, offered);
  if (!offered[asked])
    luaL_error(L, "the driver does not divide %s by %s; it does by %s",
               clc_pushplacename(L, &c->place), ways[asked], push_ways(L, offered));
  return asked;
}

/* --- what is asked for --------------------------------------------------- */

static void check_units(lua_State *L, const clc_Context *c, int way, cl_ulong n) {
  if (n > c->compute_units)
    clc_optionerror(L, 2, ways[way], "%I compute units, the device has %I", (LUAI_UACINT)n,
                    (LUAI_UACINT)c->compute_units);
}

static void take_units(lua_State *L, const clc_Context *c, Property *list) {
  list[1] = (Property)clc_integeroption(L, 2, ways[UNITS], 1, 1);
  check_units(L, c, UNITS, (cl_ulong)list[1]);
}

/* The list at the top, of n counts; room is for what closes it too. */
static void take_counts(lua_State *L, const clc_Context *c, Property *list, lua_Integer n) {
  cl_ulong sum = 0;
  for (lua_Integer i = 1; i <= n; i++, lua_pop(L, 1)) {
    int is_integer;
    lua_rawgeti(L, 3, i);
    const lua_Integer count = lua_tointegerx(L, -1, &is_integer);
    if (!is_integer || lua_type(L, -1) != LUA_TNUMBER || count < 1)
      clc_optionerror(L, 2, ways[COUNTS], "[%I]: integer of at least 1 expected, got %s",
                      (LUAI_UACINT)i, luaL_tolstring(L, -1, NULL));
    check_units(L, c, COUNTS, (cl_ulong)count); /* so that the sum does not wrap */
    list[i] = (Property)count;
    sum += (cl_ulong)count;
  }
  check_units(L, c, COUNTS, sum);
}

static void take_domain(lua_State *L, const clc_Context *c, Property *list) {
  static const char *const names[] = {"numa", "l4", "l3", "l2", "l1", "next", NULL};
  const int domain = clc_enumoption(L, 2, ways[DOMAIN], names, 0);
  const cl_ulong known =
      clc_checkdevicenumber(L, c->place.device, CL_DEVICE_PARTITION_AFFINITY_DOMAIN);
  list[1] = (Property)1 << domain; /* the names stand in the order of the bits */
  if ((known & (cl_ulong)list[1]) == 0)
    clc_optionerror(L, 2, ways[DOMAIN], "the driver does not divide this device by '%s'",
                    names[domain]);
}

/* Pushes what clCreateSubDevices takes; zeros end it, and its list of counts. */
static const Property *push_properties(lua_State *L, const clc_Context *c) {
  const int way = check_way(L, c);
  lua_settop(L, 2);
  if (clc_pushoption(L, 2, ways[way]) != LUA_TTABLE && way == COUNTS)
    clc_optionerror(L, 2, ways[way], "list of compute units expected, got %s", luaL_typename(L, 3));
  const lua_Unsigned n = way == COUNTS ? lua_rawlen(L, 3) : 1;
  if (n == 0 || n > c->compute_units)
    clc_optionerror(L, 2, ways[way], "1 to %I parts expected, got %I",
                    (LUAI_UACINT)c->compute_units, (LUAI_UACINT)n);
  Property *list = lua_newuserdatauv(L, (n + 3) * sizeof *list, 0);
  memset(list, 0, (n + 3) * sizeof *list);
  list[0] = kinds[way];
  switch (way) {
    case COUNTS: take_counts(L, c, list, (lua_Integer)n); break;
    case DOMAIN: take_domain(L, c, list); break;
    default: take_units(L, c, list); break;
  }
  return list;
}

/* --- dividing ------------------------------------------------------------- */

/* Pushes a table of n contexts, and a block of pointers to them. */
static clc_Context **push_contexts(lua_State *L, clc_Context *parent, cl_uint n) {
  lua_createtable(L, (int)n, 0);
  clc_Context **contexts = lua_newuserdatauv(L, (n + 1) * sizeof *contexts, 0);
  for (cl_uint i = 0; i < n; i++) {
    contexts[i] = clc_newcontext(L, parent->executor, parent);
    lua_pushvalue(L, 1);
    clc_setvalue(L, -2, CLC_PARENTVALUE);
    lua_rawseti(L, -3, (lua_Integer)i + 1);
  }
  return contexts;
}

/* "part 1 of 2", behind what the divided device is itself a part of. */
static clc_Place place_of(const clc_Place *parent, cl_device_id id, cl_uint i, cl_uint n) {
  clc_Place place = *parent;
  const size_t used = strlen(place.part);
  place.device = id;
  place.serial = NULL;
  snprintf(place.part + used, sizeof place.part - used, "%spart %u of %u", used > 0 ? ", " : "",
           (unsigned)i + 1, (unsigned)n);
  return place;
}

/* Divides the device of `parent` into the n parts that the contexts are for. */
static void divide(lua_State *L, const clc_Context *parent, const Property *list,
                   clc_Context **contexts, cl_uint n) {
  cl_device_id *ids = lua_newuserdatauv(L, (n + 1) * sizeof *ids, 0);
  if (parent->h.released) luaL_error(L, "device is released"); /* by a finalizer */
  const cl_int code = clCreateSubDevices(parent->place.device, list, n, ids, NULL);
  if (code == CL_SUCCESS)
    for (cl_uint i = 0; i < n; i++) contexts[i]->place = place_of(&parent->place, ids[i], i, n);
  clc_check(L, code, "clCreateSubDevices");
}

static int device_partition(lua_State *L) {
  clc_Device *d = clc_checkdevice(L, 1);
  clc_Context *c = d->context;
  cl_uint n = 0;
  clc_checkfork(L);
  lua_settop(L, 2);
  luaL_checktype(L, 2, LUA_TTABLE);
  clc_checkoptions(L, 2, ways);
  const Property *list = push_properties(L, c);
  clc_check(L, clCreateSubDevices(c->place.device, list, 0, NULL, &n), "clCreateSubDevices");
  clc_Context **contexts = push_contexts(L, c, n);
  const int table = lua_gettop(L) - 1;
  divide(L, c, list, contexts, n);
  lua_createtable(L, (int)n, 0);
  for (cl_uint i = 0; i < n; i++) {
    lua_rawgeti(L, table, (lua_Integer)i + 1);
    clc_learnplace(L, clc_checkhandle(L, -1, &clc_contexttype));
    clc_newdevice(L, -1)->timing = d->timing;
    lua_rawseti(L, -3, (lua_Integer)i + 1);
    lua_pop(L, 1);
  }
  clc_namedevices(L);
  return 1;
}

void clc_openparts(lua_State *L) {
  static const clc_Function methods[] = {{"partition", device_partition, 1}, {NULL, NULL, 0}};
  clc_addmethods(L, &clc_devicetype, methods);
}
