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

clc_Buffer *clc_pushscratch(lua_State *L, clc_Device *d, const char *use, const clc_Dtype *dtype,
                            size_t n) {
  luaL_checkstack(L, 10, NULL);
  push_buffers(L, d);
  const char *key = lua_pushfstring(L, "%s %s", use, dtype->name);
  lua_getfield(L, -2, key);
  clc_Buffer *b = clc_testhandle(L, -1, &clc_buffertype);
  if (b == NULL || b->count < n) {
    const clc_Shape shape = {1, {rounded(n * dtype->size) / dtype->size}};
    lua_pushnil(L); /* the one before need not stay while there are two */
    lua_setfield(L, -4, key);
    lua_pop(L, 1);
    b = clc_newbuffer(L, d, dtype, &shape);
    lua_pushvalue(L, -1);
    lua_setfield(L, -4, key);
  }
  lua_replace(L, -3);
  lua_pop(L, 1);
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
