/* SPDX-License-Identifier: MIT */
/* Arrays in host memory that a script holds and a C library computes with, uncopied. */
#define _POSIX_C_SOURCE 200809L
#include "peers.h"

#include <stdint.h>
#include <string.h>
#include <unistd.h>

#define ALIGN 64 /* bytes of a cache line, and of the widest vectors */

static const char TNAME[] = "clcompute.Array";
static const char *const dtypes[] = {"float", "double", NULL};

static size_t element_size(const clc_Array *a) {
  return a->is_double ? sizeof(double) : sizeof(float);
}

static size_t byte_count(const clc_Array *a) {
  return a->count * element_size(a);
}

/* --- the object -------------------------------------------------------- */

clc_Array *clc_newarray(lua_State *L, size_t count, int is_double) {
  clc_Array shape = {{TNAME}, NULL, count, is_double};
  clc_Array *a = lua_newuserdatauv(L, sizeof *a + ALIGN + byte_count(&shape), 1);
  const uintptr_t after = (uintptr_t)(a + 1);
  shape.elements = (char *)(a + 1) + (ALIGN - after % ALIGN) % ALIGN;
  *a = shape;
  luaL_setmetatable(L, TNAME);
  lua_createtable(L, 0, 1);
  lua_pushstring(L, dtypes[is_double]);
  lua_setfield(L, -2, "dtype");
  lua_setiuservalue(L, -2, 1);
  return a;
}

clc_Array *clc_checkarray(lua_State *L, int arg) {
  return clc_checkobject(L, arg, TNAME);
}

clc_Array *clc_checkarraylike(lua_State *L, int arg, const clc_Array *like, size_t count) {
  clc_Array *a = clc_checkarray(L, arg);
  if (a->is_double != like->is_double || a->count != count)
    clc_argerror(L, arg, "%s array of %I elements expected, got %s array of %I",
                 dtypes[like->is_double], (LUAI_UACINT)count, dtypes[a->is_double],
                 (LUAI_UACINT)a->count);
  return a;
}

/* --- elements ---------------------------------------------------------- */

/* Setting elements that the machine has no memory for would end the process. */
static size_t check_size(lua_State *L, int arg, size_t size) {
  const lua_Integer n = luaL_checkinteger(L, arg);
  const size_t memory = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
  if (n < 0 || (lua_Unsigned)n > memory / size)
    clc_argerror(L, arg, "%I elements do not fit in memory", (LUAI_UACINT)n);
  return (size_t)n;
}

static int blas_array(lua_State *L) {
  const int is_double = luaL_checkoption(L, 2, "float", dtypes);
  const size_t size = is_double ? sizeof(double) : sizeof(float);
  if (lua_type(L, 1) == LUA_TSTRING) {
    const size_t length = lua_rawlen(L, 1);
    if (length % size != 0)
      clc_argerror(L, 1, "%I bytes are no whole number of %s elements", (LUAI_UACINT)length,
                   dtypes[is_double]);
    clc_Array *a = clc_newarray(L, length / size, is_double);
    memcpy(a->elements, lua_tostring(L, 1), length);
  } else {
    clc_Array *a = clc_newarray(L, check_size(L, 1, size), is_double);
    memset(a->elements, 0, byte_count(a));
  }
  return 1;
}

static int array_string(lua_State *L) {
  const clc_Array *a = clc_checkarray(L, 1);
  lua_pushlstring(L, a->elements, byte_count(a));
  return 1;
}

static int array_write(lua_State *L) {
  clc_Array *a = clc_checkarray(L, 1);
  if (lua_type(L, 2) == LUA_TSTRING) {
    if (lua_rawlen(L, 2) != byte_count(a))
      clc_argerror(L, 2, "%I bytes expected, got %I", (LUAI_UACINT)byte_count(a),
                   (LUAI_UACINT)lua_rawlen(L, 2));
    memcpy(a->elements, lua_tostring(L, 2), byte_count(a));
  } else {
    memmove(a->elements, clc_checkarraylike(L, 2, a, a->count)->elements, byte_count(a));
  }
  lua_settop(L, 1);
  return 1;
}

static int array_len(lua_State *L) {
  lua_pushinteger(L, (lua_Integer)clc_checkarray(L, 1)->count);
  return 1;
}

static int array_tostring(lua_State *L) {
  const clc_Array *a = clc_checkarray(L, 1);
  lua_pushfstring(L, "%s array of %I elements", dtypes[a->is_double], (LUAI_UACINT)a->count);
  return 1;
}

void clc_openarrays(lua_State *L) {
  static const clc_Function functions[] = {{"array", blas_array, 2}, {NULL, NULL, 0}};
  static const clc_Function methods[] = {
      {"string", array_string, 0}, {"write", array_write, 1}, {NULL, NULL, 0}};
  static const luaL_Reg metamethods[] = {
      {"__len", array_len}, {"__tostring", array_tostring}, {NULL, NULL}};
  clc_openobject(L, TNAME, methods, metamethods);
  clc_setfunctions(L, functions);
}
