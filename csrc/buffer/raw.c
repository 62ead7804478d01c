/* SPDX-License-Identifier: MIT */
/*
 * Below the elements: raw OpenCL handles, for other libraries that compute on the same memory,
 * and transfers by mapped memory.
 */
#include "buffer.h"

#include <string.h>

/* --- handles --------------------------------------------------------------- */

static int device_raw(lua_State *L) {
  clc_Device *d = clc_checkopen(L, 1);
  d->foreign = 1;
  clc_lend(d);
  lua_pushlightuserdata(L, d->queue);
  lua_pushlightuserdata(L, d->context->cl);
  lua_pushlightuserdata(L, d->context->place.device);
  return 3;
}

/* Internal: memory(buffer) --> its handle, elements before the first one: to tell memory from
   another. */
static int memory(lua_State *L) {
  const clc_Buffer *b = clc_checkbuffer(L, 1);
  lua_pushlightuserdata(L, b->mem);
  lua_pushinteger(L, (lua_Integer)b->offset);
  return 2;
}

/* Others may write to it, and use it when it is released here. */
static int buffer_raw(lua_State *L) {
  clc_Buffer *b = clc_checkbuffer(L, 1), *sharer = b;
  clc_beforechange(L, b, NULL);
  do sharer->room = 0;
  while ((sharer = sharer->sharer) != b);
  return memory(L);
}

/* --- mapped transfers ------------------------------------------------------ */

/* Internal: read_mapped(buffer) returns a string, write_mapped(buffer, string) the buffer. The
   measurement of transfers sets them beside copied ones. Scripts do not see them, for a pointer
   into device memory is nothing for Lua; cl.profile does not count them. */

/* A buffer's elements in the host's memory. A hook or a finalizer may release the buffer meanwhile,
   and close its device: memory and queue stay. */
typedef struct {
  cl_command_queue queue;
  cl_mem mem;
  void *elements;
} Mapping;

static Mapping map(lua_State *L, clc_Buffer *b, cl_map_flags flags) {
  const size_t size = b->dtype->size;
  cl_int code;
  if (b->h.released) luaL_error(L, "buffer is released"); /* by a hook, while it waited */
  Mapping m = {.queue = clc_quickqueue(b->device), .mem = b->mem};
  m.elements = clEnqueueMapBuffer(m.queue, m.mem, CL_TRUE, flags, b->offset * size, b->count * size,
                                  0, NULL, NULL, &code);
  clc_check(L, code, "clEnqueueMapBuffer");
  clRetainCommandQueue(m.queue);
  clRetainMemObject(m.mem);
  return m;
}

/* Nothing may raise between map and this. */
static void unmap(lua_State *L, const Mapping *m) {
  const char *call = "clEnqueueUnmapMemObject";
  cl_event event;
  cl_int code = clEnqueueUnmapMemObject(m->queue, m->mem, m->elements, 0, NULL, &event);
  if (code == CL_SUCCESS) {
    call = "clWaitForEvents";
    code = clWaitForEvents(1, &event);
    clReleaseEvent(event);
  }
  clReleaseMemObject(m->mem);
  clReleaseCommandQueue(m->queue);
  clc_check(L, code, call);
}

/* The memory, its bytes. */
static int copy_string(lua_State *L) {
  lua_pushlstring(L, lua_touserdata(L, 1), (size_t)lua_tointeger(L, 2));
  return 1;
}

void clc_pushmapped(lua_State *L, const void *buffer) {
  clc_Buffer *b = *(clc_Buffer *const *)buffer;
  luaL_checkstack(L, 5, NULL);
  clc_drain(L, b->device);
  if (b->count == 0) {
    lua_pushliteral(L, "");
    return;
  }
  const Mapping m = map(L, b, CL_MAP_READ);
  lua_pushcfunction(L, copy_string);
  lua_pushlightuserdata(L, m.elements);
  lua_pushinteger(L, (lua_Integer)(b->count * b->dtype->size));
  const int status = lua_pcall(L, 2, 1, 0);
  unmap(L, &m);
  if (status != LUA_OK) lua_error(L);
  if (b->h.released) luaL_error(L, "buffer is released"); /* the bytes may be another one's */
}

/* All elements, packed. */
static int mapped_read(lua_State *L) {
  clc_Buffer *b = clc_checkbuffer(L, 1);
  clc_pushmuch(L, b->count * b->dtype->size, clc_pushmapped, &b);
  return 1;
}

/* Packed bytes over all elements. */
static int mapped_write(lua_State *L) {
  clc_Buffer *b = clc_checkbuffer(L, 1);
  const size_t bytes = b->count * b->dtype->size;
  size_t length;
  const char *from = luaL_checklstring(L, 2, &length);
  if (length != bytes)
    clc_argerror(L, 2, "%I bytes expected, got %I", (LUAI_UACINT)bytes, (LUAI_UACINT)length);
  clc_beforechange(L, b, NULL);
  clc_drain(L, b->device);
  if (bytes > 0) {
    const Mapping m = map(L, b, CL_MAP_WRITE_INVALIDATE_REGION);
    memcpy(m.elements, from, bytes);
    unmap(L, &m);
  }
  lua_settop(L, 1);
  return 1;
}

void clc_openraw(lua_State *L) {
  static const clc_Function of_device[] = {{"raw", device_raw, 0}, {NULL, NULL, 0}};
  static const clc_Function of_buffer[] = {{"raw", buffer_raw, 0}, {NULL, NULL, 0}};
  static const luaL_Reg internal[] = {{"memory", memory},
                                      {"read_mapped", mapped_read},
                                      {"write_mapped", mapped_write},
                                      {NULL, NULL}};
  clc_addmethods(L, &clc_devicetype, of_device);
  clc_addmethods(L, &clc_buffertype, of_buffer);
  clc_addinternal(L, internal);
}
