/* SPDX-License-Identifier: MIT */
/*
 * Executors: who builds and runs the kernels of a context. There are two: this process
 * (executor_local.c), and a worker process (executor_isolated.c), so that what a kernel or a
 * compiler does wrong ends the worker alone. All else happens in this process on every device:
 * transfers, and what OpenCL tells of programs and kernels.
 */
#ifndef CLC_EXECUTOR_H
#define CLC_EXECUTOR_H

#include "profile.h"
#include "worker/worker.h"

typedef struct clc_Context clc_Context;
typedef struct clc_Device clc_Device;
typedef struct clc_Event clc_Event;

/* What a call of OpenCL returned, and which call it was. */
typedef struct clc_Outcome {
  cl_int code;
  const char *call;
} clc_Outcome;

/* --- programs -------------------------------------------------------------- */

/* Options of each build begin with this: the arguments of kernels can be asked for. */
#define CLC_ARG_INFO "-cl-kernel-arg-info "

/* What a program is built of. */
typedef struct clc_Sources {
  const char *name;    /* in messages */
  const char *options; /* of the compiler */
  clc_Form form;
  const char *parts[3]; /* of a text, one after the other; of another form the first alone */
  size_t length;        /* bytes of another form */
} clc_Sources;

/* What an executor keeps of sources to build them again; programs and kernels share it. */
typedef struct clc_Recipe clc_Recipe;

/* A built program. Both are NULL once the owner of this struct was released. */
typedef struct clc_Code {
  cl_program program;
  clc_Recipe *recipe; /* NULL where the executor keeps none */
  int is_shared;      /* it is built for the serial device, too */
} clc_Code;

void clc_releasecode(clc_Code *code);

/* Each holder of a recipe releases it once; of NULL both do nothing. */
clc_Recipe *clc_retainrecipe(clc_Recipe *r);
void clc_releaserecipe(clc_Recipe *r);

/* --- launches -------------------------------------------------------------- */

/* One command of a launch; without `has_group` the driver chooses a group. */
typedef struct clc_Part {
  size_t offset[3], global[3], group[3];
  int has_group;
} clc_Part;

/* Whether the first group along a dimension begins above 0, and whether the last one is smaller. */
int clc_isshifted(const clc_Part *part);
int clc_isnonuniform(const clc_Part *part);

#define CLC_VARIANTS 8

/* What is known of how long the launches of a kernel take, where the serial device can run it. */
typedef struct clc_Pace {
  uint64_t variants[CLC_VARIANTS]; /* that the device's threads have run, a ring; 0: none */
  unsigned latest;                 /* where the last one stands */
  int is_known;
  double per_item;    /* seconds of a work-item there, as last seen, where that is known */
  uint64_t watched;   /* ticket of the launch on the device's threads that was watched; 0: none */
  unsigned trials;    /* that were too long */
  unsigned long wait; /* watched launches until the next one */
} clc_Pace;

/* A kernel with its arguments, over all parts of a range. */
typedef struct clc_Launch {
  cl_kernel *kernel;    /* its owner's: NULL there once that was released */
  clc_Pace *pace;       /* its owner's; NULL: the serial device cannot run it */
  const char *name;     /* OpenCL's */
  const char *what;     /* "kernel 'name'" */
  clc_Counter *counter; /* counts it while it is profiled */
  size_t bytes;         /* of the buffers among its arguments, for the counter */
  cl_uint dims;         /* of each part */
  const clc_Part *parts;
  int n;            /* parts */
  clc_Event *event; /* learns of the commands; NULL: nobody will ask */
} clc_Launch;

/* --- the interface --------------------------------------------------------- */

typedef struct clc_Executor {
  int is_isolated;    /* what scripts are told of the device */
  int makes_binaries; /* what this process compiles is what runs: its binaries are worth keeping */

  void (*init)(clc_Context *c);               /* of a new context */
  void (*open)(lua_State *L, clc_Context *c); /* at its first use */
  void (*close)(clc_Context *c);              /* when it is released */

  /* Memory for the kernels of a context; *start: where it begins, as a clc_Region
     says it. */
  cl_mem (*new_memory)(clc_Context *c, size_t bytes, uint64_t *start, clc_Outcome *outcome);

  /* The same for an image of layout->region.bytes; where it begins goes into the layout. */
  cl_mem (*new_image)(clc_Context *c, clc_Layout *layout, clc_Outcome *outcome);

  /* Stores the recipe of sources at *recipe, which an object owns already. */
  void (*new_recipe)(lua_State *L, clc_Context *c, const clc_Sources *s, clc_Recipe **recipe);

  /* Builds code->program of sources, which the recipe is of. Returns what clBuildProgram says in
     this process, where the build log is; raises what else goes wrong. May run Lua code. */
  cl_int (*build)(lua_State *L, clc_Device *d, const clc_Sources *s, clc_Code *code);

  /* Calls clBuildProgram, and returns its code: a step of clc_localexecutor's `build`. */
  cl_int (*compile)(lua_State *L, clc_Device *d, cl_program program, const char *options);

  /* Begins a launch, before the arguments are set: makes sure that the kernel of that name can run.
     May run Lua code. `recipe` is where the kernel keeps it. */
  void (*begin)(lua_State *L, clc_Device *d, clc_Recipe *const *recipe, const char *kernel,
                const char *what);

  /* Set argument i of the launch, and return the code of clSetKernelArg; nothing raises and no Lua
     code runs. A value of NULL is local memory, or a pointer of NULL. `region` is where `mem` lies,
     from *start above on. */
  cl_int (*set_value)(clc_Device *d, cl_kernel kernel, cl_uint i, size_t size, const void *value);
  cl_int (*set_memory)(clc_Device *d, cl_kernel kernel, cl_uint i, cl_mem mem,
                       const clc_Region *region);
  cl_int (*set_image)(clc_Device *d, cl_kernel kernel, cl_uint i, cl_mem image,
                      const clc_Layout *layout);
  cl_int (*set_sampler)(clc_Device *d, cl_kernel kernel, cl_uint i, cl_sampler sampler,
                        const clc_Sampling *sampling);

  /* Keep what kernels print from now on; push it as a text, and keep no more; forget it, where
     pushing it raised too. The queue is empty when the first two are called. */
  void (*keep_output)(lua_State *L, clc_Device *d);
  void (*push_output)(lua_State *L, clc_Device *d);
  void (*drop_output)(clc_Device *d);

  /* Launches the kernel with the arguments that are set. */
  void (*launch)(lua_State *L, clc_Device *d, const clc_Launch *launch);
} clc_Executor;

extern const clc_Executor clc_localexecutor, clc_isolatedexecutor;

#endif
