/* SPDX-License-Identifier: MIT */
/* Element types: OpenCL's scalar types as rows of a table. */
#include "base.h"

#include <CL/cl_half.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/*
 * The number at a stack index as a value of each C type; strings are none. An integer type takes
 * an integral value within its range; a floating type rounds to nearest and
 * refuses a finite number that would become infinite.
 */
static inline int get_integer(lua_State *L, int idx, lua_Integer min, lua_Integer max,
                              lua_Integer *v) {
  int ok;
  *v = lua_tointegerx(L, idx, &ok);
  return ok && *v >= min && *v <= max;
}

static inline int get_float(lua_State *L, int idx, float *v) {
  int ok;
  lua_Number x = lua_tonumberx(L, idx, &ok);
  *v = (float)x;
  return ok && (isfinite(*v) || !isfinite(x));
}

static inline int get_double(lua_State *L, int idx, double *v) {
  int ok;
  *v = lua_tonumberx(L, idx, &ok);
  return ok;
}

/* Not cl_half_to_float: for negative numbers it shifts a bit out of an int. */
static double half_number(cl_half h) {
  const int exponent = h >> 10 & 31, fraction = h & 1023;
  const double v = exponent == 31  ? (fraction != 0 ? (double)NAN : (double)INFINITY)
                   : exponent == 0 ? ldexp(fraction, -24)
                                   : ldexp(fraction + 1024, exponent - 25);
  return h >> 15 ? -v : v;
}

static inline int get_half(lua_State *L, int idx, cl_half *v) {
  int ok;
  lua_Number x = lua_tonumberx(L, idx, &ok);
  *v = cl_half_from_double(x, CL_HALF_RTE);
  return ok && (isfinite(half_number(*v)) || !isfinite(x));
}

/* A NaN without a sign, which says nothing, but print shows. */
static inline void push_number(lua_State *L, lua_Number v) {
  lua_pushnumber(L, isnan(v) ? (lua_Number)NAN : v);
}

/* Four functions a type. The loops are spelled out for each, since a call for
   every element would cost as much as the element. */
#define DTYPE(ctype, name, get, push)                                           \
  static int to_##name(lua_State *L, int idx, void *element) {                  \
    ctype v;                                                                    \
    if (lua_type(L, idx) != LUA_TNUMBER || !get) return 0;                      \
    memcpy(element, &v, sizeof v);                                              \
    return 1;                                                                   \
  }                                                                             \
  static void push_##name(lua_State *L, const void *element) {                  \
    ctype v;                                                                    \
    memcpy(&v, element, sizeof v);                                              \
    push;                                                                       \
  }                                                                             \
  static size_t totable_##name(lua_State *L, int t, size_t n, void *elements) { \
    ctype *out = elements;                                                      \
    const int idx = -1;                                                         \
    t = lua_absindex(L, t);                                                     \
    for (size_t i = 0; i < n; i++) {                                            \
      ctype v;                                                                  \
      if (lua_rawgeti(L, t, (lua_Integer)i + 1) != LUA_TNUMBER || !get)         \
        return lua_pop(L, 1), i + 1;                                            \
      out[i] = v;                                                               \
      lua_pop(L, 1);                                                            \
    }                                                                           \
    return 0;                                                                   \
  }                                                                             \
  static void pushtable_##name(lua_State *L, size_t n, const void *elements) {  \
    const ctype *in = elements;                                                 \
    lua_createtable(L, n > INT32_MAX ? INT32_MAX : (int)n, 0);                  \
    for (size_t i = 0; i < n; i++) {                                            \
      const ctype v = in[i];                                                    \
      push;                                                                     \
      lua_rawseti(L, -2, (lua_Integer)i + 1);                                   \
    }                                                                           \
  }

#define INTEGER(ctype, name, min, max)                            \
  static inline int get_##name(lua_State *L, int idx, ctype *v) { \
    lua_Integer i;                                                \
    if (!get_integer(L, idx, min, max, &i)) return 0;             \
    *v = (ctype)i;                                                \
    return 1;                                                     \
  }                                                               \
  DTYPE(ctype, name, get_##name(L, idx, &v), lua_pushinteger(L, (lua_Integer)v))

INTEGER(cl_char, char, INT8_MIN, INT8_MAX)
INTEGER(cl_uchar, uchar, 0, UINT8_MAX)
INTEGER(cl_short, short, INT16_MIN, INT16_MAX)
INTEGER(cl_ushort, ushort, 0, UINT16_MAX)
INTEGER(cl_int, int, INT32_MIN, INT32_MAX)
INTEGER(cl_uint, uint, 0, UINT32_MAX)
INTEGER(cl_long, long, INT64_MIN, INT64_MAX)
INTEGER(cl_ulong, ulong, INT64_MIN, INT64_MAX) /* the 64 bits of a Lua integer */
DTYPE(cl_half, half, get_half(L, idx, &v), push_number(L, half_number(v)))
DTYPE(cl_float, float, get_float(L, idx, &v), push_number(L, (lua_Number)v))
DTYPE(cl_double, double, get_double(L, idx, &v), push_number(L, v))

#define ROW(ctype, name, floating) \
  { #name, sizeof(ctype), floating, to_##name, push_##name, totable_##name, pushtable_##name }

enum { INT_ROW = 4, FLOAT_ROW = 9, DOUBLE_ROW = 10 };

static const clc_Dtype dtypes[] = {
    ROW(cl_char, char, 0),     ROW(cl_uchar, uchar, 0),   ROW(cl_short, short, 0),
    ROW(cl_ushort, ushort, 0), ROW(cl_int, int, 0),       ROW(cl_uint, uint, 0),
    ROW(cl_long, long, 0),     ROW(cl_ulong, ulong, 0),   ROW(cl_half, half, 1),
    ROW(cl_float, float, 1),   ROW(cl_double, double, 1),
};
#define NDTYPES (sizeof dtypes / sizeof *dtypes)

const clc_Dtype *const clc_int = &dtypes[INT_ROW], *const clc_float = &dtypes[FLOAT_ROW],
                       *const clc_double = &dtypes[DOUBLE_ROW];

const clc_Dtype *clc_finddtype(const char *name, size_t length) {
  for (size_t i = 0; i < NDTYPES; i++)
    if (strlen(dtypes[i].name) == length && memcmp(dtypes[i].name, name, length) == 0)
      return &dtypes[i];
  return NULL;
}

/* Whether a name is that of a vector type of OpenCL C. */
static int is_vector(const char *name, size_t length) {
  const size_t letters = strcspn(name, "0123456789");
  return letters < length && letters + strspn(name + letters, "0123456789") == length &&
         clc_finddtype(name, letters) != NULL;
}

const clc_Dtype *clc_checkdtype(lua_State *L, int arg) {
  size_t length;
  const int is_extent = lua_type(L, arg) == LUA_TNUMBER;
  const char *name = luaL_checklstring(L, arg, &length);
  const clc_Dtype *dtype = clc_finddtype(name, length);
  if (dtype != NULL) return dtype;
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  lua_pushfstring(L, "no dtype '%s'; there are", name);
  luaL_addvalue(&b);
  for (size_t i = 0; i < NDTYPES; i++) {
    luaL_addchar(&b, ' ');
    luaL_addstring(&b, dtypes[i].name);
  }
  if (is_extent) luaL_addstring(&b, "; the dtype comes before the extents");
  if (is_vector(name, length))
    luaL_addstring(&b, "; a vector is so many numbers, as a row of a matrix has them");
  luaL_pushresult(&b);
  luaL_argerror(L, arg, lua_tostring(L, -1));
  return NULL;
}

const clc_Dtype *clc_optdtype(lua_State *L, int arg, const char *def) {
  return lua_isnoneornil(L, arg) ? clc_finddtype(def, strlen(def)) : clc_checkdtype(L, arg);
}

const char *clc_pushmismatch(lua_State *L, int idx, const clc_Dtype *dtype) {
  idx = lua_absindex(L, idx);
  if (lua_type(L, idx) != LUA_TNUMBER)
    return lua_pushfstring(L, "number expected, got %s", clc_typename(L, idx));
  const char *text = luaL_tolstring(L, idx, NULL);
  const lua_Number x = lua_tonumber(L, idx);
  const int integral = isfinite(x) && floor(x) == x;
  char bits[sizeof "; write 0x" + 16] = ""; /* of what is above all integers of Lua, and in ulong */
  if (strcmp(dtype->name, "ulong") == 0 && integral && x >= 0x1p63 && x < 0x1p64)
    snprintf(bits, sizeof bits, "; write 0x%" PRIx64, (uint64_t)x);
  const char *why = dtype->floating || integral
                        ? lua_pushfstring(L, "%s does not fit %s%s", text, dtype->name, bits)
                        : lua_pushfstring(L, "%s has no integer value", text);
  lua_remove(L, -2);
  return why;
}

void clc_checkelement(lua_State *L, int arg, const clc_Dtype *dtype, void *element) {
  if (!dtype->to(L, arg, element)) luaL_argerror(L, arg, clc_pushmismatch(L, arg, dtype));
}

lua_Number clc_elementoption(lua_State *L, int arg, const char *key, const clc_Dtype *dtype,
                             lua_Number def) {
  char element[sizeof(cl_ulong)];
  if (clc_pushoption(L, arg, key) != LUA_TNIL) {
    if (!dtype->to(L, -1, element))
      clc_optionerror(L, arg, key, "%s", clc_pushmismatch(L, -1, dtype));
    dtype->push(L, element);
    def = lua_tonumber(L, -1);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  return def;
}

/* --- for Lua ----------------------------------------------------------- */

/* Internal: pack_elements(dtype, list) returns the bytes; or nil, the place of a value that is no
   element, and why. */
static int pack_elements(lua_State *L) {
  const clc_Dtype *dtype = clc_checkdtype(L, 1);
  luaL_checktype(L, 2, LUA_TTABLE);
  const size_t n = lua_rawlen(L, 2);
  void *elements = lua_newuserdatauv(L, n * dtype->size, 0);
  const size_t bad = dtype->totable(L, 2, n, elements);
  if (bad == 0) {
    lua_pushlstring(L, elements, n * dtype->size);
    return 1;
  }
  lua_pushnil(L);
  lua_pushinteger(L, (lua_Integer)bad);
  lua_rawgeti(L, 2, (lua_Integer)bad);
  clc_pushmismatch(L, -1, dtype);
  lua_remove(L, -2);
  return 3;
}

/* Internal: unpack_elements(dtype, bytes, at, n) returns a list of n elements from byte `at` on. */
static int unpack_elements(lua_State *L) {
  const clc_Dtype *dtype = clc_checkdtype(L, 1);
  size_t length;
  const char *bytes = luaL_checklstring(L, 2, &length);
  const size_t at = (size_t)luaL_checkinteger(L, 3) - 1, n = (size_t)luaL_checkinteger(L, 4);
  luaL_argcheck(L, at <= length && n <= (length - at) / dtype->size, 4, "beyond the bytes");
  void *elements = lua_newuserdatauv(L, n * dtype->size, 0); /* aligned */
  memcpy(elements, bytes + at, n * dtype->size);
  dtype->pushtable(L, n, elements);
  return 1;
}

void clc_opendtypes(lua_State *L) {
  static const luaL_Reg functions[] = {
      {"pack_elements", pack_elements}, {"unpack_elements", unpack_elements}, {NULL, NULL}};
  clc_addinternal(L, functions);
}
