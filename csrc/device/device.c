/* SPDX-License-Identifier: MIT */
/* Devices: an in-order queue (queue.c) on the context of an OpenCL device. */
#include "device.h"

#include <string.h>

static const char devices_key = 0; /* registry, weak: node -> Device object */

/* --- the object -------------------------------------------------------- */

/* Into other memory than pinned one NVIDIA's driver reads at once: it waits, and then so does who
   looks for the end. */
void clc_makelanding(clc_Device *d) {
  const size_t bytes = CLC_LANDING + 8 * CLC_TELLINGS;
  cl_int code;
  if (d->landing != NULL) return;
  d->pinned = clCreateBuffer(d->context->cl, CL_MEM_ALLOC_HOST_PTR, bytes, NULL, &code);
  if (code != CL_SUCCESS) return;
  d->landing = clEnqueueMapBuffer(d->queue, d->pinned, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
                                  bytes, 0, NULL, NULL, &code);
  if (code == CL_SUCCESS) return;
  clReleaseMemObject(d->pinned);
  d->landing = NULL;
}

static void drop_landing(clc_Device *d) {
  if (d->landing == NULL) return;
  if (d->queue != NULL) clEnqueueUnmapMemObject(d->queue, d->pinned, d->landing, 0, NULL, NULL);
  clReleaseMemObject(d->pinned);
  d->landing = NULL;
}

void clc_lend(clc_Device *d) {
  if (d->lent == d->queue) return;
  if (d->lent != NULL) clReleaseCommandQueue(d->lent);
  d->lent = d->queue;
  clRetainCommandQueue(d->lent);
}

/* Commands that go on when their queue is gone use memory of which nobody sees when it is free. */
static void device_release(clc_Handle *h) {
  clc_Device *d = (clc_Device *)h;
  clc_Context *c = d->context;
  c->queues--;
  if (!clc_endflight(&d->flight)) c->dropped += clc_closepool(&c->pool); /* they use its memory */
  clc_releaseowned(h);
  clc_dropteller(d);
  drop_landing(d);
  clc_dropqueue(d);
  if (d->lent != NULL) clReleaseCommandQueue(d->lent);
  d->lent = NULL;
}

const clc_Type clc_devicetype = {
    "device", "clcompute.Device", sizeof(clc_Device), device_release, 1, NULL};

clc_Device *clc_checkdevice(lua_State *L, int arg) {
  return clc_checkhandle(L, arg, &clc_devicetype);
}

static void push_align(lua_State *L, const clc_Context *c) {
  lua_pushinteger(L, (lua_Integer)c->align);
}

static void push_platform(lua_State *L, const clc_Context *c) {
  clc_pushplatformtext(L, c->place.platform, CL_PLATFORM_NAME);
}

/* nil of what is no part. */
static void push_parent(lua_State *L) {
  clc_getvalue(L, 1, CLC_CONTEXTVALUE);
  clc_getvalue(L, -1, CLC_PARENTVALUE);
  lua_remove(L, -2);
}

/* nil where there is none: of devices that are not isolated. */
static void push_limit(lua_State *L, double limit) {
  if (limit > 0)
    lua_pushnumber(L, limit);
  else
    lua_pushnil(L);
}

static void push_sandbox(lua_State *L, const clc_Context *c) {
  if (c->executor->is_isolated)
    clc_pushsandbox(L);
  else
    lua_pushnil(L);
}

static int device_field(lua_State *L) {
  const clc_Context *c = clc_checkdevice(L, 1)->context;
  const char *key = lua_tostring(L, 2);
  if (key == NULL) return 0;
  if (strcmp(key, "align") == 0)
    push_align(L, c);
  else if (strcmp(key, "platform") == 0)
    push_platform(L, c);
  else if (strcmp(key, "place") == 0)
    clc_pushplacename(L, &c->place);
  else if (strcmp(key, "parent") == 0)
    push_parent(L);
  else if (strcmp(key, "has_double") == 0)
    lua_pushboolean(L, c->has_double); /* asked once: operations choose their kernels by it */
  else if (strcmp(key, "isolated") == 0)
    lua_pushboolean(L, c->executor->is_isolated);
  else if (strcmp(key, "careful") == 0)
    lua_pushboolean(L, c->careful);
  else if (strcmp(key, "limit") == 0)
    push_limit(L, c->limits.run);
  else if (strcmp(key, "build_limit") == 0)
    push_limit(L, c->limits.build);
  else if (strcmp(key, "sandbox") == 0)
    push_sandbox(L, c);
  else
    return clc_pushproperty(L, c->place.device, c->version, key);
  return 1;
}

clc_Device *clc_checkopen(lua_State *L, int arg) {
  clc_Device *d = clc_checkdevice(L, arg);
  clc_usedevice(L, d);
  return d;
}

static int is_failed(const clc_Device *d) {
  return d->flight.failed > d->flight.told;
}

/* Pushes a Device of which something is true, or returns NULL; one that is being collected is none.
 */
static clc_Device *push_such(lua_State *L, int (*is_such)(const clc_Device *d)) {
  for (clc_Handle *h = clc_nexthandle(L, NULL); h != NULL; h = clc_nexthandle(L, h)) {
    clc_Device *d = (clc_Device *)h;
    if (h->type != &clc_devicetype || h->released || !is_such(d)) continue;
    clc_pushdevice(L, d);
    if (clc_testhandle(L, -1, &clc_devicetype) == d) return d;
    lua_pop(L, 1);
  }
  return NULL;
}

/* Waiting may run Lua code, which changes the list of handles: so from its start each time. */
void clc_settimings(lua_State *L) {
  for (clc_Device *d; (d = push_such(L, clc_isuntimely)) != NULL; lua_pop(L, 1))
    clc_renewqueue(L, d);
  clc_Device *failed = push_such(L, is_failed);
  if (failed != NULL) clc_report(L, failed);
}

clc_Device *clc_newdevice(lua_State *L, int context) {
  context = lua_absindex(L, context);
  clc_Context *c = clc_checkhandle(L, context, &clc_contexttype);
  clc_Device *d = clc_newhandle(L, &clc_devicetype, &c->h, 0);
  d->context = c;
  c->queues++;
  d->profile = clc_getprofile(L);
  d->timing = c->times;
  lua_pushvalue(L, context);
  clc_setvalue(L, -2, CLC_CONTEXTVALUE);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &devices_key);
  lua_pushvalue(L, -2);
  lua_rawsetp(L, -2, d);
  lua_pop(L, 1);
  return d;
}

clc_Device *clc_pushplace(lua_State *L, clc_Place place, const clc_Executor *executor) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, executor);
  lua_rawgetp(L, -1, place.device);
  if (clc_testhandle(L, -1, &clc_devicetype) == NULL) {
    lua_pop(L, 1);
    clc_Context *c = clc_newcontext(L, executor, NULL);
    c->place = place;
    clc_learnplace(L, c);
    clc_newdevice(L, -1);
    lua_remove(L, -2);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, -3, place.device);
  }
  lua_remove(L, -2);
  return clc_checkhandle(L, -1, &clc_devicetype);
}

/* Pushes the table of the devices that opened a context, by cl_device_id; one an executor. */
static void push_places(lua_State *L, const clc_Device *d) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, d->context->executor);
}

void clc_pushdevice(lua_State *L, const clc_Device *d) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &devices_key);
  lua_rawgetp(L, -1, d);
  lua_remove(L, -2);
}

int clc_askofdevice(lua_State *L, const clc_Device *d, const char *question) {
  const int top = lua_gettop(L);
  int yes = 0;
  if (clc_getinternal(L, question) == LUA_TFUNCTION) {
    clc_pushdevice(L, d);
    lua_call(L, 1, 1);
    yes = lua_toboolean(L, -1);
  }
  lua_settop(L, top);
  return yes;
}

int clc_ispart(const clc_Device *d) {
  return *d->context->place.part != '\0';
}

/* The registry keeps other devices; a further queue and a part live as long as what was made on
   them. */
void *clc_newowned(lua_State *L, const clc_Type *type, clc_Device *d, size_t extra) {
  void *h = clc_newhandle(L, type, &d->h, extra);
  if (d->is_further || clc_ispart(d)) {
    clc_pushdevice(L, d);
    lua_setiuservalue(L, -2, 1);
  }
  return h;
}

/* Whether a device is a queue of a context (NULL: of any), or of a part of its device. */
static int is_within(const clc_Device *d, const clc_Context *c) {
  const clc_Handle *h = &d->h;
  while (c != NULL && h != NULL && h != &c->h) h = h->owner;
  return h != NULL;
}

/* Pushes a Device within a context that has commands in flight, or returns NULL. One
 * that is being collected is none, nor is one from before a fork. */
static clc_Device *push_busy(lua_State *L, const clc_Context *c) {
  if (clc_isforked()) return NULL;
  for (clc_Handle *h = clc_nexthandle(L, NULL); h != NULL; h = clc_nexthandle(L, h)) {
    clc_Device *d = (clc_Device *)h;
    if (h->type != &clc_devicetype || h->released || !is_within(d, c) || !clc_isbusy(d)) continue;
    clc_pushdevice(L, d);
    if (clc_testhandle(L, -1, &clc_devicetype) == d) return d;
    lua_pop(L, 1);
  }
  return NULL;
}

int clc_isidle(lua_State *L, const clc_Context *c) {
  for (clc_Handle *h = clc_nexthandle(L, NULL); h != NULL; h = clc_nexthandle(L, h)) {
    clc_Device *d = (clc_Device *)h;
    if (h->type != &clc_devicetype || h->released || d->context != c) continue;
    if (clc_isbusy(d) || d->flight.lost) return 0;
  }
  return 1;
}

/* Waiting may run Lua code, which changes the list of handles: so from its start each time. */
void clc_settleall(lua_State *L, const clc_Context *c) {
  for (clc_Device *d; (d = push_busy(L, c)) != NULL; lua_pop(L, 1)) clc_settle(L, d);
}

/* still_running([seconds]) --> a Device with commands in flight after that, and the name of the
   oldest; nil: none. */
static int still_running(lua_State *L) {
  const double start = clc_now(), patience = luaL_optnumber(L, 1, 0);
  const clc_Device *d;
  lua_settop(L, 0);
  for (double waited = 0; (d = push_busy(L, NULL)) != NULL; waited = clc_now() - start) {
    if (waited >= patience) break;
    clc_rest(waited);
    lua_settop(L, 0);
  }
  if (d == NULL) return 0;
  const clc_Flight *f = &d->flight;
  lua_pushstring(L, f->count > 0 ? f->pending[f->oldest].what : "a command of another library");
  return 2;
}

/* --- methods ----------------------------------------------------------- */

static int device_wait(lua_State *L) {
  clc_Device *d = clc_checkdevice(L, 1);
  clc_checkfork(L);
  if (d->queue != NULL) clc_drain(L, d);
  d->context->dropped += clc_agepool(&d->context->pool);
  lua_settop(L, 1);
  return 1;
}

static int device_trim(lua_State *L) {
  clc_Context *c = clc_checkdevice(L, 1)->context;
  clc_checkfork(L);
  c->dropped += clc_emptypool(&c->pool);
  lua_settop(L, 1);
  return 1;
}

static int device_info(lua_State *L) {
  const clc_Context *c = clc_checkdevice(L, 1)->context;
  clc_pushproperties(L, c->place.device, c->version);
  push_platform(L, c);
  lua_setfield(L, -2, "platform");
  push_align(L, c);
  lua_setfield(L, -2, "align");
  clc_pushplacename(L, &c->place);
  lua_setfield(L, -2, "place");
  push_parent(L);
  lua_setfield(L, -2, "parent");
  lua_pushboolean(L, c->executor->is_isolated);
  lua_setfield(L, -2, "isolated");
  lua_pushboolean(L, c->careful);
  lua_setfield(L, -2, "careful");
  push_limit(L, c->limits.run);
  lua_setfield(L, -2, "limit");
  push_limit(L, c->limits.build);
  lua_setfield(L, -2, "build_limit");
  push_sandbox(L, c);
  lua_setfield(L, -2, "sandbox");
  clc_namefields(L, "clcompute.DeviceInfo");
  return 1;
}

/* A device that a hook opened afresh meanwhile stays. */
static void forget_place(lua_State *L, const clc_Device *d) {
  push_places(L, d);
  lua_rawgetp(L, -1, d->context->place.device);
  if (clc_testhandle(L, -1, &clc_devicetype) == d) {
    lua_pushnil(L);
    lua_rawsetp(L, -3, d->context->place.device);
  }
  lua_pop(L, 2);
}

/*
 * d:close(). A further queue waits for its commands and goes alone. The first queue waits for the
 * commands of all queues and forgets its place, so that the next selector opens it anew; then the
 * context goes: each queue (device_release: the objects made on it, oldest first, the landing, the
 * queues of OpenCL) and each part of the device, the pool, the context of OpenCL, the executor
 * (context_release).
 */
static int device_close(lua_State *L) {
  clc_Device *d = clc_tohandle(L, 1, &clc_devicetype);
  if (d != NULL && !d->h.released) {
    clc_refuserecorded(L, d);
    if (!clc_isforked()) clc_settle(L, d);
    if (d->is_further) {
      clc_release(&d->h);
    } else {
      clc_settleall(L, d->context);
      forget_place(L, d);
      clc_release(&d->context->h);
    }
    if (!clc_isforked()) clc_report(L, d);
  }
  lua_settop(L, 1);
  return 1;
}

/* d:timing(on) --> the device; d:timing() --> whether launches are timed. */
static int device_timing(lua_State *L) {
  clc_Device *d = clc_checkopen(L, 1);
  if (lua_isnoneornil(L, 2)) {
    lua_pushboolean(L, d->timing);
    return 1;
  }
  luaL_checktype(L, 2, LUA_TBOOLEAN);
  clc_settiming(L, d, lua_toboolean(L, 2));
  lua_settop(L, 1);
  return 1;
}

/* What the pool gave out may be in use by commands of the first queue, which the other one will not
   wait for. */
static int device_queue(lua_State *L) {
  clc_Device *first = clc_checkopen(L, 1);
  lua_settop(L, 1);
  clc_getvalue(L, 1, CLC_CONTEXTVALUE);
  clc_Device *d = clc_newdevice(L, 2); /* from now on the pool knows that there are several */
  d->is_further = 1;
  d->timing = first->timing;
  if (first->context->queues == 2) clc_drain(L, first);
  clc_usedevice(L, d);
  return 1;
}

static int device_show(lua_State *L) {
  const clc_Device *d = clc_checkdevice(L, 1);
  const clc_Context *c = d->context;
  clc_pushplacename(L, &c->place);
  lua_pushliteral(L, " ");
  clc_pushplatformtext(L, c->place.platform, CL_PLATFORM_NAME);
  lua_pushliteral(L, "/");
  clc_pushdevicetext(L, c->place.device, CL_DEVICE_NAME);
  lua_pushliteral(L, " (");
  clc_pushproperty(L, c->place.device, c->version, "type");
  const int units = (int)clc_checkdevicenumber(L, c->place.device, CL_DEVICE_MAX_COMPUTE_UNITS);
  lua_pushfstring(L, ", %d compute unit%s, %d MiB)%s", units, units == 1 ? "" : "s",
                  (int)(c->global_memory >> 20), d->is_further ? " queue" : "");
  lua_pushstring(L, c->executor->is_isolated ? " isolated" : "");
  lua_concat(L, 9);
  return 1;
}

void clc_opendevices(lua_State *L) {
  static const clc_Function methods[] = {{"wait", device_wait, 0},
                                         {"info", device_info, 0},
                                         {"queue", device_queue, 0},
                                         {"close", device_close, 0},
                                         {"trim", device_trim, 0},
                                         {"timing", device_timing, 1},
                                         {NULL, NULL, 0}};
  static const luaL_Reg metamethods[] = {{"__close", device_close}, {NULL, NULL}};
  static const luaL_Reg functions[] = {{"still_running", still_running}, {NULL, NULL}};
  clc_addinternal(L, functions);
  const char *fields = lua_pushfstring(
      L, "align platform place parent isolated careful limit build_limit sandbox %s",
      clc_pushpropertynames(L));
  clc_opentype(L, &clc_devicetype, device_field, fields, device_show, methods, metamethods);
  lua_pop(L, 2);
  lua_newtable(L);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &clc_localexecutor);
  lua_newtable(L);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &clc_isolatedexecutor);
  clc_pushweak(L, "v");
  lua_rawsetp(L, LUA_REGISTRYINDEX, &devices_key);
  clc_opencontexts(L);
  clc_openlive(L);
  clc_opentelling(L);
  clc_openparts(L);
  clc_openprofile(L);
  clc_opendiscovery(L);
  clc_openevents(L);
  clc_openrecordings(L);
}
