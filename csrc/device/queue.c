/* SPDX-License-Identifier: MIT */
/* The queue of a device: made at its first use, and anew where times are asked for or not any more;
   what is put into it, and the wait for that. */
#include "device.h"

/* --- making it --------------------------------------------------------- */

static int wants_times(const clc_Device *d) {
  return d->timing || d->profile->on;
}

/* Times are not for nothing: with them NVIDIA's driver takes twice as long for a copy, and for each
   event. Oclgrind (1.2) never returns from the newer call when it comes through ocl-icd. */
static cl_command_queue make_queue(lua_State *L, const clc_Context *c, cl_device_id id,
                                   cl_command_queue_properties times) {
  const cl_queue_properties props[] = {CL_QUEUE_PROPERTIES, times, 0};
  const int is_old = c->version < 200;
  cl_int code;
  cl_command_queue queue = is_old ? clCreateCommandQueue(c->cl, id, times, &code)
                                  : clCreateCommandQueueWithProperties(c->cl, id, props, &code);
  clc_check(L, code, is_old ? "clCreateCommandQueue" : "clCreateCommandQueueWithProperties");
  return queue;
}

cl_command_queue clc_newqueue(lua_State *L, const clc_Device *d) {
  return make_queue(L, d->context, d->context->place.device, 0);
}

static void create_queue(lua_State *L, clc_Device *d) {
  const clc_Context *c = d->context;
  const cl_command_queue_properties times = wants_times(d) ? CL_QUEUE_PROFILING_ENABLE : 0;
  d->flight.begins_at_once = c->begins_at_once;
  d->flight.sharers = c->is_pocl ? &c->queues : NULL;
  d->flight.spin = c->has_host_memory ? CLC_SPIN : CLC_SPIN_FOR_GPU;
  d->flight.queue = d->queue = make_queue(L, c, c->place.device, times);
  d->is_timed = times != 0;
  if (c->place.serial != NULL) d->serial = make_queue(L, c, c->place.serial, times);
}

void clc_usedevice(lua_State *L, clc_Device *d) {
  if (d->h.released) luaL_error(L, "device is released");
  clc_checkfork(L);
  if (d->queue == NULL) {
    clc_opencontext(L, d->context);
    create_queue(L, d);
  }
}

void clc_dropqueue(clc_Device *d) {
  if (d->queue != NULL) clReleaseCommandQueue(d->queue);
  if (d->serial != NULL) clReleaseCommandQueue(d->serial);
  d->queue = d->flight.queue = d->serial = NULL;
}

int clc_isuntimely(const clc_Device *d) {
  return d->queue != NULL && d->is_timed != wants_times(d);
}

/* The next use makes a queue that takes times, or none. A hook may put more into this one while it
   waits. */
void clc_renewqueue(lua_State *L, clc_Device *d) {
  while (clc_isuntimely(d)) {
    clc_settle(L, d);
    if (!clc_isbusy(d)) clc_dropqueue(d);
  }
}

void clc_settiming(lua_State *L, clc_Device *d, int timing) {
  d->timing = timing;
  clc_renewqueue(L, d);
  clc_report(L, d);
}

/* --- using it ---------------------------------------------------------- */

/* A hook may close the device meanwhile. */
static void wait_until(lua_State *L, clc_Device *d, unsigned most) {
  clc_Flight *f = &d->flight;
  if (f->count <= most && (most > 0 || f->unseen.n == 0)) return;
  luaL_checkstack(L, 5, NULL);
  clc_pushdevice(L, d); /* keeps it */
  do {
    if (most == 0) clc_mark(f);
    clc_waitflight(L, f, most);
  } while (most == 0 && f->unseen.n > 0);
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

/* A processor's driver makes its events in any case, and tells of the end of one sooner than of a
   barrier's; sequences do without, and what a kernel may tell. */
static int has_event(const clc_Device *d) {
  return d->is_timed || (d->context->is_cpu && !d->context->begins_at_once && !d->flight.replays);
}

cl_event *clc_reserve(lua_State *L, clc_Device *d, const char *what) {
  clc_refuseothers(L, d);
  if (d->flight.count == CLC_PENDING) clc_makeroom(L, d);
  clc_usedevice(L, d);
  clc_Command *c = clc_nextcommand(&d->flight);
  clc_namecommand(c, what);
  c->counter = NULL;
  return has_event(d) ? &c->event : NULL;
}

void clc_countpart(clc_Device *d, clc_Counter *counter, size_t bytes, int i, int n) {
  clc_Command *c = clc_nextcommand(&d->flight);
  c->counter = counter;
  c->bytes = bytes;
  c->first = i == 0;
  c->last = i == n - 1;
}

clc_Counter *clc_transfercounter(const clc_Device *d, clc_Kind kind) {
  return d->profile->on ? d->context->transfers[kind] : NULL;
}

void clc_commit(lua_State *L, clc_Device *d, cl_int code, const char *call) {
  if (code != CL_SUCCESS) clc_raise(L, code, call, "%s", clc_nextcommand(&d->flight)->what);
  clc_queued(&d->flight, has_event(d));
}

void clc_report(lua_State *L, clc_Device *d) {
  clc_reportfailure(L, &d->flight);
}

static void wait_foreign(lua_State *L, clc_Device *d) {
  if (d->flight.count == CLC_PENDING) clc_makeroom(L, d);
  clc_usedevice(L, d);
  clc_putbarrier(&d->flight, "commands of another library");
  d->foreign = 0;
  wait_until(L, d, 0);
}

void clc_settle(lua_State *L, clc_Device *d) {
  wait_until(L, d, 0);
  if (d->foreign && !d->h.released) wait_foreign(L, d);
}

void clc_drain(lua_State *L, clc_Device *d) {
  clc_refuserecorded(L, d);
  clc_usedevice(L, d);
  clc_settle(L, d);
  clc_usedevice(L, d); /* a hook may have closed it */
  clc_report(L, d);
}

int clc_mustqueue(clc_Device *d) {
  return d->context->recording != NULL || clc_isbusy(d);
}

int clc_isbusy(clc_Device *d) {
  clc_retireended(&d->flight);
  if (d->flight.count == 0) clc_mark(&d->flight);
  return d->flight.count > 0 || d->foreign;
}

int clc_isquiet(clc_Device *d) {
  clc_Flight *f = &d->flight;
  clc_retireended(f);
  return f->count == 0 && f->unseen.n == 0 && !d->foreign && !f->lost;
}

cl_command_queue clc_quickqueue(clc_Device *d) {
  return d->serial != NULL && clc_isquiet(d) ? d->serial : d->queue;
}

/* --- other queues of the context ----------------------------------------- */

int clc_waitbehind(lua_State *L, clc_Device *d, clc_Device *other, uint64_t ticket) {
  cl_event *event = clc_reserve(L, d, "waiting for an event of another queue");
  const clc_Command *c = clc_follow(&other->flight, ticket);
  if (c == NULL) return 0;
  clc_check(L, clFlush(other->queue), "clFlush"); /* or the two could wait for ever */
  clc_commit(L, d, clEnqueueBarrierWithWaitList(d->queue, 1, &c->event, event),
             "clEnqueueBarrierWithWaitList");
  return 1;
}

void clc_waitbehindsource(lua_State *L, clc_Device *d, clc_Device *source) {
  if (source == d || clc_isquiet(source) || d->context->recording != NULL) return;
  if (source->foreign) clc_settle(L, source);
  clc_waitbehind(L, d, source, source->flight.queued);
}
