/* SPDX-License-Identifier: MIT */
/* Errors: OpenCL codes in words, and the one way to raise them. */
#ifndef CLC_ERROR_H
#define CLC_ERROR_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS /* clCreateCommandQueue, below 2.0 */
#include <CL/cl.h>
#include <lauxlib.h>
#include <lua.h>

/* The symbolic name of a code ("CL_INVALID_VALUE"), or "unknown code". */
const char *clc_codename(cl_int code);

/* Raises "call: NAME (code)" unless the code is CL_SUCCESS. */
void clc_check(lua_State *L, cl_int code, const char *call);

/* Raises "call: NAME (code): detail"; the detail is a lua_pushfstring format. */
int clc_raise(lua_State *L, cl_int code, const char *call, const char *detail, ...);

/* luaL_argerror with a lua_pushfstring format. */
int clc_argerror(lua_State *L, int arg, const char *complaint, ...);

/* What is said of a buffer that does not go with the others, or with a kernel. */
#define CLC_OTHER_DEVICE "the buffer lives on another device; b:copy(device) moves it"

/* What is said behind the name of an object that a hook or a finalizer released during a call. */
#define CLC_RELEASED " was released meanwhile"

/* True for the codes that mean "no memory left", which a collection may cure. */
int clc_isoutofmemory(cl_int code);

#endif
