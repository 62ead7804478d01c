/* SPDX-License-Identifier: MIT */
/* The device that a worker serves, and the answer it is about to give. */
#include "service.h"

#include <stdio.h>
#include <stdlib.h>

int clc_succeeds(clc_Service *s, cl_int code, const char *call) {
  if (code != CL_SUCCESS && s->answer.code == CL_SUCCESS) {
    s->answer.code = code;
    snprintf(s->answer.call, sizeof s->answer.call, "%s", call);
  }
  return code == CL_SUCCESS;
}

static cl_platform_id find_platform(clc_Service *s, uint64_t place) {
  cl_uint n = 0;
  cl_platform_id found = NULL;
  if (!clc_succeeds(s, clGetPlatformIDs(0, NULL, &n), "clGetPlatformIDs")) return NULL;
  cl_platform_id *ids = calloc(n + 1, sizeof *ids);
  if (ids != NULL && place < n &&
      clc_succeeds(s, clGetPlatformIDs(n, ids, NULL), "clGetPlatformIDs"))
    found = ids[place];
  if (ids == NULL) clc_succeeds(s, CL_OUT_OF_HOST_MEMORY, "clGetPlatformIDs");
  free(ids);
  clc_succeeds(s, found != NULL ? CL_SUCCESS : CL_INVALID_PLATFORM, "clGetPlatformIDs");
  return found;
}

static cl_device_id find_device(clc_Service *s, cl_platform_id platform, uint32_t place) {
  cl_uint n = 0;
  cl_device_id found = NULL;
  cl_int code = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, NULL, &n);
  if (!clc_succeeds(s, code, "clGetDeviceIDs")) return NULL;
  cl_device_id *ids = calloc(n + 1, sizeof *ids);
  if (ids != NULL) code = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, n, ids, NULL);
  if (ids != NULL && place < n && clc_succeeds(s, code, "clGetDeviceIDs")) found = ids[place];
  if (ids == NULL) clc_succeeds(s, CL_OUT_OF_HOST_MEMORY, "clGetDeviceIDs");
  free(ids);
  clc_succeeds(s, found != NULL ? CL_SUCCESS : CL_INVALID_DEVICE, "clGetDeviceIDs");
  return found;
}

void clc_openservice(clc_Service *s, uint64_t platform, uint32_t device) {
  const cl_platform_id id = find_platform(s, platform);
  const cl_context_properties props[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)id, 0};
  cl_int code;
  if (id == NULL || (s->device = find_device(s, id, device)) == NULL) return;
  s->context = clCreateContext(props, 1, &s->device, NULL, NULL, &code);
  if (!clc_succeeds(s, code, "clCreateContext")) return;
  /* Every version has this call. */
  s->queue = clCreateCommandQueue(s->context, s->device, CL_QUEUE_PROFILING_ENABLE, &code);
  clc_succeeds(s, code, "clCreateCommandQueue");
}

void clc_closeservice(clc_Service *s) {
  if (s->queue != NULL) clReleaseCommandQueue(s->queue);
  if (s->context != NULL) clReleaseContext(s->context);
}
