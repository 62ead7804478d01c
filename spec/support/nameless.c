/* SPDX-License-Identifier: MIT */
/* For LD_PRELOAD: question $NAMELESS for the names of a program's kernels fails. */
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <dlfcn.h>
#include <stdlib.h>

typedef cl_int Ask(cl_program, cl_program_info, size_t, void *, size_t *);

cl_int clGetProgramInfo(cl_program program, cl_program_info what, size_t size, void *value,
                        size_t *needed) {
  static int asked;
  union {
    void *object;
    Ask *call;
  } next = {dlsym(dlopen("libOpenCL.so.1", RTLD_LAZY), "clGetProgramInfo")};
  const char *failing = getenv("NAMELESS");
  if (what == CL_PROGRAM_KERNEL_NAMES && failing != NULL && ++asked == atoi(failing))
    return CL_OUT_OF_HOST_MEMORY;
  return next.call(program, what, size, value, needed);
}
