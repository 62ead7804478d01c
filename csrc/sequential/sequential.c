/* SPDX-License-Identifier: MIT */
/*
 * The sequential program of Borisov 2015: saxpy, gemm and Gauss as plain C loops on one core,
 * compiled with -O3; the Game of Life beside them. Operands and results are strings of packed
 * elements (`Buffer:string`, `string.pack`), and every function also returns the seconds its
 * loops took. Needs no OpenCL.
 */
#include <lauxlib.h>
#include <lua.h>
#include <string.h>

#include "base/base.h"
#include "sequential.h"

__attribute__((visibility("default"))) int luaopen_clcompute_sequential(lua_State *L);

/* The dtype argument: bytes of an element. */
static size_t check_size(lua_State *L, int arg) {
  static const char *const names[] = {"float", "double", NULL};
  return luaL_checkoption(L, arg, "float", names) == 0 ? sizeof(float) : sizeof(double);
}

static size_t check_count(lua_State *L, int arg) {
  const lua_Integer n = luaL_checkinteger(L, arg);
  luaL_argcheck(L, n >= 0 && n <= 1 << 24, arg, "size out of range");
  return (size_t)n;
}

/* The elements of a string. */
static size_t count_elements(lua_State *L, int arg, size_t size) {
  luaL_checkstring(L, arg);
  const size_t length = lua_rawlen(L, arg);
  if (length % size != 0)
    luaL_argerror(L, arg,
                  lua_pushfstring(L, "a multiple of %d bytes expected, got %I", (int)size,
                                  (LUAI_UACINT)length));
  return length / size;
}

/* A string of exactly n elements. */
static const void *check_elements(lua_State *L, int arg, size_t n, size_t size) {
  size_t length;
  const char *bytes = luaL_checklstring(L, arg, &length);
  if (length != n * size)
    luaL_argerror(L, arg,
                  lua_pushfstring(L, "%I bytes expected, got %I", (LUAI_UACINT)(n * size),
                                  (LUAI_UACINT)length));
  return bytes;
}

/* Memory that the collector frees, with a copy of `from` (NULL: none). */
static void *push_memory(lua_State *L, const void *from, size_t bytes) {
  void *memory = lua_newuserdatauv(L, bytes, 0);
  if (from != NULL) memcpy(memory, from, bytes);
  return memory;
}

static int push_result(lua_State *L, const void *elements, size_t bytes, double seconds) {
  lua_pushlstring(L, elements, bytes);
  lua_pushnumber(L, seconds);
  return 2;
}

static int seq_saxpy(lua_State *L) {
  const lua_Number alpha = luaL_checknumber(L, 1);
  const size_t size = check_size(L, 4);
  const size_t n = count_elements(L, 2, size);
  const void *x = check_elements(L, 2, n, size), *y = check_elements(L, 3, n, size);
  void *out = push_memory(L, y, n * size);
  const double start = clc_now();
  if (size == sizeof(float))
    clc_plain_saxpy_float(n, (float)alpha, x, y, out);
  else
    clc_plain_saxpy_double(n, alpha, x, y, out);
  return push_result(L, out, n * size, clc_now() - start);
}

static int seq_scan(lua_State *L) {
  const size_t size = check_size(L, 2);
  const size_t n = count_elements(L, 1, size);
  const void *x = check_elements(L, 1, n, size);
  void *out = push_memory(L, x, n * size); /* touched: what a page's first use costs is not timed */
  const double start = clc_now();
  if (size == sizeof(float))
    clc_plain_scan_float(n, x, out);
  else
    clc_plain_scan_double(n, x, out);
  return push_result(L, out, n * size, clc_now() - start);
}

static int seq_gemm(lua_State *L) {
  const size_t m = check_count(L, 3), n = check_count(L, 4), k = check_count(L, 5);
  const size_t size = check_size(L, 6);
  const void *a = check_elements(L, 1, m * k, size), *b = check_elements(L, 2, k * n, size);
  void *c = push_memory(L, NULL, m * n * size);
  const double start = clc_now();
  if (size == sizeof(float))
    clc_plain_gemm_float(m, n, k, a, b, c);
  else
    clc_plain_gemm_double(m, n, k, a, b, c);
  return push_result(L, c, m * n * size, clc_now() - start);
}

static int seq_gauss(lua_State *L) {
  const size_t n = check_count(L, 3), size = check_size(L, 4);
  luaL_checkstring(L, 2);
  const size_t columns = n == 0 ? 0 : lua_rawlen(L, 2) / (n * size);
  void *a = push_memory(L, check_elements(L, 1, n * n, size), n * n * size);
  void *b = push_memory(L, check_elements(L, 2, n * columns, size), n * columns * size);
  const double start = clc_now();
  const size_t bad = size == sizeof(float) ? clc_plain_gauss_float(n, columns, a, b)
                                           : clc_plain_gauss_double(n, columns, a, b);
  const double seconds = clc_now() - start;
  if (bad != 0) return luaL_error(L, "matrix is singular: no pivot in column %d", (int)bad);
  return push_result(L, b, n * columns * size, seconds);
}

static int seq_life(lua_State *L) {
  const lua_Integer n = luaL_checkinteger(L, 2), generations = luaL_checkinteger(L, 3);
  luaL_argcheck(L, n >= 0 && n <= 1 << 10, 2, "size out of range");
  luaL_argcheck(L, generations >= 0, 3, "generations must not be negative");
  const size_t edge = (size_t)n, cells = edge * edge * edge;
  unsigned char *from = push_memory(L, check_elements(L, 1, cells, 1), cells);
  unsigned char *to = push_memory(L, NULL, cells);
  const double start = clc_now();
  for (lua_Integer g = 0; g < generations; g++) {
    clc_plain_life(edge, from, to);
    unsigned char *swap = from;
    from = to;
    to = swap;
  }
  return push_result(L, from, cells, clc_now() - start);
}

static int seq_relative_error(lua_State *L) {
  const size_t size = check_size(L, 3);
  const size_t n = count_elements(L, 1, size);
  const void *x = check_elements(L, 1, n, size);
  const double *expected = check_elements(L, 2, n, sizeof *expected);
  lua_pushnumber(L, size == sizeof(float) ? clc_plain_relative_error_float(n, x, expected)
                                          : clc_plain_relative_error_double(n, x, expected));
  return 1;
}

static int seq_absolute_error(lua_State *L) {
  const size_t size = check_size(L, 3);
  const size_t n = count_elements(L, 1, size);
  const void *x = check_elements(L, 1, n, size);
  const double *expected = check_elements(L, 2, n, sizeof *expected);
  lua_pushnumber(L, size == sizeof(float) ? clc_plain_absolute_error_float(n, x, expected)
                                          : clc_plain_absolute_error_double(n, x, expected));
  return 1;
}

static int seq_backward_error(lua_State *L) {
  const size_t n = check_count(L, 4), size = check_size(L, 5);
  const void *a = check_elements(L, 1, n * n, size), *b = check_elements(L, 2, n, size);
  const void *x = check_elements(L, 3, n, size);
  double *sums = push_memory(L, NULL, n * sizeof *sums);
  lua_pushnumber(L, size == sizeof(float)
                        ? clc_plain_backward_error_float(n, a, b, x, sums) * 0x1p23
                        : clc_plain_backward_error_double(n, a, b, x, sums) * 0x1p52);
  return 1;
}

int luaopen_clcompute_sequential(lua_State *L) {
  static const clc_Function functions[] = {{"saxpy", seq_saxpy, 4},
                                           {"scan", seq_scan, 2},
                                           {"gemm", seq_gemm, 6},
                                           {"gauss", seq_gauss, 4},
                                           {"life", seq_life, 3},
                                           {"relative_error", seq_relative_error, 3},
                                           {"absolute_error", seq_absolute_error, 3},
                                           {"backward_error", seq_backward_error, 5},
                                           {NULL, NULL, 0}};
  lua_newtable(L);
  clc_setfunctions(L, functions);
  return 1;
}
