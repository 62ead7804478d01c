/* SPDX-License-Identifier: MIT */
/* Contexts: what the queues on one OpenCL device share. */
#include "context.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"

#define PATIENCE 0.5 /* seconds that the end of a part waits for the driver's threads */

/* Whether nothing but this handle keeps OpenCL's context. */
static int is_last(const clc_Context *c) {
  cl_uint references = 0;
  clGetContextInfo(c->cl, CL_CONTEXT_REFERENCE_COUNT, sizeof references, &references, NULL);
  return references == 1;
}

/* POCL 3.1 frees a sub-device at its last release, whatever is on it. When a command has ended, a
   thread of the driver has yet to let go of its event, and of the queue and the context with it, by
   what the device says. */
static void release_part(clc_Context *c) {
  const double start = clc_now();
  if (c->cl != NULL && c->is_pocl)
    while (!is_last(c) && clc_now() - start < PATIENCE) clc_rest(clc_now() - start);
  if (c->cl != NULL) clReleaseContext(c->cl);
  clReleaseDevice(c->place.device);
}

static void context_release(clc_Handle *h) {
  clc_Context *c = (clc_Context *)h;
  clc_releaseowned(h);
  clc_closepool(&c->pool);
  if (*c->place.part != '\0')
    release_part(c);
  else if (c->cl != NULL)
    clReleaseContext(c->cl);
  c->cl = NULL;
  c->executor->close(c);
}

/* In messages it is the device. */
const clc_Type clc_contexttype = {
    "device", "clcompute.Context", sizeof(clc_Context), context_release, 1, NULL};

/* What a variable of the environment switches on from the start; `otherwise` where it is not set,
   or to nothing. */
static int is_on(const char *variable, int otherwise) {
  static const char *const off[] = {"0", "off", "no", "false"};
  const char *value = getenv(variable);
  if (value == NULL || *value == '\0') return otherwise;
  for (size_t i = 0; i < sizeof off / sizeof *off; i++)
    if (strcmp(value, off[i]) == 0) return 0;
  return 1;
}

/* Clang counts errors and warnings on stderr, unless it shows no carets. Oclgrind hands the option
   on. POCL 3.1 takes no such option, but one word with a tab in it, two for its compiler. */
#define QUIET " -fno-caret-diagnostics"
#define POCL_QUIET " -DCLC_QUIET\t-fno-caret-diagnostics"

static void fill_facts(lua_State *L, clc_Context *c) {
  const cl_device_id id = c->place.device;
  int device = clc_parseversion(clc_pushdevicetext(L, id, CL_DEVICE_VERSION));
  int platform = clc_parseversion(clc_pushplatformtext(L, c->place.platform, CL_PLATFORM_VERSION));
  /* Driver 580 says 256 of every kernel, also of one that requires 1024, and takes up to
     the device's limit; a kernel that needs too many registers fails at its launch. Of buffers it
     says a quarter of the memory, and gives all. */
  const char *name = clc_pushplatformtext(L, c->place.platform, CL_PLATFORM_NAME);
  const char *release = clc_pushplatformtext(L, c->place.platform, CL_PLATFORM_VERSION);
  c->understates = c->dislikes_arg_info = c->begins_at_once = strstr(name, "NVIDIA") != NULL;
  c->is_simulator = strstr(name, "Oclgrind") != NULL;
  c->is_pocl = strcmp(name, "Portable Computing Language") == 0;
  c->is_pocl31 = c->is_pocl && strstr(release, "PoCL 3.1") != NULL;
  c->quiet_option = c->is_pocl31 ? POCL_QUIET : c->is_simulator ? QUIET : "";
  lua_pop(L, 4);
  c->version = device < platform ? device : platform;
  c->is_cpu = (clc_checkdevicenumber(L, id, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU) != 0;
  c->has_host_memory = c->is_cpu && !c->is_simulator;
  c->compute_units = (size_t)clc_checkdevicenumber(L, id, CL_DEVICE_MAX_COMPUTE_UNITS);
  c->has_nonuniform_groups = clc_hasnonuniformgroups(L, id, c->version);
  c->has_double = clc_optdevicenumber(L, id, CL_DEVICE_DOUBLE_FP_CONFIG, 0) != 0;
  c->align = (size_t)clc_checkdevicenumber(L, id, CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8;
  c->max_group = (size_t)clc_checkdevicenumber(L, id, CL_DEVICE_MAX_WORK_GROUP_SIZE);
  c->max_arguments = (size_t)clc_checkdevicenumber(L, id, CL_DEVICE_MAX_PARAMETER_SIZE);
  size_t sizes[8] = {1, 1, 1}; /* OpenCL allows more than three dimensions */
  clc_check(L, clGetDeviceInfo(id, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof sizes, sizes, NULL),
            "clGetDeviceInfo");
  memcpy(c->max_groups, sizes, sizeof c->max_groups);
  c->local_memory = clc_checkdevicenumber(L, id, CL_DEVICE_LOCAL_MEM_SIZE);
  c->global_memory = clc_checkdevicenumber(L, id, CL_DEVICE_GLOBAL_MEM_SIZE);
  c->max_allocation = c->understates ? c->global_memory
                                     : clc_checkdevicenumber(L, id, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
}

/* A processor's memory is that of all programs. A simulator that checks accesses is to see the
   bytes of a buffer, and no others; a worker is to have no memory that it was not given for a
   launch. */
static cl_ulong pool_size(const clc_Context *c) {
  const int checks = c->is_simulator || c->executor->is_isolated;
  if (checks || !is_on("CLCOMPUTE_POOL", 1)) return 0;
  return c->global_memory / (c->is_cpu ? 64 : 8);
}

/* Made before it is needed: nothing may allocate where a transfer is queued. */
static void make_counters(lua_State *L, clc_Context *c) {
  for (clc_Kind kind = 0; kind < CLC_TRANSFERS; kind++)
    c->transfers[kind] = clc_findcounter(L, &c->place, kind, clc_kindname(kind));
}

clc_Context *clc_newcontext(lua_State *L, const clc_Executor *executor, clc_Context *parent) {
  clc_Context *c = clc_newhandle(L, &clc_contexttype, parent != NULL ? &parent->h : NULL, 0);
  c->executor = executor;
  c->checks = parent != NULL ? parent->checks : is_on("CLCOMPUTE_CHECK", 0);
  c->careful = parent != NULL ? parent->careful : is_on("CLCOMPUTE_CAREFUL", 0);
  c->times = is_on("CLCOMPUTE_TIMING", 0);
  executor->init(c);
  return c;
}

void clc_learnplace(lua_State *L, clc_Context *c) {
  fill_facts(L, c);
  c->pool.most = pool_size(c);
  make_counters(L, c);
}

void clc_opencontext(lua_State *L, clc_Context *c) {
  const cl_context_properties props[] = {CL_CONTEXT_PLATFORM,
                                         (cl_context_properties)c->place.platform, 0};
  const cl_device_id ids[] = {c->place.device, c->place.serial};
  cl_int code;
  if (c->version < 102)
    luaL_error(L, "this device has OpenCL %d.%d; clcompute needs 1.2", c->version / 100,
               c->version % 100);
  if (c->cl == NULL) {
    c->cl = clCreateContext(props, ids[1] != NULL ? 2 : 1, ids, NULL, NULL, &code);
    if (code != CL_SUCCESS) c->cl = NULL;
    clc_check(L, code, "clCreateContext");
  }
  c->executor->open(L, c);
}

void clc_opencontexts(lua_State *L) {
  clc_openhidden(L, &clc_contexttype);
}
