/* SPDX-License-Identifier: MIT */
/* Making buffers: from tables and bytes, of zeros, of random numbers. */
#include "buffer.h"

#include <CL/cl_half.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

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

/* --- random numbers ---------------------------------------------------- */

/* SplitMix64 (Steele, Lea, Flood 2014): element i is a function of seed and i
   alone, so every device gets the same numbers, whatever made them. */
static uint64_t split_mix(uint64_t seed, uint64_t i) {
  uint64_t z = seed + (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

typedef struct {
  uint64_t seed;
  double low, high;        /* floating types: low <= x < high */
  lua_Integer ilow, ihigh; /* integer types: both included */
} Uniform;

/* 53 bits in [0, 1) stay below 1 in double; in a narrower type the product may
   round up to `high`, which then steps back. */
static double random_real(const Uniform *u, uint64_t i) {
  return u->low + (u->high - u->low) * ((double)(split_mix(u->seed, i) >> 11) * 0x1p-53);
}

static lua_Integer random_integer(const Uniform *u, uint64_t i) {
  const uint64_t span = (uint64_t)u->ihigh - (uint64_t)u->ilow + 1; /* 0: all 2^64 */
  const uint64_t z = split_mix(u->seed, i);
  return (lua_Integer)((uint64_t)u->ilow + (span == 0 ? z : z % span));
}

static void random_floats(const Uniform *u, size_t first, size_t n, float *out) {
  const float below = nextafterf((float)u->high, (float)u->low);
  for (size_t i = 0; i < n; i++) {
    const float v = (float)random_real(u, first + i);
    out[i] = (double)v < u->high || u->low == u->high ? v : below;
  }
}

static void random_doubles(const Uniform *u, size_t first, size_t n, double *out) {
  const double below = nextafter(u->high, u->low);
  for (size_t i = 0; i < n; i++) {
    const double v = random_real(u, first + i);
    out[i] = v < u->high || u->low == u->high ? v : below;
  }
}

/* A half has so few digits that rounding to nearest would reach `high` often. */
static void random_halves(const Uniform *u, size_t first, size_t n, cl_half *out) {
  for (size_t i = 0; i < n; i++) {
    const double v = random_real(u, first + i);
    out[i] = cl_half_from_double(v < u->high ? v : nextafter(u->high, u->low), CL_HALF_RTN);
  }
}

/* Integers are rarer and go through Lua's numbers. */
static void random_integers(lua_State *L, const Uniform *u, const clc_Dtype *dtype, size_t first,
                            size_t n, char *out) {
  for (size_t i = 0; i < n; i++) {
    lua_pushinteger(L, random_integer(u, first + i));
    dtype->to(L, -1, out + i * dtype->size);
    lua_pop(L, 1);
  }
}

static void fill_random(lua_State *L, clc_Buffer *b, const Uniform *u) {
  const size_t chunk = b->count < 65536 ? b->count : 65536;
  void *elements = clc_newelements(L, chunk * b->dtype->size);
  for (size_t first = 0; first < b->count; first += chunk) {
    const size_t n = b->count - first < chunk ? b->count - first : chunk;
    if (b->dtype == clc_float)
      random_floats(u, first, n, elements);
    else if (b->dtype == clc_double)
      random_doubles(u, first, n, elements);
    else if (b->dtype->floating)
      random_halves(u, first, n, elements);
    else
      random_integers(L, u, b->dtype, first, n, elements);
    clc_writebuffer(L, b, first, n, elements);
  }
  lua_pop(L, 1);
}

/* The bounds must be elements of the type, low not above high; a floating type
   takes them rounded, or an element could fall below `low`. */
static Uniform check_uniform(lua_State *L, int arg, const clc_Dtype *dtype) {
  static const char *const keys[] = {"seed", "low", "high", NULL};
  Uniform u = {0, 0, 1, 0, 100};
  clc_checkoptions(L, arg, keys);
  u.seed = (uint64_t)clc_integeroption(L, arg, "seed", LUA_MININTEGER, 0);
  u.low = clc_elementoption(L, arg, "low", dtype, 0);
  u.high = clc_elementoption(L, arg, "high", dtype, 1);
  if (dtype->floating) {
    luaL_argcheck(L, u.low <= u.high && isfinite(u.high - u.low), arg,
                  "option 'low' must not exceed 'high'; both must be finite");
  } else {
    u.ilow = clc_integeroption(L, arg, "low", LUA_MININTEGER, 0);
    u.ihigh = clc_integeroption(L, arg, "high", LUA_MININTEGER, 100);
    luaL_argcheck(L, u.ilow <= u.ihigh, arg, "option 'low' must not exceed 'high'");
  }
  return u;
}

static int device_random(lua_State *L) {
  clc_Device *d = clc_checkopen(L, 1);
  const clc_Dtype *dtype = clc_checkdtype(L, 2);
  const int top = lua_gettop(L);
  const int options = lua_istable(L, top) ? top : top + 1;
  const clc_Shape shape = clc_checkshape(L, 3, options - 1, dtype);
  const Uniform u = check_uniform(L, options, dtype);
  clc_Buffer *b = clc_newguarded(L, d, dtype, &shape);
  fill_random(L, b, &u);
  return 1;
}

void clc_opencreate(lua_State *L) {
  static const clc_Function methods[] = {{"buffer", device_buffer, CLC_ANY},
                                         {"empty", device_empty, CLC_ANY},
                                         {"zeros", device_zeros, CLC_ANY},
                                         {"random", device_random, CLC_ANY},
                                         {NULL, NULL, 0}};
  clc_addmethods(L, &clc_devicetype, methods);
}
