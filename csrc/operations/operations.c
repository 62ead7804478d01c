/* SPDX-License-Identifier: MIT */
/*
 * What operations written in Lua share with operations in C: facts of buffers, scratch memory, how
 * elements are spread over a device, and launches that make no event and take views of any start. A
 * kernel of such an operation has two parameters for each buffer: the memory, and how many elements
 * of it come before the first one.
 */
#include "operations.h"

#include "spread.h"

static clc_Device *check_device(lua_State *L, int arg) {
  return clc_checkhandle(L, arg, &clc_devicetype);
}

/* facts(buffer) --> dtype, elements, elements before the first one, device */
static int facts(lua_State *L) {
  const clc_Buffer *b = clc_checkbuffer(L, 1);
  lua_pushstring(L, b->dtype->name);
  lua_pushinteger(L, (lua_Integer)b->count);
  lua_pushinteger(L, (lua_Integer)b->offset);
  clc_pushdevice(L, b->device);
  return 4;
}

/* complaint(buffer, device) --> nil where the buffer can be used with the device; else what a
   message says of it */
static int complaint(lua_State *L) {
  const clc_Buffer *b = clc_checkbuffer(L, 1);
  lua_pushstring(L, clc_devicecomplaint(b, check_device(L, 2)));
  return 1;
}

/* check_result(operation, out, buffer, name) --> whether `out` is the buffer */
static int check_result(lua_State *L) {
  const clc_Buffer *out = clc_checkbuffer(L, 2), *b = clc_checkbuffer(L, 3);
  lua_pushboolean(L, clc_checkresult(L, luaL_checkstring(L, 1), out, b, luaL_checkstring(L, 4)));
  return 1;
}

/* check_target(what, buffer): raises where a script's writes to it would be lost. */
static int check_target(lua_State *L) {
  const clc_Buffer *b = clc_checkbuffer(L, 2);
  if (b->is_slice) luaL_error(L, "%s: " CLC_SLICE, luaL_checkstring(L, 1));
  return 0;
}

/* spread(device, operation, n) --> row, in whose field `kernels` its kernels are kept, work-items,
   workers, elements of a worker */
static int spread(lua_State *L) {
  const lua_Integer n = luaL_checkinteger(L, 3);
  const clc_Spread *s = clc_pushspread(L, check_device(L, 1), luaL_checkstring(L, 2));
  luaL_argcheck(L, n > 0, 3, "at least one element expected");
  const clc_Share share = clc_share(s, (size_t)n);
  lua_pushinteger(L, (lua_Integer)share.items);
  lua_pushinteger(L, (lua_Integer)share.workers);
  lua_pushinteger(L, (lua_Integer)share.chunk);
  return 4;
}

/* take(device, use, dtype, n) --> a buffer of exactly n elements, which `give` brings back */
static int take(lua_State *L) {
  const lua_Integer n = luaL_checkinteger(L, 4);
  luaL_argcheck(L, n > 0, 4, "at least one element expected");
  clc_Device *d = check_device(L, 1);
  clc_usedevice(L, d);
  clc_takescratch(L, d, luaL_checkstring(L, 2), clc_checkdtype(L, 3), (size_t)n);
  return 1;
}

/* give(buffer, use) */
static int give(lua_State *L) {
  const char *use = luaL_checkstring(L, 2);
  lua_pushvalue(L, 1);
  clc_givescratch(L, use);
  return 0;
}

/* slot(device) --> one in which a kernel of the device may tell its result; nil: there is none */
static int slot(lua_State *L) {
  const unsigned taken = clc_takeslot(L, check_device(L, 1));
  if (taken == 0) return 0;
  lua_pushinteger(L, taken);
  return 1;
}

static unsigned check_slot(lua_State *L, int arg, const clc_Device *d) {
  const lua_Integer found = luaL_checkinteger(L, arg);
  luaL_argcheck(L, found > 0 && found <= d->slots, arg, "no slot");
  return (unsigned)found;
}

/* expect(device, slot) --> the address for the launch that comes now */
static int expect(lua_State *L) {
  clc_Device *d = check_device(L, 1);
  clc_usedevice(L, d);
  lua_pushinteger(L, (lua_Integer)clc_expect(d, check_slot(L, 2, d)));
  return 1;
}

/* hear(buffer, slot) --> the result, which the launch has stored in the buffer too */
static int hear(lua_State *L) {
  const clc_Buffer *b = clc_checkbuffer(L, 1);
  char element[sizeof(cl_ulong)];
  if (clc_hearword(L, b, check_slot(L, 2, b->device), element))
    b->dtype->push(L, element);
  else
    lua_pushnil(L);
  return 1;
}

/* launch(kernel, items, group, ...): queues whole groups of at least so many work-items. */
static int launch(lua_State *L) {
  clc_Kernel *k = clc_checkhandle(L, 1, &clc_kerneltype);
  const lua_Integer items = luaL_checkinteger(L, 2), group = luaL_checkinteger(L, 3);
  luaL_argcheck(L, items > 0, 2, "at least one work-item expected");
  luaL_argcheck(L, group > 0, 3, "at least one work-item expected");
  const clc_Range range = clc_padded1((size_t)items, (size_t)group);
  clc_usedevice(L, k->device);
  clc_setstacked(L, k, 4, lua_gettop(L));
  clc_launch(L, k, &range, NULL);
  return 0;
}

static void open_shared(lua_State *L) {
  static const luaL_Reg functions[] = {{"call", clc_callcompiled},
                                       {"check_result", check_result},
                                       {"check_target", check_target},
                                       {"complaint", complaint},
                                       {"cover", clc_coverrange},
                                       {"expect", expect},
                                       {"facts", facts},
                                       {"give", give},
                                       {"hear", hear},
                                       {"launch", launch},
                                       {"slot", slot},
                                       {"spread", spread},
                                       {"take", take},
                                       {NULL, NULL}};
  luaL_getsubtable(L, -1, "internal");
  luaL_newlib(L, functions);
  lua_setfield(L, -2, "enqueue");
  lua_pop(L, 1);
}

void clc_openoperations(lua_State *L) {
  open_shared(L);
  clc_openprebuilt(L);
  clc_openschedules(L);
  clc_opensaxpy(L);
  clc_openrandom(L);
}
