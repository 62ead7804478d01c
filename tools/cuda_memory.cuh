/* SPDX-License-Identifier: MIT */
/* What all of tools/cuda.cu needs: errors, time, memory of CUDA's. */
#pragma once

#include <cublas_v2.h>

#include <ctime>

extern "C" {
#include <lauxlib.h>
#include <lua.h>
}

static const char MEMORY[] = "cuda.Memory";

static cublasHandle_t blas;

struct Memory {
  char *bytes;
  size_t count;
};

static Memory scratch; /* of one call */

/* --- errors, time, memory ----------------------------------------------------- */

static void check(lua_State *L, cudaError_t code) {
  if (code != cudaSuccess) luaL_error(L, "CUDA: %s", cudaGetErrorString(code));
}

static void check(lua_State *L, cublasStatus_t code) {
  if (code != CUBLAS_STATUS_SUCCESS) luaL_error(L, "cuBLAS: %s", cublasGetStatusString(code));
}

static double now() {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Waits, and pushes the seconds since the start. */
static int push_seconds(lua_State *L, double start) {
  check(L, cudaDeviceSynchronize());
  lua_pushnumber(L, now() - start);
  return 1;
}

static void release(Memory *m) {
  cudaFree(m->bytes);
  m->bytes = NULL;
  m->count = 0;
}

static void allocate(lua_State *L, Memory *m, size_t count) {
  release(m);
  check(L, cudaMalloc(&m->bytes, count));
  m->count = count;
}

/* At least so many bytes of scratch memory. */
static char *reserve(lua_State *L, size_t count) {
  if (scratch.count < count) allocate(L, &scratch, count);
  return scratch.bytes;
}

static char *check_memory(lua_State *L, int arg) {
  return static_cast<Memory *>(luaL_checkudata(L, arg, MEMORY))->bytes;
}

static bool is_double(lua_State *L, int arg) {
  static const char *const dtypes[] = {"float", "double", NULL};
  return luaL_checkoption(L, arg, NULL, dtypes) == 1;
}

/* memory(bytes or how many) */
static int cuda_memory(lua_State *L) {
  const bool is_text = lua_type(L, 1) == LUA_TSTRING;
  const size_t count = is_text ? lua_rawlen(L, 1) : (size_t)luaL_checkinteger(L, 1);
  Memory *m = static_cast<Memory *>(lua_newuserdatauv(L, sizeof *m, 0));
  m->bytes = NULL;
  luaL_setmetatable(L, MEMORY);
  allocate(L, m, count);
  if (is_text) check(L, cudaMemcpy(m->bytes, lua_tostring(L, 1), count, cudaMemcpyHostToDevice));
  return 1;
}

/* string(memory[, count]): its first bytes, all unless said */
static int cuda_string(lua_State *L) {
  const Memory *m = static_cast<Memory *>(luaL_checkudata(L, 1, MEMORY));
  const size_t count = (size_t)luaL_optinteger(L, 2, (lua_Integer)m->count);
  luaL_argcheck(L, count <= m->count, 2, "more bytes than there are");
  luaL_Buffer b;
  char *to = luaL_buffinitsize(L, &b, count);
  check(L, cudaMemcpy(to, m->bytes, count, cudaMemcpyDeviceToHost));
  luaL_pushresultsize(&b, count);
  return 1;
}

static int memory_gc(lua_State *L) {
  release(static_cast<Memory *>(luaL_checkudata(L, 1, MEMORY)));
  return 0;
}
