/* SPDX-License-Identifier: MIT */
/***
Kernels: a function on the device, its signature, and launches.
@module clcompute
*/
#include "kernel.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "base/base.h"
#include "language/source.h"

/* --- the object -------------------------------------------------------- */

static void kernel_release(clc_Handle *h) {
  clc_Kernel *k = (clc_Kernel *)h;
  if (k->kernel != NULL) clReleaseKernel(k->kernel);
  clc_releaserecipe(k->recipe);
  k->kernel = NULL;
  k->recipe = NULL;
}

const clc_Type clc_kerneltype = {"kernel", "clcompute.Kernel", sizeof(clc_Kernel), kernel_release,
                                 0};

static void ask_group(lua_State *L, const clc_Kernel *k, cl_kernel_work_group_info what,
                      size_t size, void *value) {
  clc_check(L,
            clGetKernelWorkGroupInfo(k->kernel, k->device->place.device, what, size, value, NULL),
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
  clc_Limits *m = &k->limits;
  m->kernel = k->name;
  ask_group(L, k, CL_KERNEL_WORK_GROUP_SIZE, sizeof m->max_group, &m->max_group);
  ask_group(L, k, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof m->required, m->required);
  ask_group(L, k, CL_KERNEL_LOCAL_MEM_SIZE, sizeof k->local_memory, &k->local_memory);
  memcpy(m->max_groups, k->device->max_groups, sizeof m->max_groups);
  if (k->device->understates_groups && m->max_group < k->device->max_group)
    m->max_group = k->device->max_group;
  if (text->max_group > 0 && text->max_group < m->max_group) m->max_group = text->max_group;
  m->is_cpu = k->device->is_cpu;
  m->has_nonuniform_groups = k->device->has_nonuniform_groups;
  m->unsplittable =
      text->hidden != NULL ? text->hidden : clc_reaches(L, text->code, name, unsplittable);
  m->sees_group = text->hidden != NULL || clc_reaches(L, text->code, name, group_calls) != NULL;
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

clc_Kernel *clc_newkernel(lua_State *L, clc_Device *d, const cl_program *program, const char *name,
                          const char *shown, const clc_Text *text) {
  cl_int code;
  if (*program == NULL) luaL_error(L, "program is released");
  const cl_uint n = count_arguments(L, *program, name);
  const size_t names = strlen(shown) + strlen(name) + 2;
  clc_Kernel *k = clc_newowned(L, &clc_kerneltype, d, n * sizeof(clc_Argument) + names);
  k->device = d;
  k->recipe = clc_retainrecipe(*text->recipe);
  k->nargs = n;
  if (*program == NULL) luaL_error(L, "program is released"); /* by a finalizer */
  k->kernel = clCreateKernel(*program, name, &code);
  if (code != CL_SUCCESS) k->kernel = NULL;
  clc_check(L, code, "clCreateKernel");
  k->name = strcpy((char *)&k->args[n], shown);
  k->real_name = strcpy((char *)&k->args[n] + strlen(shown) + 1, name);
  snprintf(k->what, sizeof k->what, "kernel '%.36s'", shown);
  for (cl_uint i = 0; i < n; i++) {
    clc_Declaration declared;
    if (text->declarations == NULL || !clc_finddeclaration(text->declarations, name, i, &declared))
      clc_askdeclaration(L, &k->kernel, i, &declared);
    clc_readargument(L, &declared, text->code, &k->args[i]);
  }
  if (k->h.released) luaL_error(L, "device is released"); /* by a finalizer */
  ask_limits(L, k, shown, text);
  return k;
}

/* --- launching --------------------------------------------------------- */

/* What a launch needs that may allocate or raise, before the arguments are set. */
static void prepare(lua_State *L, clc_Kernel *k) {
  clc_makeroom(L, k->device);
  if (k->counter == NULL && k->device->profile->on)
    k->counter = clc_findcounter(L, &k->device->place, CLC_LAUNCH, k->name);
  k->bytes = 0;
  clc_beginlaunch(L, k->device, &k->recipe, k->real_name, k->what);
}

static size_t bytes_of(const clc_Buffer *b) {
  return b->count * b->dtype->size;
}

void clc_setarguments(lua_State *L, clc_Kernel *k, const char *letters, ...) {
  va_list args;
  prepare(L, k);
  if (k->h.released) luaL_error(L, "kernel '%s' is released", k->name);
  va_start(args, letters);
  if (strlen(letters) != k->nargs) luaL_error(L, "kernel '%s' is not the prebuilt one", k->name);
  for (cl_uint i = 0; letters[i] != '\0'; i++) {
    if (letters[i] == 'b') {
      const clc_Buffer *b = va_arg(args, clc_Buffer *);
      if (b->h.released) luaL_error(L, "%s: a buffer was released meanwhile", k->what);
      clc_check(L, clSetKernelArg(k->kernel, i, sizeof b->mem, &b->mem), "clSetKernelArg");
      clc_passbuffer(k->device, i, b, 0);
      k->bytes += bytes_of(b);
      continue;
    }
    if (letters[i] == 'n')
      lua_pushnumber(L, va_arg(args, lua_Number));
    else
      lua_pushinteger(L, va_arg(args, lua_Integer));
    clc_setargument(L, k->device, k->kernel, k->name, i, &k->args[i], lua_gettop(L), 0);
    lua_pop(L, 1);
  }
  va_end(args);
}

/* The buffer at a stack index, as the memory of argument i and its offset as the next one. */
static void set_operand(lua_State *L, clc_Kernel *k, cl_uint i, const clc_Buffer *b) {
  const char *complaint = clc_testdevice(b, k->device);
  if (complaint != NULL) clc_argumenterror(L, k->name, i, &k->args[i], "%s", complaint);
  if (k->args[i].kind != CLC_BUFFER || k->args[i].dtype != b->dtype)
    luaL_error(L, "%s argument %d: got a %s buffer", k->what, (int)i + 1, b->dtype->name);
  clc_check(L, clSetKernelArg(k->kernel, i, sizeof b->mem, &b->mem), "clSetKernelArg");
  clc_passbuffer(k->device, i, b, 0);
  const cl_ulong offset = b->offset;
  clc_check(L, clSetKernelArg(k->kernel, i + 1, sizeof offset, &offset), "clSetKernelArg");
  clc_passvalue(k->device, i + 1, sizeof offset, &offset);
  k->bytes += bytes_of(b);
}

void clc_setstacked(lua_State *L, clc_Kernel *k, int first, int last) {
  cl_uint i = 0;
  prepare(L, k);
  if (k->h.released) luaL_error(L, "kernel '%s' is released", k->name);
  for (int idx = first; idx <= last && i < k->nargs; idx++, i++) {
    const clc_Buffer *b = clc_testhandle(L, idx, &clc_buffertype);
    if (b == NULL)
      clc_setargument(L, k->device, k->kernel, k->name, i, &k->args[i], idx, 0);
    else if (i + 1 < k->nargs)
      set_operand(L, k, i++, b);
  }
  if (i != k->nargs) luaL_error(L, "kernel '%s' is not the prebuilt one", k->name);
}

static int is_shifted(const clc_Part *p) {
  return p->offset[0] != 0 || p->offset[1] != 0 || p->offset[2] != 0;
}

static void enqueue_part(lua_State *L, const clc_Kernel *k, cl_uint dims, const clc_Part *p,
                         cl_event *event) {
  clc_Device *d = k->device;
  cl_int code = clEnqueueNDRangeKernel(d->queue, k->kernel, dims, is_shifted(p) ? p->offset : NULL,
                                       p->global, p->has_group ? p->group : NULL, 0, NULL, event);
  if (code == CL_INVALID_WORK_GROUP_SIZE && clc_isnonuniform(p))
    clc_raise(L, code, "clEnqueueNDRangeKernel",
              "%s: remainder=\"native\" takes a program built with options=\"-cl-std=CL2.0\" or "
              "later, without -cl-uniform-work-group-size; else \"split\" or \"pad\"",
              k->what);
  if (event == NULL)
    clc_commitunseen(L, d, code, "clEnqueueNDRangeKernel", k->what);
  else
    clc_commit(L, d, code, "clEnqueueNDRangeKernel");
}

static void launch_part(lua_State *L, clc_Kernel *k, cl_uint dims, const clc_Part *p, int i, int n,
                        clc_Event *e) {
  clc_Device *d = k->device;
  if (e == NULL && !d->profile->on) {
    clc_usedevice(L, d);
    enqueue_part(L, k, dims, p, NULL);
    return;
  }
  cl_event *event = clc_reserve(L, d, k->what);
  if (d->profile->on) clc_countpart(d, k->counter, k->bytes, i, n);
  enqueue_part(L, k, dims, p, event);
  if (e != NULL) clc_addcommand(e, *event);
}

static clc_Grid to_grid(cl_uint dims, const clc_Part *p) {
  clc_Grid g = {
      .dims = dims, .has_offset = (uint32_t)is_shifted(p), .has_group = (uint32_t)p->has_group};
  for (int i = 0; i < 3; i++) {
    g.offset[i] = p->offset[i];
    g.global[i] = p->global[i];
    g.group[i] = p->group[i];
  }
  return g;
}

/* The parts one after the other, each when the one before it has ended. */
static void launch_isolated(lua_State *L, clc_Kernel *k, cl_uint dims, const clc_Part *parts, int n,
                            clc_Event *e) {
  cl_ulong when[4], elapsed = 0;
  clc_Counter *counter = k->device->profile->on ? k->counter : NULL;
  const size_t bytes = k->bytes;
  for (int i = 0; i < n; i++) {
    const clc_Grid grid = to_grid(dims, &parts[i]);
    if (k->h.released) luaL_error(L, "kernel '%s' is released", k->name); /* by a hook */
    clc_launchpart(L, k->device, k->what, &grid, when);
    if (when[3] > when[2]) elapsed += when[3] - when[2];
    if (e != NULL) clc_addended(e, when);
  }
  if (counter != NULL && n > 0) clc_addcall(counter, elapsed, bytes);
}

void clc_launch(lua_State *L, clc_Kernel *k, const clc_Range *range, clc_Event *e) {
  clc_Part parts[CLC_MAXPARTS];
  const int n = clc_planrange(L, range, &k->limits, parts);
  if (k->recipe != NULL) {
    launch_isolated(L, k, range->dims, parts, n, e);
    return;
  }
  for (int i = 0; i < n; i++) launch_part(L, k, range->dims, &parts[i], i, n, e);
}

/* Of buffers that were given from Lua. */
static size_t argument_bytes(lua_State *L, const clc_Kernel *k) {
  size_t bytes = 0;
  for (cl_uint i = 0; i < k->nargs; i++) {
    const clc_Buffer *b = clc_testhandle(L, (int)i + 2, &clc_buffertype);
    if (b != NULL) bytes += bytes_of(b);
  }
  return bytes;
}

/* Lua's known-answer test of arrays in kernels that are larger than the device's local memory. */
#define LOCAL_CHECK "clcompute.local_check"

/* Whether a device grants arrays in kernels more local memory than it says that it has, as NVIDIA's
   driver does: its compiler refuses what is too much. Drivers of processors abort where they should
   refuse. */
static int grants_arrays(lua_State *L, const clc_Device *d) {
  const int top = lua_gettop(L);
  int grants = 0;
  if (!d->is_cpu && lua_getfield(L, LUA_REGISTRYINDEX, LOCAL_CHECK) == LUA_TFUNCTION) {
    clc_pushdevice(L, d);
    lua_call(L, 1, 1);
    grants = lua_toboolean(L, -1);
  }
  lua_settop(L, top);
  return grants;
}

/* cl.set_local_check(f): f(device) says whether such arrays are right, or were not tried yet;
   init.lua takes it away. */
static int set_local_check(lua_State *L) {
  luaL_checktype(L, 1, LUA_TFUNCTION);
  lua_settop(L, 1);
  lua_setfield(L, LUA_REGISTRYINDEX, LOCAL_CHECK);
  return 0;
}

static void check_local_memory(lua_State *L, const clc_Kernel *k) {
  cl_ulong scratch = 0;
  for (cl_uint i = 0; i < k->nargs; i++)
    if (k->args[i].kind == CLC_LOCAL) scratch += clc_scratchbytes(L, (int)i + 2);
  const cl_ulong bytes = k->local_memory + scratch;
  if (bytes > k->device->local_memory && (scratch > 0 || !grants_arrays(L, k->device)))
    luaL_error(L, "kernel '%s' needs %I bytes of local memory, this device has %I", k->name,
               (LUAI_UACINT)bytes, (LUAI_UACINT)k->device->local_memory);
}

int clc_callkernel(lua_State *L, int has_event) {
  clc_Kernel *k = clc_checkhandle(L, 1, &clc_kerneltype);
  if (lua_gettop(L) == 1) luaL_error(L, "kernel '%s' is called with a range first", k->name);
  lua_rotate(L, 1, -1); /* the kernel last: messages count the range as argument 1 */
  const clc_Range range = clc_checkrange(L, 1);
  const int given = lua_gettop(L) - 2;
  clc_usedevice(L, k->device);
  if (given != (int)k->nargs)
    luaL_error(L, "kernel '%s' takes %d arguments, got %d", k->name, (int)k->nargs, given);
  check_local_memory(L, k);
  clc_Checked checked = {k->device, k->name, k->args, k->nargs, 2, 0};
  if (!clc_isempty(&range)) clc_begincheck(L, &checked);
  clc_Event *e = has_event ? clc_newevent(L, k->device, k->what) : NULL;
  prepare(L, k); /* after the event, whose making may run finalizers that launch */
  /* From here to the launch nothing may allocate: a finalizer could release what
     was set, which OpenCL does not keep alive. One may have run just now. */
  if (k->h.released) luaL_error(L, "kernel '%s' is released", k->name);
  for (cl_uint i = 0; i < k->nargs; i++)
    clc_setargument(L, k->device, k->kernel, k->name, i, &k->args[i], (int)i + 2,
                    clc_isempty(&range));
  if (k->device->profile->on) k->bytes = argument_bytes(L, k);
  clc_launch(L, k, &range, e);
  clc_endcheck(L, &checked);
  return has_event;
}

/***
Launches the kernel. Arguments are checked against its own signature: a scalar
takes a number in its range, an enum an integer of 32 bits, a vector a table of
numbers, any by-value argument a packed string of its size, a pointer a buffer of
its dtype, a local pointer `scratch`.
Under "split" a kernel may not call get_group_id, get_num_groups, get_global_size,
get_global_offset, get_global_linear_id or get_enqueued_local_size, which would speak
of one part; "native" is for devices with has_nonuniform_groups and programs built with
options="-cl-std=CL2.0" or later. What a kernel has in local memory must fit the device's,
`scratch` included; its own arrays alone may exceed that where the device was seen to grant it.
@function Kernel:__call
@param range n, {nx, ny[, nz]} or {global=, group=, offset=, remainder=
 "error"|"split"|"pad"|"native"}; dimension 0 first
@param ... the kernel's arguments
@treturn Event
*/
static int kernel_call(lua_State *L) {
  return clc_callkernel(L, 1);
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

/***
Limits of the kernel on its device.
@function Kernel:info
@treturn table {group_size=, group_multiple=, local_memory=, private_memory=,
 required_group={x, y, z} or nil}; memory in bytes
*/
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

/***
Releases the kernel at once instead of when it is collected. May be called twice.
@function Kernel:release
@return the kernel
*/

void clc_openkernels(lua_State *L) {
  static const luaL_Reg methods[] = {{"info", kernel_info}, {NULL, NULL}};
  static const luaL_Reg metamethods[] = {{"__call", kernel_call}, {NULL, NULL}};
  clc_opentype(L, &clc_kerneltype, kernel_field, kernel_show, methods, metamethods);
  clc_addrelease(L, &clc_kerneltype);
  lua_pushcfunction(L, set_local_check);
  lua_setfield(L, -2, "set_local_check");
}
