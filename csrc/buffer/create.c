/* SPDX-License-Identifier: MIT */
/* Making buffers: from tables and bytes, of one value. */
#include "buffer.h"

static void buffer_from_table(lua_State *L, clc_Device *d) {
  const clc_Dtype *dtype = clc_optdtype(L, 3, "float");
  const clc_Shape shape = clc_tableshape(L, 2, dtype);
  clc_checkallocation(L, d->context, &clc_buffertype, /* before a host copy as large */
                      clc_count(&shape) * dtype->size);
  void *elements = clc_newelements(L, clc_count(&shape) * dtype->size);
  clc_checktable(L, 2, dtype, &shape, elements);
  clc_Buffer *b = clc_newguarded(L, d, dtype, &shape);
  clc_writebuffer(L, b, 0, b->count, elements);
}

static void buffer_from_bytes(lua_State *L, clc_Device *d) {
  size_t length;
  const char *bytes = luaL_checklstring(L, 2, &length);
  luaL_argcheck(L, !lua_istable(L, 3), 2, "a table of values comes first, then the dtype");
  const clc_Dtype *dtype = clc_checkdtype(L, 3);
  if (lua_gettop(L) == 3) { /* without a shape: a line of all */
    if (length % dtype->size != 0)
      clc_argerror(L, 2, "a multiple of the %d bytes of a %s expected, got %I", (int)dtype->size,
                   dtype->name, (LUAI_UACINT)length);
    lua_pushinteger(L, (lua_Integer)(length / dtype->size));
  }
  const clc_Shape shape = clc_checkshape(L, 4, lua_gettop(L), dtype);
  if (length != clc_count(&shape) * dtype->size)
    clc_argerror(L, 2, "%s %s elements are %I bytes, got %I", clc_pushshape(L, &shape), dtype->name,
                 (LUAI_UACINT)(clc_count(&shape) * dtype->size), (LUAI_UACINT)length);
  clc_Buffer *b = clc_newguarded(L, d, dtype, &shape);
  clc_writebuffer(L, b, 0, b->count, bytes);
}

static int device_buffer(lua_State *L) {
  clc_Device *d = clc_checkopen(L, 1);
  if (lua_type(L, 2) == LUA_TSTRING) {
    buffer_from_bytes(L, d);
    return 1;
  }
  luaL_argexpected(L, lua_istable(L, 2), 2, "table or string");
  luaL_argcheck(L, lua_gettop(L) <= 3, 4, "a table brings its own shape");
  buffer_from_table(L, d);
  return 1;
}

static int device_empty(lua_State *L) {
  clc_Device *d = clc_checkopen(L, 1);
  const clc_Dtype *dtype = clc_checkdtype(L, 2);
  const clc_Shape shape = clc_checkshape(L, 3, lua_gettop(L), dtype);
  clc_newguarded(L, d, dtype, &shape);
  return 1;
}

static int device_zeros(lua_State *L) {
  static const char zero[sizeof(cl_ulong)] = {0};
  device_empty(L);
  clc_Buffer *b = clc_checkbuffer(L, -1);
  clc_fillbuffer(L, b, 0, b->count, zero);
  return 1;
}

static int device_full(lua_State *L) {
  char element[sizeof(cl_ulong)];
  clc_Device *d = clc_checkopen(L, 1);
  const clc_Dtype *dtype = clc_checkdtype(L, 2);
  clc_checkelement(L, 3, dtype, element);
  const clc_Shape shape = clc_checkshape(L, 4, lua_gettop(L), dtype);
  clc_Buffer *b = clc_newguarded(L, d, dtype, &shape);
  clc_fillbuffer(L, b, 0, b->count, element);
  return 1;
}

void clc_opencreate(lua_State *L) {
  static const clc_Function methods[] = {{"buffer", device_buffer, CLC_ANY},
                                         {"empty", device_empty, CLC_ANY},
                                         {"full", device_full, CLC_ANY},
                                         {"zeros", device_zeros, CLC_ANY},
                                         {NULL, NULL, 0}};
  clc_addmethods(L, &clc_devicetype, methods);
}
