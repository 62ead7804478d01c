/* SPDX-License-Identifier: MIT */
/* Kernels: a function on the device, its signature, and launches. */
#include "kernel.h"

#include <stdio.h>
#include <string.h>

/* --- the object -------------------------------------------------------- */

static void kernel_release(clc_Handle *h) {
  clc_Kernel *k = (clc_Kernel *)h;
  if (k->kernel != NULL) clReleaseKernel(k->kernel);
  clc_releaserecipe(k->recipe);
  k->kernel = NULL;
  k->recipe = NULL;
}

const clc_Type clc_kerneltype = {
    "kernel", "clcompute.Kernel", sizeof(clc_Kernel), kernel_release, 0, NULL};

static void ask_group(lua_State *L, const clc_Kernel *k, cl_kernel_work_group_info what,
                      size_t size, void *value) {
  clc_check(L,
            clGetKernelWorkGroupInfo(k->kernel, k->device->context->place.device, what, size, value,
                                     NULL),
            "clGetKernelWorkGroupInfo");
}

static void ask_limits(lua_State *L, clc_Kernel *k, const char *name, const clc_Text *text) {
  static const char *const unsplittable[] = {"get_group_id",
                                             "get_num_groups",
                                             "get_global_size",
                                             "get_global_offset",
                                             "get_global_linear_id",
                                             "get_enqueued_local_size",
                                             NULL};
  static const char *const group_calls[] = {"get_local_*",
                                            "get_enqueued_local_size",
                                            "barrier",
                                            "work_group_*",
                                            "sub_group_*",
                                            "get_sub_group_*",
                                            "async_work_group_*",
                                            "wait_group_events",
                                            NULL};
  static const char *const print_calls[] = {"printf", NULL};
  const clc_Context *c = k->device->context;
  clc_Limits *m = &k->limits;
  m->kernel = k->name;
  ask_group(L, k, CL_KERNEL_WORK_GROUP_SIZE, sizeof m->max_group, &m->max_group);
  ask_group(L, k, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof m->required, m->required);
  ask_group(L, k, CL_KERNEL_LOCAL_MEM_SIZE, sizeof k->local_memory, &k->local_memory);
  memcpy(m->max_groups, c->max_groups, sizeof m->max_groups);
  if (c->understates && m->max_group < c->max_group) m->max_group = c->max_group;
  if (text->max_group > 0 && text->max_group < m->max_group) m->max_group = text->max_group;
  m->is_cpu = c->is_cpu;
  m->has_nonuniform_groups = c->has_nonuniform_groups;
  m->unsplittable =
      text->hidden != NULL ? text->hidden : clc_reaches(L, text->code, name, unsplittable);
  m->sees_group = text->hidden != NULL || clc_reaches(L, text->code, name, group_calls) != NULL;
  m->keeps_arrays = text->hidden != NULL || clc_hasarrays(text->code);
  m->units = c->compute_units;
  k->prints = text->hidden == NULL && clc_reaches(L, text->code, name, print_calls) != NULL;
}

/* Between creation and the box there must be no call that raises, but the box's
   size depends on the kernel: so a first one is made only to count. */
static cl_uint count_arguments(lua_State *L, cl_program program, const char *name) {
  cl_int code;
  cl_uint n = 0;
  cl_kernel kernel = clCreateKernel(program, name, &code);
  if (code != CL_SUCCESS) clc_raise(L, code, "clCreateKernel", "kernel '%s'", name);
  code = clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof n, &n, NULL);
  clReleaseKernel(kernel);
  clc_check(L, code, "clGetKernelInfo");
  return n;
}

/* Pushes a kernel without OpenCL's object, with room for its arguments and names. */
static clc_Kernel *new_kernel(lua_State *L, clc_Device *d, cl_uint nargs, const char *name,
                              const char *shown) {
  const size_t arguments = nargs * sizeof(clc_Argument), names = strlen(shown) + strlen(name) + 2;
  clc_Kernel *k = clc_newowned(L, &clc_kerneltype, d, arguments + names);
  char *room = (char *)&k->args[nargs];
  k->device = d;
  k->nargs = nargs;
  k->name = strcpy(room, shown);
  k->real_name = strcpy(room + strlen(shown) + 1, name);
  snprintf(k->what, sizeof k->what, "kernel '%.36s'", shown);
  return k;
}

static void create_kernel(lua_State *L, clc_Kernel *k, const clc_Code *code) {
  cl_int result;
  if (code->program == NULL) luaL_error(L, "program is released"); /* by a finalizer */
  k->recipe = clc_retainrecipe(code->recipe);
  k->is_shared = code->is_shared;
  k->kernel = clCreateKernel(code->program, k->real_name, &result);
  if (result != CL_SUCCESS) k->kernel = NULL;
  clc_check(L, result, "clCreateKernel");
}

/* POCL's headers define its built-in functions as macros: an argument `step` becomes `_cl_step`. */
static void restore_names(lua_State *L, clc_Declaration *d, const char *code) {
  static const char prefix[] = "_cl_";
  char *const texts[] = {d->name, d->type};
  if (strstr(code, prefix) != NULL) return;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    if (strstr(texts[i], prefix) == NULL) continue;
    strcpy(texts[i], luaL_gsub(L, texts[i], prefix, ""));
    lua_pop(L, 1);
  }
}

/* Reads each argument's declaration, the one kept with the binary or OpenCL's. */
static void read_arguments(lua_State *L, clc_Kernel *k, const clc_Text *text) {
  for (cl_uint i = 0; i < k->nargs; i++) {
    clc_Declaration declared;
    if (text->declarations == NULL ||
        !clc_finddeclaration(text->declarations, k->real_name, i, &declared))
      clc_askdeclaration(L, &k->kernel, i, &declared);
    restore_names(L, &declared, text->code);
    clc_readargument(L, &declared, text->code, &k->args[i]);
    if (k->args[i].kind == CLC_IMAGE)
      k->args[i].colour = clc_imagecolour(L, text->code, k->real_name, k->args[i].name);
  }
  if (k->h.released) luaL_error(L, "device is released"); /* by a finalizer */
}

clc_Kernel *clc_newkernel(lua_State *L, clc_Device *d, const clc_Code *code, const char *name,
                          const char *shown, const clc_Text *text) {
  if (code->program == NULL) luaL_error(L, "program is released");
  const cl_uint nargs = count_arguments(L, code->program, name);
  clc_Kernel *k = new_kernel(L, d, nargs, name, shown);
  create_kernel(L, k, code);
  read_arguments(L, k, text);
  ask_limits(L, k, shown, text);
  return k;
}

void clc_showkernel(clc_Kernel *k, const char *shown) {
  k->name = shown;
  snprintf(k->what, sizeof k->what, "kernel '%.36s'", shown);
}

/* --- information ------------------------------------------------------- */

static void push_arguments(lua_State *L, const clc_Kernel *k) {
  static const char *const keys[] = {"name", "type", "space", NULL};
  lua_createtable(L, (int)k->nargs, 0);
  for (cl_uint i = 0; i < k->nargs; i++) {
    lua_createtable(L, 0, 3);
    lua_pushstring(L, k->args[i].name);
    lua_setfield(L, -2, "name");
    lua_pushstring(L, k->args[i].type);
    lua_setfield(L, -2, "type");
    lua_pushstring(L, k->args[i].space);
    lua_setfield(L, -2, "space");
    clc_namerecord(L, "clcompute.Argument", keys);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  clc_namelist(L, "clcompute.Arguments", "no arguments");
}

static int kernel_field(lua_State *L) {
  const clc_Kernel *k = clc_checkhandle(L, 1, &clc_kerneltype);
  const char *key = lua_tostring(L, 2);
  if (key == NULL) return 0;
  if (strcmp(key, "name") == 0)
    lua_pushstring(L, k->name);
  else if (strcmp(key, "args") == 0)
    push_arguments(L, k);
  else if (strcmp(key, "device") == 0)
    clc_pushdevice(L, k->device);
  else
    return 0;
  return 1;
}

static int kernel_info(lua_State *L) {
  const clc_Kernel *k = clc_checkhandle(L, 1, &clc_kerneltype);
  size_t multiple;
  cl_ulong private_memory;
  ask_group(L, k, CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, sizeof multiple, &multiple);
  ask_group(L, k, CL_KERNEL_PRIVATE_MEM_SIZE, sizeof private_memory, &private_memory);
  lua_createtable(L, 0, 5);
  lua_pushinteger(L, (lua_Integer)k->limits.max_group);
  lua_setfield(L, -2, "group_size");
  lua_pushinteger(L, (lua_Integer)multiple);
  lua_setfield(L, -2, "group_multiple");
  lua_pushinteger(L, (lua_Integer)k->local_memory);
  lua_setfield(L, -2, "local_memory");
  lua_pushinteger(L, (lua_Integer)private_memory);
  lua_setfield(L, -2, "private_memory");
  if (k->limits.required[0] != 0) {
    lua_createtable(L, 3, 0);
    for (int i = 0; i < 3; i++) {
      lua_pushinteger(L, (lua_Integer)k->limits.required[i]);
      lua_rawseti(L, -2, i + 1);
    }
    lua_setfield(L, -2, "required_group");
  }
  clc_namefields(L, "clcompute.KernelInfo");
  return 1;
}

static int kernel_call(lua_State *L) {
  return clc_callkernel(L, 1);
}

static int kernel_show(lua_State *L) {
  const clc_Kernel *k = clc_checkhandle(L, 1, &clc_kerneltype);
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  lua_pushfstring(L, "kernel %s(", k->name);
  luaL_addvalue(&b);
  for (cl_uint i = 0; i < k->nargs; i++) {
    const clc_Argument *a = &k->args[i];
    if (i > 0) luaL_addstring(&b, ", ");
    if (a->kind != CLC_VALUE) {
      luaL_addstring(&b, a->space);
      luaL_addchar(&b, ' ');
    }
    lua_pushfstring(L, "%s %s", a->type, a->name);
    luaL_addvalue(&b);
  }
  luaL_addchar(&b, ')');
  luaL_pushresult(&b);
  return 1;
}

void clc_openkernels(lua_State *L) {
  static const clc_Function methods[] = {
      {"info", kernel_info, 0}, {"capture", clc_capturekernel, CLC_ANY}, {NULL, NULL, 0}};
  static const luaL_Reg metamethods[] = {{"__call", kernel_call}, {NULL, NULL}};
  clc_opentype(L, &clc_kerneltype, kernel_field, "name args device", kernel_show, methods,
               metamethods);
  clc_addrelease(L, &clc_kerneltype);
  clc_openranges(L);
  clc_openplans(L);
  clc_opensignatures(L);
  clc_openchecks(L);
  clc_opensequences(L);
}
