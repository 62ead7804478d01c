/* SPDX-License-Identifier: MIT */
/* Errors: OpenCL codes in words, and the one way to raise them. */
#include "error.h"

#include <stdarg.h>
#include <stddef.h>

/* clang-format off */
static const struct { cl_int code; const char *name; } codes[] = {
#define ROW(name) {name, #name}
    ROW(CL_SUCCESS), ROW(CL_DEVICE_NOT_FOUND), ROW(CL_DEVICE_NOT_AVAILABLE),
    ROW(CL_COMPILER_NOT_AVAILABLE), ROW(CL_MEM_OBJECT_ALLOCATION_FAILURE),
    ROW(CL_OUT_OF_RESOURCES), ROW(CL_OUT_OF_HOST_MEMORY),
    ROW(CL_PROFILING_INFO_NOT_AVAILABLE), ROW(CL_MEM_COPY_OVERLAP),
    ROW(CL_IMAGE_FORMAT_MISMATCH), ROW(CL_IMAGE_FORMAT_NOT_SUPPORTED),
    ROW(CL_BUILD_PROGRAM_FAILURE), ROW(CL_MAP_FAILURE),
    ROW(CL_MISALIGNED_SUB_BUFFER_OFFSET),
    ROW(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST),
    ROW(CL_COMPILE_PROGRAM_FAILURE), ROW(CL_LINKER_NOT_AVAILABLE),
    ROW(CL_LINK_PROGRAM_FAILURE), ROW(CL_DEVICE_PARTITION_FAILED),
    ROW(CL_KERNEL_ARG_INFO_NOT_AVAILABLE), ROW(CL_INVALID_VALUE),
    ROW(CL_INVALID_DEVICE_TYPE), ROW(CL_INVALID_PLATFORM),
    ROW(CL_INVALID_DEVICE), ROW(CL_INVALID_CONTEXT),
    ROW(CL_INVALID_QUEUE_PROPERTIES), ROW(CL_INVALID_COMMAND_QUEUE),
    ROW(CL_INVALID_HOST_PTR), ROW(CL_INVALID_MEM_OBJECT),
    ROW(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR), ROW(CL_INVALID_IMAGE_SIZE),
    ROW(CL_INVALID_SAMPLER), ROW(CL_INVALID_BINARY),
    ROW(CL_INVALID_BUILD_OPTIONS), ROW(CL_INVALID_PROGRAM),
    ROW(CL_INVALID_PROGRAM_EXECUTABLE), ROW(CL_INVALID_KERNEL_NAME),
    ROW(CL_INVALID_KERNEL_DEFINITION), ROW(CL_INVALID_KERNEL),
    ROW(CL_INVALID_ARG_INDEX), ROW(CL_INVALID_ARG_VALUE),
    ROW(CL_INVALID_ARG_SIZE), ROW(CL_INVALID_KERNEL_ARGS),
    ROW(CL_INVALID_WORK_DIMENSION), ROW(CL_INVALID_WORK_GROUP_SIZE),
    ROW(CL_INVALID_WORK_ITEM_SIZE), ROW(CL_INVALID_GLOBAL_OFFSET),
    ROW(CL_INVALID_EVENT_WAIT_LIST), ROW(CL_INVALID_EVENT),
    ROW(CL_INVALID_OPERATION), ROW(CL_INVALID_GL_OBJECT),
    ROW(CL_INVALID_BUFFER_SIZE), ROW(CL_INVALID_MIP_LEVEL),
    ROW(CL_INVALID_GLOBAL_WORK_SIZE), ROW(CL_INVALID_PROPERTY),
    ROW(CL_INVALID_IMAGE_DESCRIPTOR), ROW(CL_INVALID_COMPILER_OPTIONS),
    ROW(CL_INVALID_LINKER_OPTIONS), ROW(CL_INVALID_DEVICE_PARTITION_COUNT),
    ROW(CL_INVALID_PIPE_SIZE), ROW(CL_INVALID_DEVICE_QUEUE),
    ROW(CL_INVALID_SPEC_ID), ROW(CL_MAX_SIZE_RESTRICTION_EXCEEDED),
#undef ROW
    {-1001, "CL_PLATFORM_NOT_FOUND_KHR"},
    {-9999, "NVIDIA: illegal read or write to a buffer"},
};
/* clang-format on */

const char *clc_codename(cl_int code) {
  for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
    if (codes[i].code == code) return codes[i].name;
  return "unknown code";
}

void clc_check(lua_State *L, cl_int code, const char *call) {
  if (code != CL_SUCCESS) luaL_error(L, "%s: %s (%d)", call, clc_codename(code), (int)code);
}

int clc_raise(lua_State *L, cl_int code, const char *call, const char *detail, ...) {
  va_list args;
  luaL_where(L, 1);
  lua_pushfstring(L, "%s: %s (%d): ", call, clc_codename(code), (int)code);
  va_start(args, detail);
  lua_pushvfstring(L, detail, args);
  va_end(args);
  lua_concat(L, 3);
  return lua_error(L);
}

int clc_argerror(lua_State *L, int arg, const char *complaint, ...) {
  va_list args;
  va_start(args, complaint);
  const char *text = lua_pushvfstring(L, complaint, args);
  va_end(args);
  return luaL_argerror(L, arg, text);
}

int clc_isoutofmemory(cl_int code) {
  return code == CL_MEM_OBJECT_ALLOCATION_FAILURE || code == CL_OUT_OF_RESOURCES ||
         code == CL_OUT_OF_HOST_MEMORY;
}
