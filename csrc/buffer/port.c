/* SPDX-License-Identifier: MIT */
/* Ports: the queues and the pinned memory of a device for what goes to others, or comes from them.
 */
#include "ferry.h"

#include <string.h>

/* Bytes of a slot. 16 MiB take 11 ms to be pinned on H200; a processor copies through its cache. */
#define OF_GPU ((size_t)4 << 20)
#define OF_CPU ((size_t)1 << 20)

void clc_dropevent(cl_event *event) {
  if (*event != NULL) clReleaseEvent(*event);
  *event = NULL;
}

int clc_isended(cl_event event, cl_int *code) {
  cl_int status;
  const cl_int asked =
      clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
  *code = asked != CL_SUCCESS ? asked : status;
  return *code <= CL_COMPLETE;
}

void clc_finishport(clc_Port *p) {
  if (p->out != NULL) clFinish(p->out);
  if (p->in != NULL) clFinish(p->in);
}

void clc_emptyslots(clc_Port *p) {
  for (int i = 0; i < CLC_SLOTS; i++) clc_dropevent(&p->pieces[i].read);
  p->sent = p->read;
}

static void free_slots(clc_Port *p) {
  if (p->pinned != NULL) {
    clEnqueueUnmapMemObject(p->out, p->pinned, p->memory, 0, NULL, NULL);
    clReleaseMemObject(p->pinned);
  } else if (p->memory != NULL) {
    clc_freepages(&p->pages);
  }
  p->memory = NULL;
  p->pinned = NULL;
}

/* Other devices may be writing what is in the slots. */
static void port_release(clc_Handle *h) {
  clc_Port *p = (clc_Port *)h;
  clc_finishport(p);
  for (int i = 0; i < CLC_SLOTS; i++) {
    if (p->written[i] != NULL) clWaitForEvents(1, &p->written[i]);
    clc_dropevent(&p->written[i]);
  }
  clc_emptyslots(p);
  clc_dropevent(&p->arrived);
  free_slots(p);
  if (p->out != NULL) clReleaseCommandQueue(p->out);
  if (p->in != NULL) clReleaseCommandQueue(p->in);
  p->out = p->in = NULL;
}

static const clc_Type port_type = {"port", "clcompute.Port", sizeof(clc_Port), port_release, 0,
                                   NULL};

/* --- making one ------------------------------------------------------------- */

static clc_Outcome make_slots(clc_Device *d, clc_Handle *owner, size_t bytes) {
  clc_Port *p = (clc_Port *)owner;
  clc_Outcome r = {CL_SUCCESS, "clCreateBuffer"};
  if (d->context->has_host_memory) {
    p->pages = clc_newpages(bytes);
    p->memory = p->pages.memory;
    return (clc_Outcome){p->memory != NULL ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY, "mmap"};
  }
  cl_mem mem = clCreateBuffer(d->context->cl, CL_MEM_ALLOC_HOST_PTR, bytes, NULL, &r.code);
  if (r.code != CL_SUCCESS) return r;
  r.call = "clEnqueueMapBuffer";
  p->memory = clEnqueueMapBuffer(p->out, mem, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, bytes, 0,
                                 NULL, NULL, &r.code);
  if (r.code == CL_SUCCESS)
    p->pinned = mem;
  else
    clReleaseMemObject(mem);
  if (r.code != CL_SUCCESS) p->memory = NULL;
  return r;
}

/* The device has a queue. */
static clc_Port *push_new(lua_State *L, clc_Device *d) {
  clc_Port *p = clc_newowned(L, &port_type, d, 0);
  p->device = d;
  p->room = d->context->has_host_memory ? OF_CPU : OF_GPU;
  p->out = clc_newqueue(L, d);
  p->in = clc_newqueue(L, d);
  clc_create(L, d, &p->h, make_slots, CLC_SLOTS * p->room);
  return p;
}

clc_Port *clc_pushport(lua_State *L, clc_Device *d) {
  luaL_checkstack(L, 8, NULL);
  clc_pushdevice(L, d); /* keeps it */
  clc_usedevice(L, d);
  if (clc_getvalue(L, -1, CLC_PORTVALUE) == LUA_TNIL) {
    lua_pop(L, 1);
    push_new(L, d);
    lua_pushvalue(L, -1);
    clc_setvalue(L, -3, CLC_PORTVALUE);
  }
  lua_remove(L, -2);
  return clc_checkhandle(L, -1, &port_type);
}

char *clc_slotof(const clc_Port *p, size_t piece) {
  return p->memory + piece % CLC_SLOTS * p->room;
}

/* --- the order of queues ---------------------------------------------------- */

void clc_waitfordevice(lua_State *L, clc_Port *p, cl_command_queue queue) {
  clc_Device *d = p->device;
  if (d->foreign) clc_drain(L, d);
  const clc_Command *last = clc_follow(&d->flight, d->flight.queued);
  if (last == NULL) return;
  clc_check(L, clFlush(d->queue), "clFlush"); /* or the two could wait for ever */
  clc_check(L, clEnqueueBarrierWithWaitList(queue, 1, &last->event, NULL),
            "clEnqueueBarrierWithWaitList");
}

void clc_landarrived(lua_State *L, clc_Port *p) {
  if (p->arrived == NULL) return;
  clc_Device *d = p->device;
  cl_event *event = clc_reserve(L, d, "copy from another device");
  if (p->arrived == NULL) return; /* a hook was quicker */
  clc_commit(L, d, clEnqueueBarrierWithWaitList(d->queue, 1, &p->arrived, event),
             "clEnqueueBarrierWithWaitList");
  clc_dropevent(&p->arrived);
}

void clc_openports(lua_State *L) {
  clc_openhidden(L, &port_type);
}
