/* SPDX-License-Identifier: MIT */
/***
Raw OpenCL handles, for other libraries that compute on the same memory.
@module clcompute
*/
#include "raw.h"

/***
The OpenCL handles behind a device, as light userdata for a C library that uses them. They
stay the device's: never release them, and do not use them after it was closed or collected.
The next `Device:wait`, or anything else that blocks, also waits for what was put into the
queue since this call; so call it each time.
@function Device:raw
@treturn userdata cl_command_queue
@treturn userdata cl_context
@treturn userdata cl_device_id
*/
static int device_raw(lua_State *L) {
  clc_Device *d = clc_checkopen(L, 1);
  d->foreign = 1;
  lua_pushlightuserdata(L, d->queue);
  lua_pushlightuserdata(L, d->context);
  lua_pushlightuserdata(L, d->place.device);
  return 3;
}

/***
The OpenCL handle of a buffer's memory, as light userdata for a C library that uses it. It
stays the buffer's: never release it, and do not use it after the buffer was released or
collected. A view has the handle of the whole memory, and begins at an offset in it.
@function Buffer:raw
@treturn userdata cl_mem; NULL where there are no elements
@treturn integer elements before the buffer's first one
*/
static int buffer_raw(lua_State *L) {
  const clc_Buffer *b = clc_checkbuffer(L, 1);
  lua_pushlightuserdata(L, b->mem);
  lua_pushinteger(L, (lua_Integer)b->offset);
  return 2;
}

void clc_openraw(lua_State *L) {
  static const luaL_Reg of_device[] = {{"raw", device_raw}, {NULL, NULL}};
  static const luaL_Reg of_buffer[] = {{"raw", buffer_raw}, {NULL, NULL}};
  clc_addmethods(L, &clc_devicetype, of_device);
  clc_addmethods(L, &clc_buffertype, of_buffer);
}
