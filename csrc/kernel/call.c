/* SPDX-License-Identifier: MIT */
/* Calls of kernels: room is made, the arguments are set, the parts of the range are launched. */
#include "kernel.h"

#include <string.h>

/* Unevaluated expressions that read this memory are computed before the kernel overwrites it. */
static void leave_memory(lua_State *L, const clc_Kernel *k, cl_uint i, const clc_Buffer *b) {
  if (i < k->nargs && !k->args[i].is_const) clc_beforewrite(L, k->device->context, b->mem);
}

/* What a launch needs that may allocate or run Lua code, before the arguments are set. From here to
   the launch nothing may allocate: a finalizer could release what was set, which OpenCL does not
   keep alive. */
static void prepare(lua_State *L, clc_Kernel *k) {
  clc_Device *d = k->device;
  clc_makeroom(L, d);
  if (k->counter == NULL && (d->profile->on || clc_getrecording(d) != NULL))
    k->counter = clc_findcounter(L, &d->context->place, CLC_LAUNCH, k->name);
  if (k->h.released) luaL_error(L, "kernel '%s' is released", k->name); /* by a finalizer */
  k->bytes = 0;
  if (clc_getrecording(d) != NULL) clc_dropheld(clc_getrecording(d));
  d->context->executor->begin(L, d, &k->recipe, k->real_name, k->what);
  if (k->h.released) luaL_error(L, "kernel '%s' is released", k->name); /* by one just now */
}

void clc_launch(lua_State *L, clc_Kernel *k, const clc_Range *range, clc_Event *e) {
  clc_Part parts[CLC_MAXPARTS];
  const clc_Launch launch = {
      .kernel = &k->kernel,
      .pace = k->is_shared ? &k->pace : NULL,
      .name = k->real_name,
      .what = k->what,
      .counter = k->counter,
      .bytes = k->bytes,
      .dims = range->dims,
      .parts = parts,
      .n = clc_planrange(L, range, &k->limits, parts),
      .event = e,
  };
  clc_Recording *r = clc_getrecording(k->device);
  if (r != NULL) {
    r->prints = r->prints || k->prints;
    clc_keeplaunch(L, r, &launch);
  } else
    k->device->context->executor->launch(L, k->device, &launch);
}

static size_t bytes_of(const clc_Buffer *b) {
  return b->count * b->dtype->size;
}

#define NOT_OURS "kernel '%s' is not the prebuilt one" /* its parameters are others */

/* --- from C ---------------------------------------------------------------- */

/* Sets argument i to all of a buffer's memory: the kernel takes an offset. */
static void set_whole(lua_State *L, clc_Kernel *k, cl_uint i, const clc_Buffer *b) {
  clc_holdbuffer(L, clc_getrecording(k->device), i, b, b->mem);
  clc_check(L, clc_setmemory(k->device, k->kernel, i, b, b->mem, 0), "clSetKernelArg");
  k->bytes += bytes_of(b);
}

/* Raises in the words of who called the operation: its kernels know an operand x as arg_x or mem_x
   (kernels/clcompute/elementwise.h), and an option by its name. */
static void raise_operand(lua_State *L, const clc_Argument *a, const char *complaint) {
  const int is_operand = strncmp(a->name, "arg_", 4) == 0 || strncmp(a->name, "mem_", 4) == 0;
  luaL_error(L, "%s '%s': %s", is_operand ? "operand" : "option", a->name + (is_operand ? 4 : 0),
             complaint);
}

/* Sets argument i to the number at idx. */
static void set_number(lua_State *L, clc_Kernel *k, cl_uint i, int idx) {
  const clc_Argument *a = &k->args[i];
  const clc_Executor *executor = k->device->context->executor;
  char value[sizeof(cl_ulong)];
  if (a->kind != CLC_VALUE || a->dtype == NULL || a->width != 1) luaL_error(L, NOT_OURS, k->name);
  if (!a->dtype->to(L, idx, value)) raise_operand(L, a, clc_pushmismatch(L, idx, a->dtype));
  clc_check(L, executor->set_value(k->device, k->kernel, i, a->dtype->size, value),
            "clSetKernelArg");
}

static void set_value(lua_State *L, clc_Kernel *k, cl_uint i, const clc_Value *v) {
  if (v->kind == CLC_MEMORY) {
    if (v->memory->h.released) luaL_error(L, "%s: a buffer" CLC_RELEASED, k->what);
    set_whole(L, k, i, v->memory);
    return;
  }
  if (v->kind == CLC_NUMBER)
    lua_pushnumber(L, v->number);
  else
    lua_pushinteger(L, v->integer);
  set_number(L, k, i, lua_gettop(L));
  lua_pop(L, 1);
}

static cl_uint count_parameters(const clc_Value *values) {
  cl_uint n = 0;
  for (const clc_Value *v = values; v->kind != CLC_END; v++) n += 1 + v->places;
  return n;
}

void clc_runvalues(lua_State *L, clc_Kernel *k, const clc_Range *range, const clc_Value *values) {
  const cl_uint count = count_parameters(values);
  cl_uint i = 0;
  for (const clc_Value *v = values; v->kind != CLC_END; i += 1 + v->places, v++)
    if (v->kind == CLC_MEMORY) leave_memory(L, k, i, v->memory);
  prepare(L, k);
  if (count != k->nargs) luaL_error(L, NOT_OURS, k->name);
  i = 0;
  for (const clc_Value *v = values; v->kind != CLC_END; v++) {
    set_value(L, k, i++, v);
    for (cl_uint p = 0; p < v->places; p++) {
      const clc_Value place = clc_size(v->place[p]);
      set_value(L, k, i++, &place);
    }
  }
  clc_launch(L, k, range, NULL);
}

/* Sets argument i to a buffer's memory, and the next one to its offset. */
static void set_operand(lua_State *L, clc_Kernel *k, cl_uint i, const clc_Buffer *b) {
  const cl_ulong offset = b->offset;
  const clc_Executor *executor = k->device->context->executor;
  const char *complaint = clc_devicecomplaint(b, k->device);
  if (complaint != NULL) raise_operand(L, &k->args[i], complaint);
  if (k->args[i].kind != CLC_BUFFER || k->args[i].dtype != b->dtype)
    luaL_error(L, "%s argument %d: got a %s buffer", k->what, (int)i + 1, b->dtype->name);
  set_whole(L, k, i, b);
  clc_check(L, executor->set_value(k->device, k->kernel, i + 1, sizeof offset, &offset),
            "clSetKernelArg");
}

static void leave_stacked(lua_State *L, const clc_Kernel *k, int first, int last) {
  cl_uint i = 0;
  for (int idx = first; idx <= last; idx++, i++) {
    const clc_Buffer *b = clc_testbuffer(L, idx);
    if (b != NULL) leave_memory(L, k, i++, b);
  }
}

void clc_setstacked(lua_State *L, clc_Kernel *k, int first, int last) {
  cl_uint i = 0;
  if (k->device->context->deferred != NULL) leave_stacked(L, k, first, last);
  prepare(L, k);
  const clc_Target target = {k->kernel, clc_getrecording(k->device), 0};
  for (int idx = first; idx <= last && i < k->nargs; idx++, i++) {
    const clc_Buffer *b = clc_testbuffer(L, idx);
    if (b == NULL && k->args[i].kind == CLC_BUFFER)
      raise_operand(L, &k->args[i], "the buffer" CLC_RELEASED);
    else if (lua_type(L, idx) == LUA_TSTRING)
      clc_setargument(L, k, &target, i, idx); /* a packed struct */
    else if (b == NULL)
      set_number(L, k, i, idx);
    else if (i + 1 < k->nargs)
      set_operand(L, k, i++, b);
  }
  if (i != k->nargs) luaL_error(L, NOT_OURS, k->name);
}

/* --- from Lua -------------------------------------------------------------- */

#define FIRST 2 /* stack index of the first argument, behind the range */

/* Whether a device grants arrays in kernels more local memory than it says that it has, as NVIDIA's
   driver does: its compiler refuses what is too much. Drivers of processors abort where they should
   refuse. */
static int grants_arrays(lua_State *L, const clc_Device *d) {
  return !d->context->is_cpu && clc_askofdevice(L, d, "grants_large_arrays");
}

static void check_local_memory(lua_State *L, const clc_Kernel *k) {
  const cl_ulong most = k->device->context->local_memory;
  size_t scratch = 0; /* so few that no sum wraps around */
  for (cl_uint i = 0; i < k->nargs; i++)
    if (k->args[i].kind == CLC_LOCAL)
      scratch = clc_smaller(scratch + clc_scratchbytes(L, (int)i + FIRST), SIZE_MAX / 4);
  const cl_ulong bytes = k->local_memory + scratch;
  if (bytes > most && (scratch > 0 || !grants_arrays(L, k->device)))
    luaL_error(L, "kernel '%s' needs %I bytes of local memory, this device has %I", k->name,
               (LUAI_UACINT)bytes, (LUAI_UACINT)most);
}

/* Whether the one argument is a table of all by their names; a vector's has none. */
static int is_named(lua_State *L) {
  if (lua_gettop(L) != FIRST + 1 || !lua_istable(L, FIRST) || clc_isobject(L, FIRST)) return 0;
  for (lua_pushnil(L); lua_next(L, FIRST) != 0; lua_pop(L, 1)) {
    if (lua_type(L, -2) != LUA_TSTRING) continue;
    lua_pop(L, 2);
    return 1;
  }
  return 0;
}

/* Raises unless each key of the table is the name of an argument. */
static void check_names(lua_State *L, const clc_Kernel *k) {
  for (lua_pushnil(L); lua_next(L, FIRST) != 0; lua_pop(L, 1)) {
    const int key = lua_gettop(L) - 1;
    const char *name = lua_type(L, key) == LUA_TSTRING ? lua_tostring(L, key) : "";
    cl_uint i = 0;
    while (i < k->nargs && strcmp(k->args[i].name, name) != 0) i++;
    if (i == k->nargs)
      luaL_error(L, "kernel '%s' has no argument '%s'%s", k->name, luaL_tolstring(L, key, NULL),
                 clc_rangehint(L, key, name));
  }
}

/* Puts the arguments into the table's place, in their order; the kernel stays the last. */
static void spread_named(lua_State *L, const clc_Kernel *k) {
  luaL_checkstack(L, (int)k->nargs + 4, NULL);
  check_names(L, k);
  for (cl_uint i = 0; i < k->nargs; i++) {
    lua_pushstring(L, k->args[i].name);
    if (lua_rawget(L, FIRST) == LUA_TNIL)
      luaL_error(L, "kernel '%s': argument %d '%s' is missing", k->name, (int)i + 1,
                 k->args[i].name);
  }
  lua_rotate(L, FIRST + 1, -1);
  lua_remove(L, FIRST);
}

static void check_call(lua_State *L, const clc_Kernel *k, int given) {
  clc_usedevice(L, k->device);
  if (given != (int)k->nargs)
    luaL_error(L, "kernel '%s' takes %d argument%s, got %d%s", k->name, (int)k->nargs,
               k->nargs == 1 ? "" : "s", given,
               given > 0 ? clc_rangehint(L, FIRST + given - 1, NULL) : "");
  check_local_memory(L, k);
}

static void set_given(lua_State *L, clc_Kernel *k, int is_empty) {
  const clc_Target target = {k->kernel, clc_getrecording(k->device), is_empty};
  size_t bytes = 0;
  for (cl_uint i = 0; i < k->nargs; i++) clc_setargument(L, k, &target, i, (int)i + FIRST);
  if (!k->device->profile->on && target.recording == NULL) return;
  for (cl_uint i = 0; i < k->nargs; i++) {
    const clc_Buffer *b = clc_testbuffer(L, (int)i + FIRST);
    if (b != NULL) bytes += bytes_of(b);
  }
  k->bytes = bytes;
}

static void leave_given(lua_State *L, const clc_Kernel *k) {
  for (cl_uint i = 0; i < k->nargs; i++) {
    const clc_Buffer *b = clc_testbuffer(L, (int)i + FIRST);
    const clc_Image *im = clc_testhandle(L, (int)i + FIRST, &clc_imagetype);
    if (b != NULL) leave_memory(L, k, i, b);
    if (im != NULL && im->view != NULL) leave_memory(L, k, i, im->view);
  }
}

/* The kernel that is called; a range comes after it. */
static clc_Kernel *check_called(lua_State *L) {
  clc_Kernel *k = clc_checkhandle(L, 1, &clc_kerneltype);
  if (lua_gettop(L) == 1) luaL_error(L, "kernel '%s' is called with a range first", k->name);
  return k;
}

static int call_kernel(lua_State *L, int has_event, int is_compiled) {
  clc_Kernel *k = check_called(L);
  lua_rotate(L, 1, -1); /* the kernel last: messages count the range as argument 1 */
  const clc_Range range = clc_checkrange(L, 1);
  if (is_named(L)) spread_named(L, k);
  check_call(L, k, lua_gettop(L) - FIRST);
  if (k->device->context->deferred != NULL) leave_given(L, k);
  clc_Checked checked = {k->device, k->name, k->args, k->nargs, FIRST, is_compiled, 0};
  if (!clc_isempty(&range)) clc_begincheck(L, &checked);
  clc_Event *e = has_event ? clc_newevent(L, k->device, k->what) : NULL;
  prepare(L, k); /* after the event, whose making may run finalizers that launch */
  set_given(L, k, clc_isempty(&range));
  if (k->prints) clc_beforeoutput();
  clc_launch(L, k, &range, e);
  if (k->prints && clc_getrecording(k->device) == NULL) clc_awaitprinted(L, k->device);
  if (has_event && !clc_isempty(&range)) clc_keepsignature(L, k->device, FIRST + (int)k->nargs);
  clc_endcheck(L, &checked);
  return has_event;
}

int clc_callkernel(lua_State *L, int has_event) {
  return call_kernel(L, has_event, 0);
}

int clc_callcompiled(lua_State *L) {
  return call_kernel(L, 0, 1);
}

static int call_and_wait(lua_State *L) {
  clc_Device *d = ((clc_Kernel *)clc_checkhandle(L, 1, &clc_kerneltype))->device;
  clc_callkernel(L, 0);
  clc_awaitoutput(L, d);
  return 0;
}

int clc_capturekernel(lua_State *L) {
  const clc_Kernel *k = check_called(L);
  clc_usedevice(L, k->device);
  clc_checkrange(L, 2); /* here its errors name the method */
  clc_capture(L, k->device, call_and_wait, lua_gettop(L));
  return 1;
}
