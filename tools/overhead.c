/* SPDX-License-Identifier: MIT */
/*
 * The yardstick of `make bench-overhead`: the OpenCL calls of a launch from C, with
 * a context, a program and buffers of its own on the device that the library uses.
 */
#define _POSIX_C_SOURCE 200809L
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <lauxlib.h>
#include <lua.h>
#include <string.h>
#include <time.h>

static cl_device_id device;
static cl_context context;
static cl_command_queue queue;
static cl_kernel work, empty, gate;
static cl_mem x, out;

static void check(lua_State *L, cl_int code, const char *call) {
  if (code != CL_SUCCESS) luaL_error(L, "%s: %d", call, (int)code);
}

static double read_clock(clockid_t id) {
  struct timespec t;
  clock_gettime(id, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* cpu(): seconds of processor time of this thread, without the driver's. */
static int overhead_cpu(lua_State *L) {
  lua_pushnumber(L, read_clock(CLOCK_THREAD_CPUTIME_ID));
  return 1;
}

static void find_device(lua_State *L, lua_Integer p, lua_Integer d) {
  cl_platform_id platforms[16];
  cl_device_id devices[16];
  cl_uint n;
  check(L, clGetPlatformIDs(16, platforms, &n), "clGetPlatformIDs");
  luaL_argcheck(L, p >= 0 && p < n && p < 16, 1, "no such platform");
  check(L, clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, 16, devices, &n), "clGetDeviceIDs");
  luaL_argcheck(L, d >= 0 && d < n && d < 16, 2, "no such device");
  device = devices[d];
}

/* open(platform, device, source, n): kernels `work`, `empty` and `gate` of the source, and
   buffers of n floats. */
static int overhead_open(lua_State *L) {
  const char *source = luaL_checkstring(L, 3);
  const size_t bytes = (size_t)luaL_checkinteger(L, 4) * sizeof(cl_float);
  cl_int code;
  find_device(L, luaL_checkinteger(L, 1), luaL_checkinteger(L, 2));
  context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
  check(L, code, "clCreateContext");
  queue = clCreateCommandQueue(context, device, 0, &code);
  check(L, code, "clCreateCommandQueue");
  cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &code);
  check(L, code, "clCreateProgramWithSource");
  check(L, clBuildProgram(program, 1, &device, "", NULL, NULL), "clBuildProgram");
  work = clCreateKernel(program, "work", &code);
  check(L, code, "clCreateKernel");
  empty = clCreateKernel(program, "empty", &code);
  check(L, code, "clCreateKernel");
  gate = clCreateKernel(program, "gate", &code);
  check(L, code, "clCreateKernel");
  x = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, NULL, &code);
  check(L, code, "clCreateBuffer");
  out = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, NULL, &code);
  check(L, code, "clCreateBuffer");
  return 0;
}

/* write(packed floats) into x */
static int overhead_write(lua_State *L) {
  size_t bytes;
  const char *from = luaL_checklstring(L, 1, &bytes);
  check(L, clEnqueueWriteBuffer(queue, x, CL_TRUE, 0, bytes, from, 0, NULL, NULL),
        "clEnqueueWriteBuffer");
  return 0;
}

/* read(n): out's floats, packed */
static int overhead_read(lua_State *L) {
  const size_t bytes = (size_t)luaL_checkinteger(L, 1) * sizeof(cl_float);
  void *to = lua_newuserdatauv(L, bytes, 0);
  check(L, clEnqueueReadBuffer(queue, out, CL_TRUE, 0, bytes, to, 0, NULL, NULL),
        "clEnqueueReadBuffer");
  lua_pushlstring(L, to, bytes);
  return 1;
}

/* shut(turns): queues `gate`, behind which launches pile up. */
static int overhead_shut(lua_State *L) {
  const cl_int turns = (cl_int)luaL_checkinteger(L, 1);
  const size_t one = 1;
  clSetKernelArg(gate, 0, sizeof out, &out);
  clSetKernelArg(gate, 1, sizeof turns, &turns);
  check(L, clEnqueueNDRangeKernel(queue, gate, 1, NULL, &one, &one, 0, NULL, NULL),
        "clEnqueueNDRangeKernel");
  check(L, clFlush(queue), "clFlush");
  return 0;
}

/* launch(count, n, group, factor): queues `work` so often; seconds of this thread. */
static int overhead_launch(lua_State *L) {
  const lua_Integer count = luaL_checkinteger(L, 1);
  const size_t global = (size_t)luaL_checkinteger(L, 2), group = (size_t)luaL_checkinteger(L, 3);
  const cl_int n = (cl_int)global;
  const cl_float factor = (cl_float)luaL_checknumber(L, 4);
  cl_int code = CL_SUCCESS;
  const double start = read_clock(CLOCK_THREAD_CPUTIME_ID);
  for (lua_Integer i = 0; i < count; i++) {
    code |= clSetKernelArg(work, 0, sizeof out, &out);
    code |= clSetKernelArg(work, 1, sizeof x, &x);
    code |= clSetKernelArg(work, 2, sizeof factor, &factor);
    code |= clSetKernelArg(work, 3, sizeof n, &n);
    code |= clEnqueueNDRangeKernel(queue, work, 1, NULL, &global, &group, 0, NULL, NULL);
  }
  const double end = read_clock(CLOCK_THREAD_CPUTIME_ID);
  check(L, code, "launch");
  lua_pushnumber(L, end - start);
  return 1;
}

/* replay(count, n, group): queues `work` so often with the arguments it has; seconds of this
 * thread. */
static int overhead_replay(lua_State *L) {
  const lua_Integer count = luaL_checkinteger(L, 1);
  const size_t global = (size_t)luaL_checkinteger(L, 2), group = (size_t)luaL_checkinteger(L, 3);
  cl_int code = CL_SUCCESS;
  const double start = read_clock(CLOCK_THREAD_CPUTIME_ID);
  for (lua_Integer i = 0; i < count; i++)
    code |= clEnqueueNDRangeKernel(queue, work, 1, NULL, &global, &group, 0, NULL, NULL);
  const double end = read_clock(CLOCK_THREAD_CPUTIME_ID);
  check(L, code, "clEnqueueNDRangeKernel");
  lua_pushnumber(L, end - start);
  return 1;
}

/* finish(): waits for all that is queued. */
static int overhead_finish(lua_State *L) {
  check(L, clFinish(queue), "clFinish");
  return 0;
}

/* get(count): so many elements read, each by itself; seconds on the clock. */
static int overhead_get(lua_State *L) {
  const lua_Integer count = luaL_checkinteger(L, 1);
  cl_float value;
  cl_int code = CL_SUCCESS;
  const double start = read_clock(CLOCK_MONOTONIC);
  for (lua_Integer i = 0; i < count; i++)
    code |= clEnqueueReadBuffer(queue, x, CL_TRUE, 0, sizeof value, &value, 0, NULL, NULL);
  const double end = read_clock(CLOCK_MONOTONIC);
  check(L, code, "clEnqueueReadBuffer");
  lua_pushnumber(L, end - start);
  return 1;
}

/* set(count): so many elements filled, each by itself; seconds of this thread. */
static int overhead_set(lua_State *L) {
  const lua_Integer count = luaL_checkinteger(L, 1);
  const cl_float value = 1;
  cl_int code = CL_SUCCESS;
  const double start = read_clock(CLOCK_THREAD_CPUTIME_ID);
  for (lua_Integer i = 0; i < count; i++) {
    code |= clEnqueueFillBuffer(queue, x, &value, sizeof value, 0, sizeof value, 0, NULL, NULL);
    if (i == 0) clFlush(queue);
  }
  const double end = read_clock(CLOCK_THREAD_CPUTIME_ID);
  check(L, code, "clEnqueueFillBuffer");
  check(L, clFinish(queue), "clFinish");
  lua_pushnumber(L, end - start);
  return 1;
}

/* await(count): launches of the empty kernel, each waited for; seconds on the clock. */
static int overhead_await(lua_State *L) {
  const lua_Integer count = luaL_checkinteger(L, 1);
  const size_t one = 1;
  cl_int code = CL_SUCCESS;
  const double start = read_clock(CLOCK_MONOTONIC);
  for (lua_Integer i = 0; i < count; i++) {
    code |= clEnqueueNDRangeKernel(queue, empty, 1, NULL, &one, &one, 0, NULL, NULL);
    code |= clFinish(queue);
  }
  const double end = read_clock(CLOCK_MONOTONIC);
  check(L, code, "empty launch");
  lua_pushnumber(L, end - start);
  return 1;
}

/* create(count): buffers of 1 KiB made and released; seconds of this thread. */
static int overhead_create(lua_State *L) {
  const lua_Integer count = luaL_checkinteger(L, 1);
  cl_int code = CL_SUCCESS;
  const double start = read_clock(CLOCK_THREAD_CPUTIME_ID);
  for (lua_Integer i = 0; i < count && code == CL_SUCCESS; i++)
    clReleaseMemObject(clCreateBuffer(context, CL_MEM_READ_WRITE, 1024, NULL, &code));
  const double end = read_clock(CLOCK_THREAD_CPUTIME_ID);
  check(L, code, "clCreateBuffer");
  lua_pushnumber(L, end - start);
  return 1;
}

__attribute__((visibility("default"))) int luaopen_overhead(lua_State *L) {
  static const luaL_Reg functions[] = {{"cpu", overhead_cpu},
                                       {"open", overhead_open},
                                       {"write", overhead_write},
                                       {"read", overhead_read},
                                       {"shut", overhead_shut},
                                       {"launch", overhead_launch},
                                       {"finish", overhead_finish},
                                       {"get", overhead_get},
                                       {"set", overhead_set},
                                       {"await", overhead_await},
                                       {"create", overhead_create},
                                       {"replay", overhead_replay},
                                       {NULL, NULL}};
  luaL_newlib(L, functions);
  return 1;
}
