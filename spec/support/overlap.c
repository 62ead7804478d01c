/* SPDX-License-Identifier: MIT */
/* For LD_PRELOAD: the process ends where two threads ask for platforms or devices at once. Each
   question takes so long that they would. */
#define _DEFAULT_SOURCE /* usleep */
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

typedef cl_int GetPlatforms(cl_uint, cl_platform_id *, cl_uint *);
typedef cl_int GetDevices(cl_platform_id, cl_device_type, cl_uint, cl_device_id *, cl_uint *);

static atomic_int inside;

static void *enter(const char *name) {
  if (atomic_fetch_add(&inside, 1) > 0) abort();
  usleep(20000);
  return dlsym(dlopen("libOpenCL.so.1", RTLD_LAZY), name);
}

static cl_int leave(cl_int code) {
  atomic_fetch_sub(&inside, 1);
  return code;
}

cl_int clGetPlatformIDs(cl_uint room, cl_platform_id *ids, cl_uint *n) {
  union {
    void *object;
    GetPlatforms *call;
  } own = {enter("clGetPlatformIDs")};
  return leave(own.call(room, ids, n));
}

cl_int clGetDeviceIDs(cl_platform_id platform, cl_device_type type, cl_uint room, cl_device_id *ids,
                      cl_uint *n) {
  union {
    void *object;
    GetDevices *call;
  } own = {enter("clGetDeviceIDs")};
  return leave(own.call(platform, type, room, ids, n));
}
