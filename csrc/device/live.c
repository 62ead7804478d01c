/* SPDX-License-Identifier: MIT */
/* What is alive in a state, and what holds device memory. */
#include "device.h"

/* Kinds of objects, and two sums. */
static const char *const shown[] = {"device",  "part",    "queue",  "buffer", "image",
                                    "sampler", "program", "kernel", "event",  "sequence",
                                    "bytes",   "pooled",  NULL};
enum { KINDS = sizeof shown / sizeof *shown - 3 };

static int tell(const clc_Handle *h, clc_Holding *holding) {
  return !h->released && h->type->tell != NULL && h->type->tell(h, holding);
}

/* Copies what is needed first: making tables may collect, and change the list. */
static clc_Holding *push_holdings(lua_State *L, size_t *n) {
  clc_Holding skipped;
  size_t room = 0;
  for (clc_Handle *h = clc_nexthandle(L, NULL); h != NULL; h = clc_nexthandle(L, h))
    room += (size_t)tell(h, &skipped);
  clc_Holding *holdings = lua_newuserdatauv(L, (room + 1) * sizeof *holdings, 0);
  *n = 0;
  for (clc_Handle *h = clc_nexthandle(L, NULL); h != NULL && *n < room; h = clc_nexthandle(L, h))
    *n += (size_t)tell(h, &holdings[*n]);
  return holdings;
}

static void push_holding(lua_State *L, const clc_Holding *h) {
  lua_createtable(L, 0, 4);
  lua_pushstring(L, h->dtype->name);
  lua_setfield(L, -2, "dtype");
  clc_pushshape(L, &h->shape);
  lua_setfield(L, -2, "shape");
  lua_pushinteger(L, (lua_Integer)h->bytes);
  lua_setfield(L, -2, "bytes");
  lua_pushboolean(L, h->is_shared);
  lua_setfield(L, -2, "shared");
}

/* Adds to the field of the table at the top. */
static void count(lua_State *L, const char *key, lua_Integer n) {
  lua_getfield(L, -1, key);
  lua_pushinteger(L, lua_tointeger(L, -1) + n);
  lua_setfield(L, -3, key);
  lua_pop(L, 1);
}

/* Further queues and parts of a device are Devices too, but they are what a user looks for. */
static const char *kind(const clc_Handle *h) {
  const clc_Device *d = (const clc_Device *)h;
  if (h->type != &clc_devicetype) return h->type->name;
  return d->is_further ? "queue" : clc_ispart(d) ? "part" : "device";
}

/* Objects that own something in OpenCL, by kind. Counting makes no garbage that
   could change the list: the keys are there, integers are values. */
static void count_objects(lua_State *L) {
  for (size_t i = 0; i < KINDS; i++) count(L, shown[i], 0);
  for (clc_Handle *h = clc_nexthandle(L, NULL); h != NULL; h = clc_nexthandle(L, h))
    if (!h->released && h->type != &clc_contexttype) count(L, kind(h), 1);
}

static int clc_live(lua_State *L) {
  size_t n;
  lua_Integer bytes = 0, pooled = 0;
  const clc_Holding *holdings = push_holdings(L, &n);
  lua_createtable(L, (int)n, 12);
  for (size_t i = 0; i < n; i++) {
    push_holding(L, &holdings[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  count_objects(L);
  for (clc_Handle *h = clc_nexthandle(L, NULL); h != NULL; h = clc_nexthandle(L, h))
    if (h->type == &clc_contexttype && !h->released) {
      bytes += (lua_Integer)((clc_Context *)h)->bytes;
      pooled += (lua_Integer)((clc_Context *)h)->pool.bytes;
    }
  lua_pushinteger(L, bytes);
  lua_setfield(L, -2, "bytes");
  lua_pushinteger(L, pooled);
  lua_setfield(L, -2, "pooled");
  clc_namerecord(L, "clcompute.Live", shown);
  return 1;
}

void clc_openlive(lua_State *L) {
  static const clc_Function functions[] = {{"live", clc_live, 0}, {NULL, NULL, 0}};
  clc_setfunctions(L, functions);
}
