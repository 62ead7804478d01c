/* SPDX-License-Identifier: MIT */
/*
 * Isolation: devices whose kernels are built and run by a worker process. All else stays here:
 * transfers, and what OpenCL tells of programs and kernels, which are built here once the worker
 * survived them. Memory is shared, so nothing is copied. A launch ends before its call does.
 */
#ifndef CLC_ISOLATION_H
#define CLC_ISOLATION_H

#include "device.h"

/* What a program is built of, to build it again in a new worker; programs and kernels share it. */
typedef struct clc_Recipe clc_Recipe;

/* What a call of OpenCL returned, and which call it was. */
typedef struct {
  cl_int code;
  const char *call;
} clc_Outcome;

/* Memory of an isolated device: all of a piece of its arena, and where that begins. */
cl_mem clc_newshared(clc_Device *d, size_t bytes, uint64_t *start, clc_Outcome *result);

/* NULL: no memory is left. Each holder releases it once. */
clc_Recipe *clc_newrecipe(clc_Device *d, const char *options, const char *const parts[3]);
clc_Recipe *clc_retainrecipe(clc_Recipe *r);
void clc_releaserecipe(clc_Recipe *r);

/*
 * Has the worker build it, unless it did; tells the code of that build, and the call that gave it.
 * Raises when the worker died of it, or over the limit: `name` is what it was building. `recipe` is
 * where its owner keeps it: NULL there once a hook has released the owner.
 */
clc_Answer clc_tryrecipe(lua_State *L, clc_Device *d, clc_Recipe *const *recipe, const char *name);

/*
 * A launch: makes sure of the worker and its program, which may run Lua code; then takes the
 * arguments, which raises nothing and does nothing on other devices; then launches each part.
 * `value` NULL is local memory.
 */
void clc_beginlaunch(lua_State *L, clc_Device *d, clc_Recipe *const *recipe, const char *kernel,
                     const char *what);
void clc_passvalue(clc_Device *d, cl_uint i, size_t size, const void *value);
void clc_passmemory(clc_Device *d, cl_uint i, const clc_Region *region);
void clc_launchpart(lua_State *L, clc_Device *d, const char *what, const clc_Grid *grid,
                    cl_ulong when[4]);

#endif
