/* SPDX-License-Identifier: MIT */
/*
 * Boxes: rectangles, and stacks of them, within a buffer or packed in the host's memory. One
 * function moves a box to another, wherever both are; reading and writing are moves from and to the
 * host.
 */
#include "ferry.h"

#include <stdint.h>
#include <string.h>

/* --- where a box lies ------------------------------------------------------ */

/* The column, row and slice of the memory in which a box begins. */
static void locate(const clc_Box *b, size_t origin[3]) {
  const size_t at = b->buffer->offset + b->first;
  const size_t slice = b->slice > 0 ? b->slice : at + 1; /* one slice holds it all */
  origin[0] = at % slice % b->row;
  origin[1] = at % slice / b->row;
  origin[2] = at / slice;
}

int clc_ispacked(const clc_Box *b, const clc_Extent *e) {
  return b->row == e->cols && (e->slices == 1 || b->slice == e->rows * e->cols);
}

int clc_hasroom(const clc_Box *b, const clc_Extent *e) {
  if (b->buffer == NULL || (clc_ispacked(b, e) && b->buffer->offset + b->first == 0)) return 1;
  size_t at[3];
  locate(b, at);
  const size_t end = e->slices > 1 ? (at[2] + e->slices) * b->slice
                                   : at[2] * b->slice + (at[1] + e->rows) * b->row;
  return end * b->buffer->dtype->size <= b->buffer->allocated;
}

int clc_isnarrow(const clc_Box *b, size_t size) {
  return b->row <= UINT32_MAX / size;
}

/* Whether rows go on in the next one, or slices in the next. */
static int wraps(const clc_Box *b, const size_t at[3], const clc_Extent *e) {
  return at[0] + e->cols > b->row || (b->slice > 0 && (at[1] + e->rows) * b->row > b->slice);
}

static int overlap_along(size_t a, size_t b, size_t n) {
  return a < b + n && b < a + n;
}

/* Whether boxes in one memory may have elements in common, or are none that one command copies:
   OpenCL takes no two pitches there, and of boxes that wrap drivers count gaps behind them, too. */
static int may_overlap(const clc_Box *a, const clc_Box *b, const clc_Extent *e) {
  const size_t first = a->buffer->offset + a->first, second = b->buffer->offset + b->first;
  const size_t rows = e->rows * a->row, slices = e->slices * (a->slice > 0 ? a->slice : rows);
  size_t at[3], to[3];
  if (a->row != b->row || a->slice != b->slice) return 1;
  locate(a, at);
  locate(b, to);
  if (wraps(a, at, e) || wraps(b, to, e))
    return overlap_along(first, second, slices + rows + e->cols);
  return overlap_along(at[0], to[0], e->cols) && overlap_along(at[1], to[1], e->rows) &&
         overlap_along(at[2], to[2], e->slices);
}

/* --- moving ---------------------------------------------------------------- */

clc_Corner clc_cornerof(const clc_Box *b, size_t size) {
  clc_Corner p = {{0, 0, 0}, b->row * size, b->slice * size};
  if (b->buffer != NULL) locate(b, p.origin);
  p.origin[0] *= size;
  return p;
}

static char *host_memory(const clc_Box *b, size_t size) {
  return b->host + b->first * size;
}

/* One command for a box in a buffer and one in the host's memory, which ends before this does. */
static void transfer(lua_State *L, const clc_Box *box, const clc_Box *host, const size_t region[3],
                     int is_read) {
  const clc_Buffer *b = box->buffer;
  const size_t size = b->dtype->size;
  const clc_Corner p = clc_cornerof(box, size), h = clc_cornerof(host, size);
  char *memory = host_memory(host, size);
  cl_event event = NULL;
  if (!is_read) clc_beforechange(L, b, NULL);
  clc_drain(L, b->device);
  if (b->h.released) luaL_error(L, "buffer is released"); /* by a hook */
  cl_command_queue queue = clc_quickqueue(b->device);
  clc_Counter *counter = clc_transfercounter(b->device, is_read ? CLC_READ : CLC_WRITE);
  cl_event *wanted = counter != NULL ? &event : NULL;
  const cl_int code =
      is_read ? clEnqueueReadBufferRect(queue, b->mem, CL_TRUE, p.origin, h.origin, region, p.row,
                                        p.slice, h.row, h.slice, memory, 0, NULL, wanted)
              : clEnqueueWriteBufferRect(queue, b->mem, CL_TRUE, p.origin, h.origin, region, p.row,
                                         p.slice, h.row, h.slice, memory, 0, NULL, wanted);
  clc_check(L, code, is_read ? "clEnqueueReadBufferRect" : "clEnqueueWriteBufferRect");
  clc_countended(counter, event, region[0] * region[1] * region[2]);
}

/* One command between buffers of a context, which counts as one of that kind. */
static void queue_copy(lua_State *L, const clc_Box *from, const clc_Box *to, const size_t region[3],
                       clc_Kind kind) {
  clc_beforechange(L, to->buffer, from->buffer);
  const size_t size = from->buffer->dtype->size;
  const clc_Corner a = clc_cornerof(from, size), b = clc_cornerof(to, size);
  clc_Device *d = to->buffer->device;
  clc_waitbehindsource(L, d, from->buffer->device);
  clc_Transfer t = {.call = CLC_COPYBOX,
                    .kind = kind,
                    .bytes = region[0] * region[1] * region[2],
                    .from = from->buffer->mem,
                    .to = to->buffer->mem,
                    .row = a.row,
                    .slice = a.slice,
                    .to_row = b.row,
                    .to_slice = b.slice};
  memcpy(t.at, a.origin, sizeof t.at);
  memcpy(t.to_at, b.origin, sizeof t.to_at);
  memcpy(t.region, region, sizeof t.region);
  clc_usebuffer(L, d, from->buffer);
  clc_usebuffer(L, d, to->buffer);
  clc_transfer(L, d, &t);
}

static void move_row(lua_State *L, const clc_Box *from, const clc_Box *to, size_t cols) {
  if (from->buffer == NULL)
    clc_writebuffer(L, to->buffer, to->first, cols, host_memory(from, to->buffer->dtype->size));
  else if (to->buffer == NULL)
    clc_readbuffer(L, from->buffer, from->first, cols, host_memory(to, from->buffer->dtype->size));
  else
    clc_copybuffer(L, from->buffer, from->first, to->buffer, to->first, cols);
}

/* Boxes without an element in common. `kind`: what a copy between buffers counts as. */
static void move(lua_State *L, clc_Box from, clc_Box to, clc_Extent e, clc_Kind kind) {
  const size_t size = (from.buffer != NULL ? from.buffer : to.buffer)->dtype->size;
  const size_t region[3] = {e.cols * size, e.rows, e.slices};
  if (e.slices == 1) from.slice = to.slice = 0; /* or NVIDIA's driver wants room for a slice */
  if (e.slices == 1 && e.rows == 1) {
    move_row(L, &from, &to, e.cols);
  } else if (clc_hasroom(&from, &e) && clc_hasroom(&to, &e) && clc_isnarrow(&from, size) &&
             clc_isnarrow(&to, size)) {
    if (from.buffer == NULL)
      transfer(L, &to, &from, region, 0);
    else if (to.buffer == NULL)
      transfer(L, &from, &to, region, 1);
    else
      queue_copy(L, &from, &to, region, kind);
  } else { /* the last slice or row for itself */
    clc_Extent most = e, last = e;
    size_t *n = e.slices > 1 ? &most.slices : &most.rows;
    *(e.slices > 1 ? &last.slices : &last.rows) = 1;
    *n -= 1;
    move(L, from, to, most, kind);
    from.first += *n * (e.slices > 1 ? from.slice : from.row);
    to.first += *n * (e.slices > 1 ? to.slice : to.row);
    move(L, from, to, last, kind);
  }
}

/* --- from, to and between -------------------------------------------------- */

static int is_empty(const clc_Extent *e) {
  return e->slices == 0 || e->rows == 0 || e->cols == 0;
}

size_t clc_countelements(const clc_Extent *e) {
  return e->slices * e->rows * e->cols;
}

/* Elements in the order of a box, without gaps. */
static clc_Box packed(clc_Buffer *b, const void *host, const clc_Extent *e) {
  return (clc_Box){.buffer = b, .host = (char *)host, .row = e->cols, .slice = e->rows * e->cols};
}

void clc_readbox(lua_State *L, const clc_Box *from, const clc_Extent *e, void *to) {
  clc_drain(L, from->buffer->device);
  if (!is_empty(e)) move(L, *from, packed(NULL, to, e), *e, CLC_READ);
}

void clc_writebox(lua_State *L, const clc_Box *to, const clc_Extent *e, const void *from) {
  clc_Device *d = to->buffer->device;
  clc_usedevice(L, d);
  if (is_empty(e)) return;
  clc_Buffer *stage =
      clc_mustqueue(d) ? clc_pushstage(L, d, to->buffer->dtype, clc_countelements(e), from) : NULL;
  if (stage == NULL) {
    move(L, packed(NULL, from, e), *to, *e, CLC_WRITE);
    return;
  }
  move(L, packed(stage, NULL, e), *to, *e, CLC_WRITE);
  clc_release(&stage->h); /* OpenCL keeps it until the copy has ended */
  lua_pop(L, 1);
}

static void copy_through_host(lua_State *L, const clc_Box *from, const clc_Box *to,
                              const clc_Extent *e) {
  const clc_Passage passage = {*from, *to, *e};
  if (clc_mustferry(&passage)) {
    clc_completeferry(L, clc_beginferry(L, &passage, 1, 0));
    lua_pop(L, 1);
    return;
  }
  void *elements = clc_newelements(L, clc_countelements(e) * from->buffer->dtype->size);
  clc_readbox(L, from, e, elements);
  clc_writebox(L, to, e, elements);
  lua_pop(L, 1);
}

/* As if the elements were copied first. */
static void copy_within(lua_State *L, const clc_Box *from, const clc_Box *to, const clc_Extent *e) {
  const clc_Shape shape = {1, {clc_countelements(e)}};
  clc_Buffer *between = clc_newbuffer(L, to->buffer->device, to->buffer->dtype, &shape);
  const clc_Box middle = packed(between, NULL, e);
  move(L, *from, middle, *e, CLC_COPY);
  move(L, middle, *to, *e, CLC_COPY);
  clc_release(&between->h);
  lua_pop(L, 1);
}

void clc_copybox(lua_State *L, const clc_Box *from, const clc_Box *to, const clc_Extent *e) {
  if (is_empty(e)) return;
  if (from->buffer->device->context != to->buffer->device->context)
    copy_through_host(L, from, to, e);
  else if (from->buffer->mem == to->buffer->mem && may_overlap(from, to, e))
    copy_within(L, from, to, e);
  else
    move(L, *from, *to, *e, CLC_COPY);
}
