/* SPDX-License-Identifier: MIT */
/* Recordings: commands of a queue that are kept, to be queued as often as one likes. */
#include "device.h"

#include <string.h>

/* --- what it refuses --------------------------------------------------- */

static int count_levels(lua_State *L) {
  lua_Debug level;
  int n = 0;
  while (lua_getstack(L, n, &level)) n++;
  return n;
}

/* Pushes the name under which the public table has the function at the top, which is popped; or
   pushes nothing and returns false. */
static int push_public(lua_State *L) {
  const int function = lua_gettop(L);
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  if (lua_getfield(L, -1, "clcompute") == LUA_TTABLE)
    for (lua_pushnil(L); lua_next(L, -2) != 0; lua_pop(L, 1))
      if (lua_rawequal(L, -1, function) && lua_type(L, -2) == LUA_TSTRING) {
        lua_pushfstring(L, "cl.%s", lua_tostring(L, -2));
        lua_replace(L, function);
        lua_settop(L, function);
        return 1;
      }
  lua_settop(L, function - 1);
  return 0;
}

/* Pushes what the script called: a function of the public table, or what runs. */
static const char *push_call(lua_State *L, const clc_Recording *r) {
  const int levels = count_levels(L) - r->depth;
  lua_Debug call;
  luaL_checkstack(L, 10, NULL);
  for (int level = 0; level < levels && lua_getstack(L, level, &call); level++) {
    lua_getinfo(L, "f", &call);
    if (push_public(L)) return lua_tostring(L, -1);
  }
  lua_getstack(L, 0, &call);
  lua_getinfo(L, "n", &call);
  return lua_pushstring(L, call.name != NULL ? call.name : "this call");
}

static void refuse(lua_State *L, const clc_Device *d, const char *reason) {
  const clc_Recording *r = d->context->recording;
  if (r == NULL) return;
  const char *call = push_call(L, r);
  if (r->device != d)
    luaL_error(L, "%s uses another queue of the device whose commands d:record keeps", call);
  luaL_error(L, "%s cannot be recorded: %s", call, reason);
}

void clc_refuserecorded(lua_State *L, const clc_Device *d) {
  refuse(L, d, "it waits for commands, and d:record keeps them unrun");
}

void clc_refuseothers(lua_State *L, const clc_Device *d) {
  refuse(L, d, "d:record keeps launches, fills, copies, and writes of tables and strings");
}

/* --- begin and end ----------------------------------------------------- */

clc_Recording *clc_getrecording(const clc_Device *d) {
  clc_Recording *r = d->context->recording;
  return r != NULL && r->device == d ? r : NULL;
}

void clc_beginrecording(lua_State *L, clc_Device *d, clc_Recording *r) {
  if (d->context->recording != NULL) luaL_error(L, "d:record runs already on this device");
  r->device = d;
  r->allocator = clc_getallocator(L);
  r->depth = count_levels(L);
  d->context->recording = r;
}

void clc_endrecording(clc_Recording *r) {
  clc_dropheld(r);
  r->device->context->recording = NULL;
}

/* call_unrecorded(device, f, ...): pcall(f, ...), whose commands run at once, as those of a known
   answer do; no debug hook can raise between the call and what it leaves. */
static int call_unrecorded(lua_State *L) {
  const clc_Device *d = clc_checkdevice(L, 1);
  clc_Recording *paused = d->context->recording;
  d->context->recording = NULL;
  const int ended = lua_pcall(L, lua_gettop(L) - 2, LUA_MULTRET, 0);
  if (!d->h.released) d->context->recording = paused;
  lua_pushboolean(L, ended == LUA_OK);
  lua_replace(L, 1);
  return lua_gettop(L);
}

void clc_openrecordings(lua_State *L) {
  static const luaL_Reg functions[] = {{"call_unrecorded", call_unrecorded}, {NULL, NULL}};
  clc_addinternal(L, functions);
}

/* --- what it holds ----------------------------------------------------- */

static void *reallocate(const clc_Recording *r, void *memory, size_t old, size_t size) {
  return r->allocator.call(r->allocator.data, memory, old, size);
}

static void *allocate(lua_State *L, const clc_Recording *r, size_t size) {
  void *p = reallocate(r, NULL, 0, size);
  if (p == NULL) luaL_error(L, "not enough memory");
  return p;
}

static void drop_all(clc_Recording *r, clc_Held **list) {
  while (*list != NULL) {
    clc_Held *h = *list;
    *list = h->next;
    h->drop(h);
    reallocate(r, h, h->size, 0);
  }
}

void *clc_hold(lua_State *L, clc_Recording *r, cl_uint argument, size_t size,
               void (*drop)(clc_Held *h)) {
  clc_Held *h = memset(allocate(L, r, size), 0, size);
  *h = (clc_Held){r->pending, size, argument, drop};
  return r->pending = h;
}

void clc_dropheld(clc_Recording *r) {
  drop_all(r, &r->pending);
}

typedef struct {
  clc_Held held;
  cl_mem mem;
  cl_sampler sampler;
} HeldObject;

static void drop_object(clc_Held *h) {
  const HeldObject *o = (const HeldObject *)h;
  if (o->mem != NULL) clReleaseMemObject(o->mem);
  if (o->sampler != NULL) clReleaseSampler(o->sampler);
}

void clc_holdobject(lua_State *L, clc_Recording *r, cl_uint argument, cl_mem mem,
                    cl_sampler sampler) {
  HeldObject *o = clc_hold(L, r, argument, sizeof *o, drop_object);
  if (mem != NULL) clc_check(L, clRetainMemObject(mem), "clRetainMemObject");
  o->mem = mem;
  if (sampler != NULL) clc_check(L, clRetainSampler(sampler), "clRetainSampler");
  o->sampler = sampler;
}

int clc_isheld(const clc_Kept *launch, cl_uint argument, cl_mem mem) {
  for (const clc_Held *h = launch->held; h != NULL; h = h->next)
    if (h->argument == argument && h->drop == drop_object && ((const HeldObject *)h)->mem == mem)
      return 1;
  return 0;
}

void clc_exchangeheld(clc_Recording *r, clc_Kept *launch, cl_uint argument) {
  clc_Held *old = NULL, **link = &launch->held;
  while (*link != NULL) {
    clc_Held *h = *link;
    if (h->argument != argument) {
      link = &h->next;
      continue;
    }
    *link = h->next;
    h->next = old;
    old = h;
  }
  *link = r->pending;
  r->pending = NULL;
  drop_all(r, &old);
}

/* --- what it keeps ----------------------------------------------------- */

/* Makes a place for one more; until it is taken it is no command. */
static clc_Kept *make_place(lua_State *L, clc_Recording *r) {
  if (r->n == r->room) {
    const size_t room = r->room == 0 ? 16 : 2 * r->room;
    clc_Kept *grown = reallocate(r, r->commands, r->room * sizeof *grown, room * sizeof *grown);
    if (grown == NULL) luaL_error(L, "not enough memory");
    r->commands = grown;
    r->room = room;
  }
  return memset(&r->commands[r->n], 0, sizeof(clc_Kept));
}

static void take_place(clc_Recording *r) {
  r->commands[r->n++].held = r->pending;
  r->pending = NULL;
}

/* The kernel with its arguments; its owner goes on with one that has none yet. */
static clc_Outcome take_kernel(const clc_Launch *l, cl_kernel *taken) {
  clc_Outcome r = {CL_SUCCESS, "clGetKernelInfo"};
  cl_program program;
  r.code = clGetKernelInfo(*l->kernel, CL_KERNEL_PROGRAM, sizeof program, &program, NULL);
  if (r.code != CL_SUCCESS) return r;
  r.call = "clCreateKernel";
  cl_kernel fresh = clCreateKernel(program, l->name, &r.code);
  if (r.code != CL_SUCCESS) return r;
  *taken = *l->kernel;
  *l->kernel = fresh;
  return r;
}

void clc_keeplaunch(lua_State *L, clc_Recording *r, const clc_Launch *l) {
  const size_t size = (size_t)l->n * sizeof *l->parts;
  if (l->event != NULL) l->event->is_recorded = 1;
  if (l->n == 0) return;
  clc_Kept *k = make_place(L, r);
  clc_Part *parts = allocate(L, r, size);
  const clc_Outcome taken = take_kernel(l, &k->kernel);
  if (taken.code != CL_SUCCESS) {
    reallocate(r, parts, size, 0);
    clc_raise(L, taken.code, taken.call, "%s", l->what);
  }
  k->parts = memcpy(parts, l->parts, size);
  k->launch = *l;
  k->launch.pace = NULL;
  strncpy(k->what, l->what, sizeof k->what - 1);
  take_place(r);
  r->launches++;
}

void clc_keeptransfer(lua_State *L, clc_Recording *r, const clc_Transfer *t) {
  clc_Kept *k = make_place(L, r);
  clc_Transfer *transfer = allocate(L, r, sizeof *transfer);
  *transfer = *t;
  k->transfer = transfer;
  take_place(r);
}

clc_Kept *clc_keptlaunch(const clc_Recording *r, size_t i) {
  clc_Kept *k = r->commands;
  while (k->transfer != NULL || i-- > 0) k++;
  return k;
}

static void drop_command(clc_Recording *r, clc_Kept *k) {
  if (k->kernel != NULL) clReleaseKernel(k->kernel);
  if (k->parts != NULL) reallocate(r, k->parts, (size_t)k->launch.n * sizeof *k->parts, 0);
  if (k->transfer != NULL) reallocate(r, k->transfer, sizeof *k->transfer, 0);
  drop_all(r, &k->held);
}

void clc_droprecording(clc_Recording *r) {
  if (r->device == NULL) return; /* it never began */
  if (r->device->context->recording == r) clc_endrecording(r);
  clc_dropheld(r);
  for (size_t i = 0; i < r->n; i++) drop_command(r, &r->commands[i]);
  if (r->commands != NULL) reallocate(r, r->commands, r->room * sizeof *r->commands, 0);
  r->n = 0; /* a replay may have come to here by a hook */
}

/* --- replay ------------------------------------------------------------ */

/* There is room for the commands of a launch: queueing does not wait, and no Lua code runs. */
static void queue_command(lua_State *L, clc_Device *d, clc_Kept *k, clc_Event *e) {
  if (k->transfer != NULL) {
    k->transfer->event = e;
    clc_transfer(L, d, k->transfer);
    return;
  }
  k->launch.kernel = &k->kernel;
  k->launch.what = k->what;
  k->launch.parts = k->parts;
  k->launch.event = e;
  d->context->executor->launch(L, d, &k->launch);
}

/* No command asks which expressions wait for what it writes: all of them are computed, also those
   that a hook makes while room is made. */
static void prepare_replay(lua_State *L, clc_Device *d) {
  clc_makeroom(L, d);
  clc_beforewrite(L, d->context, NULL);
}

void clc_replay(lua_State *L, clc_Recording *r, clc_Event *e) {
  clc_Device *d = r->device;
  clc_Flight *f = &d->flight;
  prepare_replay(L, d);
  if (!d->is_timed) clc_waitflight(L, f, CLC_PENDING / 8); /* each may stand for a whole replay */
  f->replays = 1; /* where a command is refused, until the next replay */
  for (size_t i = 0; i < r->n; i++) {
    while (f->count > CLC_PENDING - CLC_ROOM) prepare_replay(L, d); /* a hook may release it */
    if (i < r->n) queue_command(L, d, &r->commands[i], e);
  }
  f->replays = 0;
}
