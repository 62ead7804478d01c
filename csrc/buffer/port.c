/* SPDX-License-Identifier: MIT */
/* Ports: the queues and the pinned memory of a device for what goes to others, or comes from them.
 */
#include "ferry.h"

#include <string.h>

/* Bytes of a slot. 16 MiB take 11 ms to be pinned on H200; a processor copies through its cache. */
#define OF_GPU ((size_t)4 << 20)
#define OF_CPU ((size_t)1 << 20)

size_t clc_slotroom(const clc_Device *d) {
  return d->context->has_host_memory ? OF_CPU : OF_GPU;
}

#define SMALLEST ((size_t)512 << 10) /* bytes of a piece, where there is as much */
#define PIECES 8                     /* that overlap well; larger ones cost less each */

size_t clc_piecesize(size_t bytes, size_t room) {
  bytes /= PIECES;
  if (bytes < SMALLEST) bytes = SMALLEST;
  return bytes < room ? bytes : room;
}

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
  p->room = clc_slotroom(d);
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

/* --- commands between a slot and a box ---------------------------------------- */

static cl_int move_row(cl_command_queue queue, const clc_Box *box, size_t cols, char *slot,
                       int is_read, cl_event *event) {
  const clc_Buffer *b = box->buffer;
  const size_t size = b->dtype->size, at = (b->offset + box->first) * size;
  return is_read
             ? clEnqueueReadBuffer(queue, b->mem, CL_FALSE, at, cols * size, slot, 0, NULL, event)
             : clEnqueueWriteBuffer(queue, b->mem, CL_FALSE, at, cols * size, slot, 0, NULL, event);
}

static cl_int move_rows(cl_command_queue queue, const clc_Box *box, const clc_Extent *e, char *slot,
                        int is_read, cl_event *event) {
  static const size_t start[3] = {0, 0, 0};
  const clc_Buffer *b = box->buffer;
  const size_t size = b->dtype->size, row = e->cols * size, region[3] = {row, e->rows, 1};
  const clc_Corner c = clc_cornerof(box, size);
  return is_read ? clEnqueueReadBufferRect(queue, b->mem, CL_FALSE, c.origin, start, region, c.row,
                                           0, row, 0, slot, 0, NULL, event)
                 : clEnqueueWriteBufferRect(queue, b->mem, CL_FALSE, c.origin, start, region, c.row,
                                            0, row, 0, slot, 0, NULL, event);
}

/* Rows that one command takes: of a box without room behind its last row all but that one. */
static size_t rows_at_once(const clc_Box *box, const clc_Extent *e) {
  if (!clc_isnarrow(box, box->buffer->dtype->size)) return 1;
  return e->rows == 1 || clc_hasroom(box, e) ? e->rows : e->rows - 1;
}

cl_int clc_moveslot(cl_command_queue queue, const clc_Box *box, const clc_Extent *e, char *slot,
                    int is_read, cl_event *event) {
  cl_int code = CL_SUCCESS;
  clc_Box part = *box;
  clc_Extent left = *e;
  *event = NULL;
  if (clc_ispacked(box, e)) return move_row(queue, box, e->rows * e->cols, slot, is_read, event);
  while (left.rows > 0 && code == CL_SUCCESS) {
    const clc_Extent now = {1, rows_at_once(&part, &left), e->cols};
    left.rows -= now.rows;
    cl_event *own = left.rows == 0 ? event : NULL;
    code = now.rows == 1 ? move_row(queue, &part, e->cols, slot, is_read, own)
                         : move_rows(queue, &part, &now, slot, is_read, own);
    part.first += now.rows * part.row;
    slot += now.rows * e->cols * part.buffer->dtype->size;
  }
  if (code != CL_SUCCESS) *event = NULL;
  return code;
}

/* --- the order of queues ---------------------------------------------------- */

void clc_waitfordevice(lua_State *L, clc_Device *d, cl_command_queue queue) {
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
