/* SPDX-License-Identifier: MIT */
/* Contexts: what the queues on one OpenCL device share. */
#ifndef CLC_CONTEXT_H
#define CLC_CONTEXT_H

#include "executor.h"
#include "pool.h"

struct clc_Context {
  clc_Handle h; /* owns the devices that are its queues; no script sees it */
  clc_Place place;
  const clc_Executor *executor; /* who builds and runs the kernels */
  cl_context cl;                /* OpenCL's; NULL until first use */

  /* Facts of the device. */
  int version; /* of device and platform, the lower one: 100 * major + minor */
  int is_cpu;
  int is_pocl, is_pocl31;   /* of any version; of Debian 12's */
  int is_simulator;         /* it checks every access, and takes its time */
  int has_host_memory;      /* kernels compute on the host's memory, as it is */
  const char *quiet_option; /* keeps the compiler from writing to stderr; "" where there is none */
  int begins_at_once;       /* what is queued, without a flush; that takes as long as a quarter of a
                               launch */
  int dislikes_arg_info;    /* the compiler fails on kernels without parameters if it is to tell of
                               those of others */
  int understates;          /* kernels take larger groups, and buffers are larger, than the driver
                               says */
  int has_double;
  int has_nonuniform_groups;
  int has_linker; /* the one POCL needs was looked for and found */
  size_t compute_units;
  size_t align;         /* bytes a sub-buffer must start on */
  size_t max_group;     /* work-items of a group */
  size_t max_groups[3]; /* work-items along each dimension of a group */
  size_t max_arguments; /* bytes of a kernel's arguments */
  cl_ulong local_memory;
  cl_ulong global_memory;
  cl_ulong max_allocation;

  /* The account of memory, in bytes. */
  cl_ulong bytes;    /* of all buffers */
  size_t untold;     /* of buffers that the collector has not heard of */
  double collecting; /* seconds that it took when it last heard of some */
  cl_ulong dropped;  /* given to the driver since all queues were seen to be empty */
  clc_Pool pool;     /* released, for buffers to come */
  unsigned queues;   /* devices on it */

  /* Expressions that wait to be computed (csrc/buffer/deferred.c), and what computes those of a
     memory, or all (NULL). */
  struct clc_Buffer *deferred;
  void (*compute)(lua_State *L, struct clc_Context *c, cl_mem mem);

  int careful; /* programs that the compiler may get wrong are built without optimisation */

  int times; /* launches are timed at first */

  /* Check mode. */
  int checks;      /* buffers for scripts are made in check mode */
  int has_checked; /* a buffer was made in check mode */
  unsigned marks;  /* the last mark that the poison of a buffer got */

  struct clc_Recording *recording; /* of one of its queues, which runs; or NULL */

  clc_Counter *transfers[CLC_TRANSFERS]; /* one for each kind of transfer, for cl.profile */

  /* Isolation (executor_isolated.c). */
  clc_TimeLimits limits; /* of each build and launch; 0: it is not isolated */
  clc_Worker worker;     /* the process that runs the kernels */
  uint64_t recipes;      /* the number of the last recipe */
};

extern const clc_Type clc_contexttype;

/* Before something writes to a memory (NULL: to any): computes the expressions that wait for it.
   May run Lua code. */
static inline void clc_beforewrite(lua_State *L, clc_Context *c, cl_mem mem) {
  if (c->deferred != NULL) c->compute(L, c, mem);
}

/* What a context of a part keeps alive by clc_setvalue: the Device that was divided. */
enum { CLC_PARENTVALUE = 1 };

/* Pushes a new context, which opens nothing and has no place yet. One of a part belongs to the
   context of the device that was divided (NULL: it is no part), owns its sub-device, and checks and
   takes care as that does. */
clc_Context *clc_newcontext(lua_State *L, const clc_Executor *executor, clc_Context *parent);

/* Asks for the facts of the device at its place. */
void clc_learnplace(lua_State *L, clc_Context *c);

/* Makes OpenCL's context, unless it is there, and opens the executor. */
void clc_opencontext(lua_State *L, clc_Context *c);

/* Makes the type; a part of clc_opendevices. */
void clc_opencontexts(lua_State *L);

#endif
