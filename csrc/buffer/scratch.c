/* SPDX-License-Identifier: MIT */
/* Scratch: buffers in which operations keep what no script sees. */
#include "buffer.h"

#define SMALLEST 4096         /* bytes */
#define LARGEST (512ul << 20) /* bytes */

size_t clc_scratchlimit(const clc_Device *d, const clc_Dtype *dtype) {
  const clc_Context *c = d->context;
  size_t bytes = LARGEST;
  if (bytes > c->global_memory / 16) bytes = (size_t)(c->global_memory / 16);
  if (bytes > c->max_allocation) bytes = (size_t)c->max_allocation;
  return bytes / dtype->size;
}

/* Pushes the device's table of buffers by use. Memory that is short takes the table of all
   devices out of the registry (memory.c). */
static void push_buffers(lua_State *L, const clc_Device *d) {
  if (lua_getfield(L, LUA_REGISTRYINDEX, CLC_SCRATCH) == LUA_TNIL) {
    lua_pop(L, 1);
    clc_pushweak(L, "k");
    lua_pushvalue(L, -1);
    lua_setfield(L, LUA_REGISTRYINDEX, CLC_SCRATCH);
  }
  clc_pushdevice(L, d);
  lua_pushvalue(L, -1);
  if (lua_rawget(L, -3) == LUA_TNIL) {
    lua_pop(L, 1);
    lua_newtable(L);
    lua_pushvalue(L, -2);
    lua_pushvalue(L, -2);
    lua_rawset(L, -5);
  }
  lua_insert(L, -3);
  lua_pop(L, 2);
}

/* A power of two, so that growing needs do not make a new buffer each time. */
static size_t rounded(size_t bytes) {
  size_t size = SMALLEST;
  while (size < bytes) size *= 2;
  return size;
}

/* Pushes the buffer of a use, if it has n elements; else returns NULL and pushes the device's table
   of buffers and the key of the use, which has none now. */
static clc_Buffer *find_scratch(lua_State *L, clc_Device *d, const char *use,
                                const clc_Dtype *dtype, size_t n) {
  luaL_checkstack(L, 10, NULL);
  push_buffers(L, d);
  lua_pushfstring(L, "%s %s", use, dtype->name);
  lua_pushvalue(L, -1);
  lua_rawget(L, -3);
  clc_Buffer *b = clc_testhandle(L, -1, &clc_buffertype);
  if (b != NULL && b->count >= n) {
    lua_replace(L, -3);
    lua_pop(L, 1);
    return b;
  }
  lua_pop(L, 1);
  lua_pushvalue(L, -1);
  lua_pushnil(L); /* the one before need not stay while there are two */
  lua_rawset(L, -4);
  return NULL;
}

static clc_Buffer *make_scratch(lua_State *L, clc_Device *d, const clc_Dtype *dtype, size_t n) {
  const clc_Shape shape = {1, {rounded(n * dtype->size) / dtype->size}};
  return clc_newbuffer(L, d, dtype, &shape);
}

/* Keeps the buffer at the top under the key and in the table below it, which go. */
static void keep_scratch(lua_State *L) {
  lua_insert(L, -3);
  lua_pushvalue(L, -3);
  lua_rawset(L, -3);
  lua_pop(L, 1);
}

clc_Buffer *clc_pushscratch(lua_State *L, clc_Device *d, const char *use, const clc_Dtype *dtype,
                            size_t n) {
  clc_Buffer *b = find_scratch(L, d, use, dtype, n);
  if (b != NULL) return b;
  b = make_scratch(L, d, dtype, n);
  keep_scratch(L);
  return b;
}

clc_Buffer *clc_pushzeros(lua_State *L, clc_Device *d, const char *use, const clc_Dtype *dtype,
                          size_t n) {
  static const char zero[sizeof(cl_ulong)] = {0};
  const int is_recorded = clc_getrecording(d) != NULL;
  clc_Buffer *b = is_recorded ? NULL : find_scratch(L, d, use, dtype, n);
  if (b != NULL) return b;
  b = make_scratch(L, d, dtype, n);
  clc_fillbuffer(L, b, 0, b->count, zero);
  if (!is_recorded) keep_scratch(L); /* else it is zero only once the recording has run */
  return b;
}

clc_Buffer *clc_takescratch(lua_State *L, clc_Device *d, const char *use, const clc_Dtype *dtype,
                            size_t n) {
  const clc_Shape shape = {1, {n}};
  luaL_checkstack(L, 10, NULL);
  push_buffers(L, d);
  lua_getfield(L, -1, use);
  clc_Buffer *b = clc_testhandle(L, -1, &clc_buffertype);
  if (b == NULL || b->count != n || b->dtype != dtype) {
    lua_pop(L, 1);
    lua_pushnil(L);
    lua_setfield(L, -2, use);
    b = clc_newbuffer(L, d, dtype, &shape);
  } else {
    lua_pushnil(L);
    lua_setfield(L, -3, use);
  }
  lua_remove(L, -2);
  return b;
}

/* The buffer, use. */
static int keep(lua_State *L) {
  const clc_Buffer *b = clc_checkbuffer(L, 1);
  push_buffers(L, b->device);
  lua_pushvalue(L, 1);
  lua_setfield(L, -2, lua_tostring(L, 2));
  return 0;
}

void clc_givescratch(lua_State *L, const char *use) {
  clc_Buffer *b = clc_testhandle(L, -1, &clc_buffertype);
  const int is_held = b != NULL && b->sharer != b; /* a recording writes to it again */
  if (b != NULL && !is_held && b->count > 0 && b->count <= clc_scratchlimit(b->device, b->dtype)) {
    lua_pushcfunction(L, keep);
    lua_pushvalue(L, -2);
    lua_pushstring(L, use);
    const int status = lua_pcall(L, 2, 0, 0);
    if (status != LUA_OK) clc_release(&b->h);
    if (status == LUA_ERRMEM) lua_pop(L, 1); /* the operation has its result */
    if (status == LUA_ERRRUN) lua_error(L);  /* a hook's, as that of Ctrl-C */
  } else if (b != NULL) {
    clc_release(&b->h);
  }
  lua_pop(L, 1);
}
