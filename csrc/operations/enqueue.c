/* SPDX-License-Identifier: MIT */
/*
 * What operations written in Lua need of the core: facts of buffers, and launches that make no
 * event and take views of any start. A kernel of theirs has two parameters for each buffer: the
 * memory, and how many elements of it come before the first one.
 */
#include "enqueue.h"

#include "operand.h"

/* facts(buffer) --> dtype, elements, elements before the first one, device */
static int facts(lua_State *L) {
  const clc_Buffer *b = clc_checkbuffer(L, 1);
  lua_pushstring(L, b->dtype->name);
  lua_pushinteger(L, (lua_Integer)b->count);
  lua_pushinteger(L, (lua_Integer)b->offset);
  clc_pushdevice(L, b->device);
  return 4;
}

/* overlap(a, b) --> nil, "same" where both have the same elements, or "shifted" */
static int overlap(lua_State *L) {
  const clc_Buffer *a = clc_checkbuffer(L, 1), *b = clc_checkbuffer(L, 2);
  if (!clc_overlap(a, b)) return 0;
  const int same = a->dtype->size == b->dtype->size && a->offset == b->offset;
  lua_pushstring(L, same && a->count == b->count ? "same" : "shifted");
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

/* call(kernel, range, ...): the kernel as scripts call it, but without an event. */
static int call(lua_State *L) {
  return clc_callkernel(L, 0);
}

void clc_openenqueue(lua_State *L) {
  static const luaL_Reg functions[] = {
      {"call", call}, {"facts", facts}, {"overlap", overlap}, {"launch", launch}, {NULL, NULL}};
  luaL_getsubtable(L, -1, "internal");
  luaL_newlib(L, functions);
  lua_setfield(L, -2, "enqueue");
  lua_pop(L, 1);
}
