/* SPDX-License-Identifier: MIT */
/***
Devices: one OpenCL device with a context and an in-order queue of its own.
@module clcompute
*/
#include "device.h"

#include <string.h>

#include "clock.h"
#include "info.h"
#include "wait.h"

#define PATIENCE 2 /* seconds that the end of a device waits for its commands */

static const char devices_key = 0; /* registry: cl_device_id -> Device object */
static const char queues_key = 0;  /* registry, weak: node -> Device object of a further queue */

/* --- commands in flight ------------------------------------------------ */

static void forget_oldest(clc_Device *d) {
  clReleaseEvent(d->pending[d->oldest].event);
  d->oldest = (d->oldest + 1) % CLC_PENDING;
  d->count--;
}

static cl_int get_status(cl_event event, cl_int *status) {
  return clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof *status, status, NULL);
}

/* The oldest command, which failed; where the driver now fails in every call, as
   NVIDIA's does after a fault, a kernel in the queue is to blame rather than the copy
   or fill that stands first in it. */
static const clc_Command *find_culprit(const clc_Device *d) {
  const clc_Command *oldest = &d->pending[d->oldest];
  cl_int status;
  if (get_status(oldest->event, &status) == CL_SUCCESS) return oldest;
  for (unsigned i = 0; i < d->count; i++) {
    const clc_Command *c = &d->pending[(d->oldest + i) % CLC_PENDING];
    if (strncmp(c->what, "kernel", 6) == 0) return c;
  }
  return oldest;
}

/* Keeps the first failure until it is reported. */
static void note_failure(clc_Device *d, cl_int code, const char what[CLC_WHAT]) {
  if (d->failure != CL_SUCCESS) return;
  d->failure = code;
  memcpy(d->failed, what, CLC_WHAT);
}

/* A launch of several commands is one call that took their sum. */
static void count_oldest(clc_Device *d, cl_int status) {
  const clc_Command *c = &d->pending[d->oldest];
  if (c->counter == NULL) return;
  if (c->first) d->elapsed = 0;
  d->whole =
      (c->first || d->whole) && status == CL_COMPLETE && clc_addelapsed(c->event, &d->elapsed);
  if (c->last && d->whole) clc_addcall(c->counter, d->elapsed, c->bytes);
}

/* Takes the oldest command, which has ended with that status, off the ring. */
static void retire(clc_Device *d, cl_int status) {
  count_oldest(d, status);
  if (status < 0) note_failure(d, status, find_culprit(d)->what);
  forget_oldest(d);
}

static void retire_ended(clc_Device *d) {
  while (d->count > 0) {
    cl_int status;
    const cl_int code = get_status(d->pending[d->oldest].event, &status);
    if (code == CL_SUCCESS && status > CL_COMPLETE) return;
    retire(d, code == CL_SUCCESS ? status : code);
  }
}

void clc_report(lua_State *L, clc_Device *d) {
  retire_ended(d);
  cl_int code = d->failure;
  if (code == CL_SUCCESS) return;
  d->failure = CL_SUCCESS;
  luaL_error(L, "%s failed on the device: %s (%d)", d->failed, clc_codename(code), (int)code);
}

/* Until at most so many commands are in flight. After a fault in a kernel NVIDIA's driver
   fails in every call: then the state of the commands is that failure, and all of them end. */
static void wait_until(lua_State *L, clc_Device *d, unsigned most) {
  if (d->count <= most) return;
  const clc_Wait w = clc_beginwait(L);
  luaL_checkstack(L, 5, NULL);
  clc_pushdevice(L, d); /* keeps it, should a hook close it */
  clFlush(d->queue);
  clc_checkinterrupt(L);
  for (retire_ended(d); d->count > most; retire_ended(d)) clc_pause(L, &w);
  lua_pop(L, 1);
}

void clc_makeroom(lua_State *L, clc_Device *d) {
  clc_usedevice(L, d);
  clc_checkinterrupt(L);
  if (d->count >= CLC_PENDING / 2) retire_ended(d);
  wait_until(L, d, CLC_PENDING - CLC_ROOM);
}

cl_event *clc_reserve(lua_State *L, clc_Device *d, const char *what) {
  if (d->count == CLC_PENDING) clc_makeroom(L, d);
  clc_usedevice(L, d);
  clc_Command *c = &d->pending[(d->oldest + d->count) % CLC_PENDING];
  const size_t length = strlen(what);
  const size_t kept = length < CLC_WHAT ? length : CLC_WHAT - 1;
  memcpy(c->what, what, kept);
  c->what[kept] = '\0';
  c->counter = NULL;
  return &c->event;
}

void clc_countpart(clc_Device *d, clc_Counter *counter, size_t bytes, int i, int n) {
  clc_Command *c = &d->pending[(d->oldest + d->count) % CLC_PENDING];
  c->counter = counter;
  c->bytes = bytes;
  c->first = i == 0;
  c->last = i == n - 1;
}

clc_Counter *clc_transfercounter(const clc_Device *d, clc_Kind kind) {
  return d->profile->on ? d->transfers[kind] : NULL;
}

void clc_uncount(clc_Device *d) {
  for (unsigned i = 0; i < d->count; i++) d->pending[(d->oldest + i) % CLC_PENDING].counter = NULL;
}

void clc_commit(lua_State *L, clc_Device *d, cl_int code, const char *call) {
  if (code != CL_SUCCESS) {
    const clc_Command *c = &d->pending[(d->oldest + d->count) % CLC_PENDING];
    clc_raise(L, code, call, "%s", c->what);
  }
  if (d->count++ == 0) clFlush(d->queue); /* let an idle device begin */
}

/* A marker ends after all that others have put into the queue. */
static void wait_foreign(lua_State *L, clc_Device *d) {
  cl_event *event = clc_reserve(L, d, "commands of another library");
  const cl_int code = clEnqueueMarkerWithWaitList(d->queue, 0, NULL, event);
  d->foreign = 0;
  if (code == CL_SUCCESS)
    d->count++;
  else
    note_failure(d, code, d->pending[(d->oldest + d->count) % CLC_PENDING].what);
  wait_until(L, d, 0);
}

void clc_settle(lua_State *L, clc_Device *d) {
  wait_until(L, d, 0);
  if (d->foreign && !d->h.released) wait_foreign(L, d);
}

void clc_drain(lua_State *L, clc_Device *d) {
  clc_usedevice(L, d);
  clc_settle(L, d);
  clc_usedevice(L, d); /* a hook may have closed it */
  clc_report(L, d);
}

int clc_isbusy(clc_Device *d) {
  retire_ended(d);
  return d->count > 0 || d->foreign;
}

/* --- the object -------------------------------------------------------- */

/*
 * Commands may be in flight still when a state ends, and the process with it: POCL aborts when
 * it compiles a kernel meanwhile. One that does not end must not keep the process for ever.
 */
static void await_end(clc_Device *d) {
  const double start = clc_now();
  if (d->count > 0) clFlush(d->queue);
  for (retire_ended(d); d->count > 0 && clc_now() - start < PATIENCE; retire_ended(d))
    clc_rest(clc_now() - start);
}

static void device_release(clc_Handle *h) {
  clc_Device *d = (clc_Device *)h;
  await_end(d);
  clc_releaseowned(h);
  while (d->count > 0) forget_oldest(d);
  if (d->queue != NULL) clReleaseCommandQueue(d->queue);
  if (d->context != NULL) clReleaseContext(d->context);
  d->queue = NULL;
  d->context = NULL;
}

const clc_Type clc_devicetype = {"device", "clcompute.Device", sizeof(clc_Device), device_release,
                                 1};

clc_Device *clc_checkdevice(lua_State *L, int arg) {
  return clc_checkhandle(L, arg, &clc_devicetype);
}

static void push_align(lua_State *L, const clc_Device *d) {
  lua_pushinteger(L, (lua_Integer)d->align);
}

static void push_platform(lua_State *L, const clc_Device *d) {
  clc_pushplatformtext(L, d->place.platform, CL_PLATFORM_NAME);
}

static void push_place(lua_State *L, const clc_Device *d) {
  lua_pushfstring(L, "%d:%d", d->place.p, d->place.d);
}

static int device_field(lua_State *L) {
  const clc_Device *d = clc_checkdevice(L, 1);
  const char *key = lua_tostring(L, 2);
  if (key == NULL) return 0;
  if (strcmp(key, "align") == 0)
    push_align(L, d);
  else if (strcmp(key, "platform") == 0)
    push_platform(L, d);
  else if (strcmp(key, "place") == 0)
    push_place(L, d);
  else
    return clc_pushproperty(L, d->place.device, d->version, key);
  return 1;
}

clc_Device *clc_checkopen(lua_State *L, int arg) {
  clc_Device *d = clc_checkdevice(L, arg);
  clc_usedevice(L, d);
  return d;
}

static void create_queue(lua_State *L, const clc_Device *d, cl_command_queue *queue) {
  const cl_queue_properties props[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE, 0};
  const cl_device_id id = d->place.device;
  cl_int code;
  /* Oclgrind (1.2) never returns from the newer call when it comes through ocl-icd. */
  *queue = d->version < 200 ? clCreateCommandQueue(d->context, id, CL_QUEUE_PROFILING_ENABLE, &code)
                            : clCreateCommandQueueWithProperties(d->context, id, props, &code);
  if (code != CL_SUCCESS) *queue = NULL;
  clc_check(L, code, "clCreateCommandQueue");
}

static void open_context(lua_State *L, clc_Device *d) {
  const cl_context_properties props[] = {CL_CONTEXT_PLATFORM,
                                         (cl_context_properties)d->place.platform, 0};
  cl_int code;
  if (d->version < 102)
    luaL_error(L, "this device has OpenCL %d.%d; clcompute needs 1.2", d->version / 100,
               d->version % 100);
  if (d->context == NULL) {
    d->context = clCreateContext(props, 1, &d->place.device, NULL, NULL, &code);
    if (code != CL_SUCCESS) d->context = NULL;
    clc_check(L, code, "clCreateContext");
  }
  create_queue(L, d, &d->queue);
}

void clc_usedevice(lua_State *L, clc_Device *d) {
  if (d->h.released) luaL_error(L, "device is released");
  clc_checkfork(L);
  if (d->queue == NULL) open_context(L, d);
}

static void fill_facts(lua_State *L, clc_Device *d, clc_Place place) {
  const cl_device_id id = place.device;
  int device = clc_parseversion(clc_pushdevicetext(L, id, CL_DEVICE_VERSION));
  int platform = clc_parseversion(clc_pushplatformtext(L, place.platform, CL_PLATFORM_VERSION));
  /* Driver 580 says 256 of every kernel, also of one that requires 1024, and takes up to
     the device's limit; a kernel that needs too many registers fails at its launch. */
  d->understates_groups =
      strstr(clc_pushplatformtext(L, place.platform, CL_PLATFORM_NAME), "NVIDIA") != NULL;
  lua_pop(L, 3);
  d->root = d;
  d->place = place;
  d->version = device < platform ? device : platform;
  d->is_cpu = (clc_devicenumber(id, CL_DEVICE_TYPE, 0) & CL_DEVICE_TYPE_CPU) != 0;
  d->has_double = clc_devicenumber(id, CL_DEVICE_DOUBLE_FP_CONFIG, 0) != 0;
  d->align = (size_t)clc_devicenumber(id, CL_DEVICE_MEM_BASE_ADDR_ALIGN, 1024) / 8;
  d->max_group = (size_t)clc_devicenumber(id, CL_DEVICE_MAX_WORK_GROUP_SIZE, 1);
  size_t sizes[8] = {1, 1, 1}; /* OpenCL allows more than three dimensions */
  clc_check(L, clGetDeviceInfo(id, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof sizes, sizes, NULL),
            "clGetDeviceInfo");
  memcpy(d->max_groups, sizes, sizeof d->max_groups);
  d->local_memory = clc_devicenumber(id, CL_DEVICE_LOCAL_MEM_SIZE, 0);
  d->global_memory = clc_devicenumber(id, CL_DEVICE_GLOBAL_MEM_SIZE, 0);
  d->max_allocation = clc_devicenumber(id, CL_DEVICE_MAX_MEM_ALLOC_SIZE, 0);
}

/* Made before it is needed: nothing may allocate where a transfer is queued. */
static void make_counters(lua_State *L, clc_Device *d) {
  d->profile = clc_getprofile(L);
  for (clc_Kind kind = 0; kind < CLC_TRANSFERS; kind++)
    d->transfers[kind] = clc_findcounter(L, &d->place, kind, clc_kindname(kind));
}

/* Of the handle it keeps its own, and the ring stays empty. */
static void copy_facts(clc_Device *to, const clc_Device *from) {
  to->profile = from->profile;
  memcpy(to->transfers, from->transfers, sizeof to->transfers);
  to->root = from->root;
  to->place = from->place;
  to->version = from->version;
  to->is_cpu = from->is_cpu;
  to->understates_groups = from->understates_groups;
  to->has_double = from->has_double;
  to->align = from->align;
  to->max_group = from->max_group;
  memcpy(to->max_groups, from->max_groups, sizeof to->max_groups);
  to->local_memory = from->local_memory;
  to->global_memory = from->global_memory;
  to->max_allocation = from->max_allocation;
}

void clc_pushplace(lua_State *L, clc_Place place) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &devices_key);
  lua_rawgetp(L, -1, place.device);
  if (clc_testhandle(L, -1, &clc_devicetype) == NULL) {
    lua_pop(L, 1);
    clc_Device *d = clc_newhandle(L, &clc_devicetype, NULL, 1, 0);
    fill_facts(L, d, place);
    make_counters(L, d);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, -3, place.device);
  }
  lua_remove(L, -2);
}

void clc_pushdevice(lua_State *L, const clc_Device *d) {
  if (d->root == d) {
    lua_rawgetp(L, LUA_REGISTRYINDEX, &devices_key);
    lua_rawgetp(L, -1, d->place.device);
  } else {
    lua_rawgetp(L, LUA_REGISTRYINDEX, &queues_key);
    lua_rawgetp(L, -1, d);
  }
  lua_remove(L, -2);
}

/* The registry keeps a root; a further queue lives as long as what was made on it. */
void *clc_newowned(lua_State *L, const clc_Type *type, clc_Device *d, int values, size_t extra) {
  void *h = clc_newhandle(L, type, &d->h, values + 1, extra);
  if (d->root != d) {
    clc_pushdevice(L, d);
    lua_setiuservalue(L, -2, values + 1);
  }
  return h;
}

/* Pushes a Device with commands in flight (root: of that one and its further queues), or returns
   NULL. One that is being collected is none, nor is one from before a fork. */
static clc_Device *push_busy(lua_State *L, const clc_Device *root) {
  if (clc_isforked()) return NULL;
  for (clc_Handle *h = clc_nexthandle(L, NULL); h != NULL; h = clc_nexthandle(L, h)) {
    clc_Device *d = (clc_Device *)h;
    if (h->type != &clc_devicetype || h->released || (root != NULL && d->root != root) ||
        !clc_isbusy(d))
      continue;
    clc_pushdevice(L, d);
    if (clc_testhandle(L, -1, &clc_devicetype) == d) return d;
    lua_pop(L, 1);
  }
  return NULL;
}

/* Waiting may run Lua code, which changes the list of handles: so from its start each time. */
void clc_settleall(lua_State *L, const clc_Device *root) {
  for (clc_Device *d; (d = push_busy(L, root)) != NULL; lua_pop(L, 1)) clc_settle(L, d);
}

/* --- methods ----------------------------------------------------------- */

/***
Blocks until every command queued on the device has ended. Opens no context: a device
without one has nothing to wait for.
@function Device:wait
@return the device
@raise when a queued command failed, naming it
*/
static int device_wait(lua_State *L) {
  clc_Device *d = clc_checkdevice(L, 1);
  if (d->queue != NULL) clc_drain(L, d);
  lua_settop(L, 1);
  return 1;
}

/***
Every property as a table.
@function Device:info
@treturn table name to value; memory in bytes
*/
static int device_info(lua_State *L) {
  const clc_Device *d = clc_checkdevice(L, 1);
  clc_pushproperties(L, d->place.device, d->version);
  push_platform(L, d);
  lua_setfield(L, -2, "platform");
  push_align(L, d);
  lua_setfield(L, -2, "align");
  push_place(L, d);
  lua_setfield(L, -2, "place");
  return 1;
}

/* A device that a hook opened afresh meanwhile stays. */
static void forget_place(lua_State *L, const clc_Device *d) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &devices_key);
  lua_rawgetp(L, -1, d->place.device);
  if (clc_testhandle(L, -1, &clc_devicetype) == d) {
    lua_pushnil(L);
    lua_rawsetp(L, -3, d->place.device);
  }
  lua_pop(L, 2);
}

/***
Waits for the queue, and for further ones on the same memory, then releases all
that was made on the device: buffers, programs, kernels, events. Using those later
is an error; the next `clcompute.device` call opens the hardware afresh. May be
called twice.
@function Device:close
@return the device
@raise when a queued command failed, naming it; the device is closed all the same
*/
static int device_close(lua_State *L) {
  clc_Device *d = clc_tohandle(L, 1, &clc_devicetype);
  if (d != NULL && !d->h.released) {
    if (!clc_isforked()) clc_settle(L, d);
    if (d->root == d) {
      clc_settleall(L, d);
      forget_place(L, d);
    }
    clc_release(&d->h);
    if (!clc_isforked()) clc_report(L, d);
  }
  lua_settop(L, 1);
  return 1;
}

/***
A further in-order queue on the same memory: its commands run beside those of the
device. It is a Device itself: what is made on it is queued there, and buffers of
either may be used on both; `Event:before` orders them.
@function Device:queue
@treturn Device
*/
static int device_queue(lua_State *L) {
  clc_Device *root = clc_checkopen(L, 1)->root;
  clc_Device *d = clc_newhandle(L, &clc_devicetype, &root->h, 1, 0);
  copy_facts(d, root);
  clc_check(L, clRetainContext(root->context), "clRetainContext");
  d->context = root->context;
  create_queue(L, d, &d->queue);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &queues_key);
  lua_pushvalue(L, -2);
  lua_rawsetp(L, -2, d);
  lua_pop(L, 1);
  return 1;
}

static int device_show(lua_State *L) {
  const clc_Device *d = clc_checkdevice(L, 1);
  lua_pushfstring(L, "%d:%d ", d->place.p, d->place.d);
  clc_pushplatformtext(L, d->place.platform, CL_PLATFORM_NAME);
  lua_pushliteral(L, "/");
  clc_pushdevicetext(L, d->place.device, CL_DEVICE_NAME);
  lua_pushliteral(L, " (");
  clc_pushproperty(L, d->place.device, d->version, "type");
  lua_pushfstring(L, ", %d compute units, %d MiB)%s",
                  (int)clc_devicenumber(d->place.device, CL_DEVICE_MAX_COMPUTE_UNITS, 0),
                  (int)(d->global_memory >> 20), d->root == d ? "" : " queue");
  lua_concat(L, 7);
  return 1;
}

void clc_opendevices(lua_State *L) {
  static const luaL_Reg methods[] = {{"wait", device_wait},
                                     {"info", device_info},
                                     {"queue", device_queue},
                                     {"close", device_close},
                                     {NULL, NULL}};
  static const luaL_Reg metamethods[] = {{"__close", device_close}, {NULL, NULL}};
  clc_opentype(L, &clc_devicetype, device_field, device_show, methods, metamethods);
  lua_newtable(L);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &devices_key);
  lua_newtable(L);
  lua_createtable(L, 0, 1);
  lua_pushliteral(L, "v");
  lua_setfield(L, -2, "__mode");
  lua_setmetatable(L, -2);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &queues_key);
}
