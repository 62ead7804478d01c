/* SPDX-License-Identifier: MIT */
/***
Devices: one OpenCL device with a context and an in-order queue of its own.
@module clcompute
*/
#include "device.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

#define LIMIT 60 /* seconds that a kernel of an isolated device has, unless told otherwise */

static const char devices_key = 0;  /* registry: cl_device_id -> Device object */
static const char isolated_key = 0; /* registry: the same for isolated ones */
static const char queues_key = 0;   /* registry, weak: node -> Device object of a further queue */

/* --- its queue --------------------------------------------------------- */

/* A hook may close the device meanwhile. */
static void wait_until(lua_State *L, clc_Device *d, unsigned most) {
  clc_Flight *f = &d->flight;
  if (f->count <= most && (most > 0 || f->unseen == 0)) return;
  luaL_checkstack(L, 5, NULL);
  clc_pushdevice(L, d); /* keeps it */
  do {
    if (most == 0) clc_mark(f);
    clc_waitflight(L, f, most);
  } while (most == 0 && f->unseen > 0);
  lua_pop(L, 1);
}

void clc_makeroom(lua_State *L, clc_Device *d) {
  clc_usedevice(L, d);
  luaL_checkstack(L, 5, NULL);
  clc_pushdevice(L, d); /* keeps it: a hook may close it */
  clc_checkinterrupt(L);
  clc_usedevice(L, d);
  if (d->flight.count >= CLC_PENDING / 2) clc_retireended(&d->flight);
  wait_until(L, d, CLC_PENDING - CLC_ROOM);
  clc_usedevice(L, d);
  lua_pop(L, 1);
}

cl_event *clc_reserve(lua_State *L, clc_Device *d, const char *what) {
  if (d->flight.count == CLC_PENDING) clc_makeroom(L, d);
  clc_usedevice(L, d);
  clc_Command *c = clc_nextcommand(&d->flight);
  clc_namecommand(c, what);
  c->counter = NULL;
  return &c->event;
}

void clc_countpart(clc_Device *d, clc_Counter *counter, size_t bytes, int i, int n) {
  clc_Command *c = clc_nextcommand(&d->flight);
  c->counter = counter;
  c->bytes = bytes;
  c->first = i == 0;
  c->last = i == n - 1;
}

clc_Counter *clc_transfercounter(const clc_Device *d, clc_Kind kind) {
  return d->profile->on ? d->transfers[kind] : NULL;
}

void clc_commit(lua_State *L, clc_Device *d, cl_int code, const char *call) {
  if (code != CL_SUCCESS) clc_raise(L, code, call, "%s", clc_nextcommand(&d->flight)->what);
  clc_queued(&d->flight);
}

void clc_report(lua_State *L, clc_Device *d) {
  clc_reportfailure(L, &d->flight);
}

void clc_commitunseen(lua_State *L, clc_Device *d, cl_int code, const char *call,
                      const char *what) {
  if (code != CL_SUCCESS) clc_raise(L, code, call, "%s", what);
  clc_queuedunseen(&d->flight, what);
}

static void wait_foreign(lua_State *L, clc_Device *d) {
  if (d->flight.count == CLC_PENDING) clc_makeroom(L, d);
  clc_usedevice(L, d);
  clc_putmarker(&d->flight, "commands of another library");
  d->foreign = 0;
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
  clc_retireended(&d->flight);
  if (d->flight.count == 0) clc_mark(&d->flight);
  return d->flight.count > 0 || d->foreign;
}

/* --- the object -------------------------------------------------------- */

static void device_release(clc_Handle *h) {
  clc_Device *d = (clc_Device *)h;
  clc_endflight(&d->flight);
  clc_releaseowned(h);
  if (d->queue != NULL) clReleaseCommandQueue(d->queue);
  if (d->context != NULL) clReleaseContext(d->context);
  if (d->isolated && d->root == d) clc_closeworker(&d->worker);
  d->queue = d->flight.queue = NULL;
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

static void push_limit(lua_State *L, const clc_Device *d) {
  if (d->isolated)
    lua_pushnumber(L, d->root->worker.limit);
  else
    lua_pushnil(L);
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
  else if (strcmp(key, "has_double") == 0)
    lua_pushboolean(L, d->has_double); /* asked once: operations choose their kernels by it */
  else if (strcmp(key, "isolated") == 0)
    lua_pushboolean(L, d->isolated);
  else if (strcmp(key, "limit") == 0)
    push_limit(L, d);
  else
    return clc_pushproperty(L, d->place.device, d->version, key);
  return 1;
}

clc_Device *clc_checkopen(lua_State *L, int arg) {
  clc_Device *d = clc_checkdevice(L, arg);
  clc_usedevice(L, d);
  return d;
}

/* Oclgrind (1.2) never returns from the newer call when it comes through ocl-icd. */
static void create_queue(lua_State *L, clc_Device *d) {
  const cl_queue_properties props[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE, 0};
  const cl_device_id id = d->place.device;
  const int older = d->version < 200;
  cl_int code;
  d->queue = older ? clCreateCommandQueue(d->context, id, CL_QUEUE_PROFILING_ENABLE, &code)
                   : clCreateCommandQueueWithProperties(d->context, id, props, &code);
  if (code != CL_SUCCESS) d->queue = NULL;
  d->flight.queue = d->queue;
  clc_check(L, code, older ? "clCreateCommandQueue" : "clCreateCommandQueueWithProperties");
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
  if (d->isolated && !clc_openarena(&d->worker.arena))
    luaL_error(L, "no memory can be shared with a worker: %s", strerror(errno));
  create_queue(L, d);
}

void clc_usedevice(lua_State *L, clc_Device *d) {
  if (d->h.released) luaL_error(L, "device is released");
  clc_checkfork(L);
  if (d->queue == NULL) open_context(L, d);
}

/* Whether check mode is on from the start. */
static int is_checking(void) {
  static const char *const off[] = {"", "0", "off", "no", "false"};
  const char *value = getenv("CLCOMPUTE_CHECK");
  if (value == NULL) return 0;
  for (size_t i = 0; i < sizeof off / sizeof *off; i++)
    if (strcmp(value, off[i]) == 0) return 0;
  return 1;
}

static void fill_facts(lua_State *L, clc_Device *d, clc_Place place) {
  const cl_device_id id = place.device;
  int device = clc_parseversion(clc_pushdevicetext(L, id, CL_DEVICE_VERSION));
  int platform = clc_parseversion(clc_pushplatformtext(L, place.platform, CL_PLATFORM_VERSION));
  /* Driver 580 says 256 of every kernel, also of one that requires 1024, and takes up to
     the device's limit; a kernel that needs too many registers fails at its launch. */
  const char *name = clc_pushplatformtext(L, place.platform, CL_PLATFORM_NAME);
  d->understates_groups = strstr(name, "NVIDIA") != NULL;
  d->is_pocl = strcmp(name, "Portable Computing Language") == 0;
  lua_pop(L, 3);
  d->root = d;
  d->checks = is_checking();
  d->place = place;
  d->version = device < platform ? device : platform;
  d->is_cpu = (clc_checkdevicenumber(L, id, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU) != 0;
  d->compute_units = (size_t)clc_checkdevicenumber(L, id, CL_DEVICE_MAX_COMPUTE_UNITS);
  d->has_nonuniform_groups = clc_hasnonuniformgroups(L, id, d->version);
  d->has_double = clc_optdevicenumber(L, id, CL_DEVICE_DOUBLE_FP_CONFIG, 0) != 0;
  d->align = (size_t)clc_checkdevicenumber(L, id, CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8;
  d->max_group = (size_t)clc_checkdevicenumber(L, id, CL_DEVICE_MAX_WORK_GROUP_SIZE);
  size_t sizes[8] = {1, 1, 1}; /* OpenCL allows more than three dimensions */
  clc_check(L, clGetDeviceInfo(id, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof sizes, sizes, NULL),
            "clGetDeviceInfo");
  memcpy(d->max_groups, sizes, sizeof d->max_groups);
  d->local_memory = clc_checkdevicenumber(L, id, CL_DEVICE_LOCAL_MEM_SIZE);
  d->global_memory = clc_checkdevicenumber(L, id, CL_DEVICE_GLOBAL_MEM_SIZE);
  d->max_allocation = clc_checkdevicenumber(L, id, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
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
  to->isolated = from->isolated;
  to->is_pocl = from->is_pocl;
  to->compute_units = from->compute_units;
  to->understates_groups = from->understates_groups;
  to->has_double = from->has_double;
  to->has_nonuniform_groups = from->has_nonuniform_groups;
  to->align = from->align;
  to->max_group = from->max_group;
  memcpy(to->max_groups, from->max_groups, sizeof to->max_groups);
  to->local_memory = from->local_memory;
  to->global_memory = from->global_memory;
  to->max_allocation = from->max_allocation;
}

static clc_Device *push_root(lua_State *L, clc_Place place, int isolated) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, isolated ? &isolated_key : &devices_key);
  lua_rawgetp(L, -1, place.device);
  if (clc_testhandle(L, -1, &clc_devicetype) == NULL) {
    lua_pop(L, 1);
    clc_Device *d = clc_newhandle(L, &clc_devicetype, NULL, 0);
    fill_facts(L, d, place);
    make_counters(L, d);
    d->isolated = isolated;
    clc_initworker(&d->worker, LIMIT);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, -3, place.device);
  }
  lua_remove(L, -2);
  return clc_checkhandle(L, -1, &clc_devicetype);
}

void clc_pushplace(lua_State *L, clc_Place place) {
  push_root(L, place, 0);
}

void clc_pushisolated(lua_State *L, clc_Place place, double limit) {
  /* Oclgrind says that it is all of them. */
  const cl_ulong types = CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_ACCELERATOR;
  if ((clc_checkdevicenumber(L, place.device, CL_DEVICE_TYPE) & types) != CL_DEVICE_TYPE_CPU) {
    clc_pushplace(L, place);
    luaL_error(L,
               "only CPU devices can be isolated: %s is none; cl.device(\"cpu\", {isolated=true})",
               luaL_tolstring(L, -1, NULL));
  }
  clc_Device *d = push_root(L, place, 1);
  if (limit > 0) d->worker.limit = limit;
}

/* Pushes the table that has a root. */
static void push_roots(lua_State *L, const clc_Device *d) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, d->isolated ? &isolated_key : &devices_key);
}

void clc_pushdevice(lua_State *L, const clc_Device *d) {
  if (d->root == d) {
    push_roots(L, d);
    lua_rawgetp(L, -1, d->place.device);
  } else {
    lua_rawgetp(L, LUA_REGISTRYINDEX, &queues_key);
    lua_rawgetp(L, -1, d);
  }
  lua_remove(L, -2);
}

/* The registry keeps a root; a further queue lives as long as what was made on it. */
void *clc_newowned(lua_State *L, const clc_Type *type, clc_Device *d, size_t extra) {
  void *h = clc_newhandle(L, type, &d->h, extra);
  if (d->root != d) {
    clc_pushdevice(L, d);
    lua_setiuservalue(L, -2, 1);
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
  lua_pushboolean(L, d->isolated);
  lua_setfield(L, -2, "isolated");
  push_limit(L, d);
  lua_setfield(L, -2, "limit");
  clc_namefields(L, "clcompute.DeviceInfo");
  return 1;
}

/* A device that a hook opened afresh meanwhile stays. */
static void forget_place(lua_State *L, const clc_Device *d) {
  push_roots(L, d);
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
  clc_Device *d = clc_newhandle(L, &clc_devicetype, &root->h, 0);
  copy_facts(d, root);
  clc_check(L, clRetainContext(root->context), "clRetainContext");
  d->context = root->context;
  create_queue(L, d);
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
                  (int)clc_checkdevicenumber(L, d->place.device, CL_DEVICE_MAX_COMPUTE_UNITS),
                  (int)(d->global_memory >> 20), d->root == d ? "" : " queue");
  lua_pushstring(L, d->isolated ? " isolated" : "");
  lua_concat(L, 8);
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
  lua_rawsetp(L, LUA_REGISTRYINDEX, &isolated_key);
  clc_pushweak(L, "v");
  lua_rawsetp(L, LUA_REGISTRYINDEX, &queues_key);
  clc_openprofile(L);
  clc_opendiscovery(L);
  clc_openevents(L);
}
