/* SPDX-License-Identifier: MIT */
/* The executor that is this process. */
#include <stdlib.h>

#include "device.h"

static void do_nothing(clc_Context *c) {
  (void)c;
}

static void open_nothing(lua_State *L, clc_Context *c) {
  (void)L;
  (void)c;
}

static void CL_CALLBACK free_pages(cl_mem mem, void *pages) {
  (void)mem;
  clc_freepages(pages);
  free(pages);
}

/* Memory in large pages, which go when OpenCL has let go of it; NULL where it takes none. */
static cl_mem new_in_pages(const clc_Context *c, size_t bytes, cl_int *code) {
  cl_mem mem = NULL;
  clc_Pages *pages = malloc(sizeof *pages);
  *code = CL_OUT_OF_HOST_MEMORY;
  if (pages == NULL) return NULL;
  *pages = clc_newpages(bytes);
  if (pages->memory != NULL)
    mem =
        clCreateBuffer(c->cl, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes, pages->memory, code);
  if (*code == CL_SUCCESS) *code = clSetMemObjectDestructorCallback(mem, free_pages, pages);
  if (*code == CL_SUCCESS) return mem;
  if (mem != NULL) clReleaseMemObject(mem);
  free_pages(NULL, pages);
  return NULL;
}

/* Where there are no pages the driver is not asked: POCL 3.1 says yes, and ends the process at the
   first command that uses the memory. */
static cl_mem new_memory(clc_Context *c, size_t bytes, uint64_t *start, clc_Outcome *outcome) {
  (void)start;
  outcome->call = "clCreateBuffer";
  if (c->has_host_memory && bytes >= CLC_MUCH) {
    cl_mem mem = new_in_pages(c, bytes, &outcome->code);
    if (mem != NULL || outcome->code == CL_OUT_OF_HOST_MEMORY) return mem;
  }
  return clCreateBuffer(c->cl, CL_MEM_READ_WRITE, bytes, NULL, &outcome->code);
}

static cl_mem new_image(clc_Context *c, clc_Layout *layout, clc_Outcome *outcome) {
  outcome->call = "clCreateImage";
  return clCreateImage(c->cl, CL_MEM_READ_WRITE, &layout->format, &layout->desc, NULL,
                       &outcome->code);
}

/* --- programs -------------------------------------------------------------- */

static void new_recipe(lua_State *L, clc_Context *c, const clc_Sources *s, clc_Recipe **recipe) {
  (void)L;
  (void)c;
  (void)s;
  *recipe = NULL;
}

/* Returns the name of the call; what it made belongs to no one if the code is no success. */
static const char *create_program(const clc_Context *c, const clc_Sources *s, cl_program *program,
                                  cl_int *code) {
  cl_int status = CL_SUCCESS;
  switch (s->form) {
    case CLC_BINARY:
      *program = clCreateProgramWithBinary(c->cl, 1, &c->place.device, &s->length,
                                           (const unsigned char **)s->parts, &status, code);
      if (*code == CL_SUCCESS && status != CL_SUCCESS) {
        clReleaseProgram(*program);
        *code = status;
      }
      return "clCreateProgramWithBinary";
    case CLC_IL:
      *program = clCreateProgramWithIL(c->cl, s->parts[0], s->length, code);
      return "clCreateProgramWithIL";
    case CLC_TEXT: break;
  }
  *program = clCreateProgramWithSource(c->cl, 3, (const char **)s->parts, NULL, code);
  return "clCreateProgramWithSource";
}

static cl_int compile(lua_State *L, clc_Device *d, cl_program program, const char *options) {
  (void)L;
  return clBuildProgram(program, 1, &d->context->place.device, options, NULL, NULL);
}

static cl_int build(lua_State *L, clc_Device *d, const clc_Sources *s, clc_Code *code) {
  const clc_Executor *executor = d->context->executor;
  cl_int result;
  if (d->h.released) luaL_error(L, "device is released"); /* by a finalizer */
  const char *call = create_program(d->context, s, &code->program, &result);
  if (result != CL_SUCCESS) code->program = NULL;
  if (result != CL_SUCCESS && s->form != CLC_TEXT) clc_raise(L, result, call, "%s", s->name);
  clc_check(L, result, call);
  result = executor->compile(L, d, code->program, s->options);
  if (result != CL_BUILD_PROGRAM_FAILURE || !d->context->dislikes_arg_info) return result;
  return executor->compile(L, d, code->program, s->options + sizeof CLC_ARG_INFO - 1);
}

void clc_releasecode(clc_Code *code) {
  if (code->program != NULL) clReleaseProgram(code->program);
  clc_releaserecipe(code->recipe);
  *code = (clc_Code){NULL, NULL, 0};
}

/* --- launches -------------------------------------------------------------- */

static void begin(lua_State *L, clc_Device *d, clc_Recipe *const *recipe, const char *kernel,
                  const char *what) {
  (void)L;
  (void)d;
  (void)recipe;
  (void)kernel;
  (void)what;
}

static cl_int set_value(clc_Device *d, cl_kernel kernel, cl_uint i, size_t size,
                        const void *value) {
  (void)d;
  return clSetKernelArg(kernel, i, size, value);
}

static cl_int set_memory(clc_Device *d, cl_kernel kernel, cl_uint i, cl_mem mem,
                         const clc_Region *region) {
  (void)d;
  (void)region;
  return clSetKernelArg(kernel, i, sizeof mem, &mem);
}

static cl_int set_image(clc_Device *d, cl_kernel kernel, cl_uint i, cl_mem image,
                        const clc_Layout *layout) {
  (void)d;
  (void)layout;
  return clSetKernelArg(kernel, i, sizeof image, &image);
}

static cl_int set_sampler(clc_Device *d, cl_kernel kernel, cl_uint i, cl_sampler sampler,
                          const clc_Sampling *sampling) {
  (void)d;
  (void)sampling;
  return clSetKernelArg(kernel, i, sizeof sampler, &sampler);
}

int clc_isshifted(const clc_Part *p) {
  return p->offset[0] != 0 || p->offset[1] != 0 || p->offset[2] != 0;
}

int clc_isnonuniform(const clc_Part *p) {
  for (int i = 0; i < 3; i++)
    if (p->global[i] % p->group[i] != 0) return p->has_group;
  return 0;
}

static void enqueue_part(lua_State *L, clc_Device *d, cl_command_queue queue, const clc_Launch *l,
                         const clc_Part *p, cl_event *event) {
  const cl_int code =
      clEnqueueNDRangeKernel(queue, *l->kernel, l->dims, clc_isshifted(p) ? p->offset : NULL,
                             p->global, p->has_group ? p->group : NULL, 0, NULL, event);
  if (code == CL_INVALID_WORK_GROUP_SIZE && clc_isnonuniform(p))
    clc_raise(L, code, "clEnqueueNDRangeKernel",
              "%s: remainder=\"native\" takes a program built with options=\"-cl-std=CL2.0\" or "
              "later, without -cl-uniform-work-group-size; else \"split\" or \"pad\"",
              l->what);
  clc_commit(L, d, code, "clEnqueueNDRangeKernel");
}

static void launch_part(lua_State *L, clc_Device *d, cl_command_queue queue, const clc_Launch *l,
                        int i) {
  cl_event *event = clc_reserve(L, d, l->what);
  if (d->profile->on) clc_countpart(d, l->counter, l->bytes, i, l->n);
  enqueue_part(L, d, queue, l, &l->parts[i], event);
  if (l->event != NULL) clc_addcommand(l->event, event);
}

static void launch(lua_State *L, clc_Device *d, const clc_Launch *l) {
  cl_command_queue queue = clc_beginlaunch(d, l);
  for (int i = 0; i < l->n; i++) launch_part(L, d, queue, l, i);
  clc_endlaunch(d, l, queue);
}

const clc_Executor clc_localexecutor = {
    .is_isolated = 0,
    .makes_binaries = 1,
    .init = do_nothing,
    .open = open_nothing,
    .close = do_nothing,
    .new_memory = new_memory,
    .new_image = new_image,
    .new_recipe = new_recipe,
    .build = build,
    .compile = compile,
    .begin = begin,
    .set_value = set_value,
    .set_memory = set_memory,
    .set_image = set_image,
    .set_sampler = set_sampler,
    .keep_output = clc_beginredirection,
    .push_output = clc_pushredirected,
    .drop_output = clc_dropredirected,
    .launch = launch,
};
