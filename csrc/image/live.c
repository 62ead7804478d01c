/* SPDX-License-Identifier: MIT */
/* What is alive in a state, and what holds device memory. */
#include "image.h"

typedef struct {
  const clc_Dtype *dtype;
  clc_Shape shape;
  size_t allocated;
  int view;
} Holder;

static int is_holder(const clc_Handle *h) {
  if (h->released) return 0;
  if (h->type == &clc_buffertype) return ((const clc_Buffer *)h)->mem != NULL;
  return h->type == &clc_imagetype && ((const clc_Image *)h)->allocated > 0;
}

static Holder describe(const clc_Handle *h) {
  if (h->type == &clc_imagetype) {
    const clc_Image *im = (const clc_Image *)h;
    return (Holder){im->format.dtype, im->shape, im->allocated, 0};
  }
  const clc_Buffer *b = (const clc_Buffer *)h;
  return (Holder){b->dtype, b->shape, b->allocated, b->sharer != b};
}

/* Copies what is needed first: making tables may collect, and change the list. */
static Holder *push_holders(lua_State *L, size_t *n) {
  size_t room = 0;
  for (clc_Handle *h = clc_nexthandle(L, NULL); h != NULL; h = clc_nexthandle(L, h))
    room += (size_t)is_holder(h);
  Holder *holders = lua_newuserdatauv(L, (room + 1) * sizeof *holders, 0);
  *n = 0;
  for (clc_Handle *h = clc_nexthandle(L, NULL); h != NULL && *n < room; h = clc_nexthandle(L, h))
    if (is_holder(h)) holders[(*n)++] = describe(h);
  return holders;
}

static void push_holder(lua_State *L, const Holder *h) {
  lua_createtable(L, 0, 4);
  lua_pushstring(L, h->dtype->name);
  lua_setfield(L, -2, "dtype");
  clc_pushshape(L, &h->shape);
  lua_setfield(L, -2, "shape");
  lua_pushinteger(L, (lua_Integer)h->allocated);
  lua_setfield(L, -2, "bytes");
  lua_pushboolean(L, h->view);
  lua_setfield(L, -2, "shared");
}

/* Adds to the field of the table at the top. */
static void count(lua_State *L, const char *key, lua_Integer n) {
  lua_getfield(L, -1, key);
  lua_pushinteger(L, lua_tointeger(L, -1) + n);
  lua_setfield(L, -3, key);
  lua_pop(L, 1);
}

/* A further queue of a device is a Device too, but what a user looks for is the queue. */
static const char *kind(const clc_Handle *h) {
  const clc_Device *d = (const clc_Device *)h;
  return h->type == &clc_devicetype && d->is_further ? "queue" : h->type->name;
}

/* Objects that own something in OpenCL, by kind. Counting makes no garbage that
   could change the list: the keys are there, integers are values. */
static void count_objects(lua_State *L) {
  static const char *const keys[] = {"device",  "queue",  "buffer", "image",   "sampler",
                                     "program", "kernel", "event",  "sequence"};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) count(L, keys[i], 0);
  for (clc_Handle *h = clc_nexthandle(L, NULL); h != NULL; h = clc_nexthandle(L, h))
    if (!h->released && h->type != &clc_contexttype) count(L, kind(h), 1);
}

static int clc_live(lua_State *L) {
  size_t n;
  lua_Integer bytes = 0, pooled = 0;
  const Holder *holders = push_holders(L, &n);
  lua_createtable(L, (int)n, 11);
  for (size_t i = 0; i < n; i++) {
    push_holder(L, &holders[i]);
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
  return 1;
}

void clc_openlive(lua_State *L) {
  static const clc_Function functions[] = {{"live", clc_live, 0}, {NULL, NULL, 0}};
  clc_setfunctions(L, functions);
}
