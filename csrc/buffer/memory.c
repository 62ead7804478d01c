/* SPDX-License-Identifier: MIT */
/* Device memory: typed, shaped pieces of it, and how elements get there and back. */
#include "buffer.h"

#include <string.h>

#define RED_ZONE 1024 /* bytes, at least */

/* Bytes of buffers that gather before the collector hears of them: of small ones so many, of a GPU
   as many as take as long to make as to collect took, which is a part of its memory, at least and
   at most. */
#define TOLD_FROM 65536
#define TOLD_MOST 64
#define TOLD_LEAST 256
#define MADE_A_SECOND 1e12

/* --- the object -------------------------------------------------------- */

/* Other queues may have used it, and what they do with it is not known. */
static void pool_memory(clc_Buffer *b) {
  clc_Context *c = b->device->context;
  c->bytes -= b->allocated;
  c->dropped += clc_giveblock(&c->pool, b->mem, b->room, c->queues > 1);
}

static void drop_memory(clc_Buffer *b) {
  const int is_last = b->sharer == b;
  if (b->mem == NULL) return;
  b->previous->sharer = b->sharer;
  b->sharer->previous = b->previous;
  if (b->sub != NULL) clReleaseMemObject(b->sub);
  if (is_last && b->room > 0 && b->zone == 0) {
    pool_memory(b);
  } else {
    if (is_last) clc_disown(b->device->context, b->allocated);
    clReleaseMemObject(b->mem);
  }
  b->mem = b->sub = NULL;
}

static void buffer_release(clc_Handle *h) {
  clc_Buffer *b = (clc_Buffer *)h;
  if (b->term != NULL) clc_enddeferral(b);
  drop_memory(b);
}

static int buffer_tell(const clc_Handle *h, clc_Holding *holding) {
  const clc_Buffer *b = (const clc_Buffer *)h;
  *holding = (clc_Holding){b->dtype, b->shape, b->allocated, b->sharer != b};
  return b->mem != NULL || b->term != NULL;
}

const clc_Type clc_buffertype = {"buffer", "clcompute.Buffer", sizeof(clc_Buffer), buffer_release,
                                 0,        buffer_tell};

clc_Buffer *clc_lookatbuffer(lua_State *L, int arg) {
  return clc_checkhandle(L, arg, &clc_buffertype);
}

clc_Buffer *clc_checkbuffer(lua_State *L, int arg) {
  clc_Buffer *b = clc_lookatbuffer(L, arg);
  if (b->term != NULL) clc_compute(L, b);
  return b;
}

clc_Buffer *clc_testbuffer(lua_State *L, int idx) {
  clc_Buffer *b = clc_testhandle(L, idx, &clc_buffertype);
  if (b != NULL && b->term != NULL) clc_compute(L, b);
  return b;
}

clc_Buffer *clc_pushbuffer(lua_State *L, clc_Device *d, const clc_Dtype *dtype,
                           const clc_Shape *shape) {
  clc_Buffer *b = clc_newowned(L, &clc_buffertype, d, 0);
  b->device = d;
  b->dtype = dtype;
  b->shape = *shape;
  b->count = clc_count(shape);
  b->previous = b->sharer = b;
  return b;
}

/* --- allocation -------------------------------------------------------- */

/* All that no script can reach any more. */
static void free_memory(lua_State *L) {
  lua_pushnil(L);
  lua_setfield(L, LUA_REGISTRYINDEX, CLC_SCRATCH);
  lua_gc(L, LUA_GCCOLLECT);
}

static cl_ulong told_from(const clc_Context *c) {
  const cl_ulong memory = c->has_host_memory ? 0 : c->global_memory;
  cl_ulong bytes = (cl_ulong)(c->collecting * MADE_A_SECOND);
  if (bytes > memory / TOLD_MOST) bytes = memory / TOLD_MOST;
  if (bytes < memory / TOLD_LEAST) bytes = memory / TOLD_LEAST;
  return bytes > TOLD_FROM ? bytes : TOLD_FROM;
}

/* Lua sees a few bytes where the device sees megabytes, so the collector is
   told: it works as if Lua had allocated them. Finalizers may run here. */
static void inform_collector(lua_State *L, clc_Device *d, size_t bytes) {
  clc_Context *c = d->context;
  c->untold += bytes;
  if (c->untold >= told_from(c) && lua_gc(L, LUA_GCISRUNNING)) {
    const size_t kib = c->untold >> 10;
    c->untold = 0;
    const double start = clc_now();
    lua_gc(L, LUA_GCSTEP, kib > INT32_MAX ? INT32_MAX : (int)kib);
    clc_usedevice(L, d);
    c->collecting = clc_now() - start;
  }
  if (c->bytes + bytes > c->global_memory) free_memory(L);
  clc_usedevice(L, d);
}

/* What was released goes back to the device when the commands that were given it have ended, of
   which thousands may be queued. */
static void await_dropped(lua_State *L, clc_Device *d) {
  d->context->dropped = 0;
  clc_settleall(L, d->context);
  clc_usedevice(L, d);
}

static void drop_pool(clc_Context *c) {
  c->dropped += clc_emptypool(&c->pool);
}

/* Where what the pool and queued commands may hold would fill the device. */
static void reclaim(lua_State *L, clc_Device *d, size_t bytes) {
  clc_Context *c = d->context;
  const cl_ulong most = c->global_memory - c->global_memory / 8;
  if (c->bytes + c->dropped + c->pool.bytes + bytes > most) drop_pool(c);
  if (c->dropped > 0 && c->bytes + c->dropped + bytes > most) await_dropped(L, d);
}

static LUAI_UACINT to_mib(cl_ulong bytes) {
  return (LUAI_UACINT)(bytes >> 20);
}

void clc_checkallocation(lua_State *L, const clc_Context *c, const clc_Type *type, size_t bytes) {
  if (bytes > c->max_allocation)
    luaL_error(L, "%s%s of %I MiB exceeds the largest this device allocates, %I MiB",
               clc_pushrunning(L), type->name, to_mib(bytes), to_mib(c->max_allocation));
}

static void check_capacity(lua_State *L, const clc_Context *c, const clc_Type *type, size_t bytes) {
  if (c->bytes + bytes > c->global_memory)
    luaL_error(L, "%s%s of %I MiB does not fit: %I of the device's %I MiB are in use",
               clc_pushrunning(L), type->name, to_mib(bytes), to_mib(c->bytes),
               to_mib(c->global_memory));
}

void clc_announce(lua_State *L, clc_Device *d, const clc_Type *type, size_t bytes) {
  clc_checkallocation(L, d->context, type, bytes);
  inform_collector(L, d, bytes);
}

void clc_findroom(lua_State *L, clc_Device *d, const clc_Type *type, size_t bytes) {
  clc_announce(L, d, type, bytes);
  reclaim(L, d, bytes);
  check_capacity(L, d->context, type, bytes);
}

void clc_create(lua_State *L, clc_Device *d, clc_Handle *owner, clc_Create create, size_t bytes) {
  clc_Outcome r = create(d, owner, bytes);
  if (clc_isoutofmemory(r.code)) {
    free_memory(L);
    drop_pool(d->context);
    await_dropped(L, d);
    r = create(d, owner, bytes);
  }
  if (r.code != CL_SUCCESS)
    clc_raise(L, r.code, r.call, "%I MiB, %I of %I MiB in use", to_mib(bytes),
              to_mib(d->context->bytes), to_mib(d->context->global_memory));
}

void clc_allocate(lua_State *L, clc_Device *d, clc_Handle *owner, clc_Create create, size_t bytes,
                  size_t *allocated) {
  clc_create(L, d, owner, create, bytes);
  *allocated = bytes;
  d->context->bytes += bytes;
}

void clc_disown(clc_Context *c, size_t allocated) {
  c->bytes -= allocated;
  c->dropped += allocated;
}

/* What the pool makes of a size; in check mode just that size. */
static size_t find_room(const clc_Context *c, size_t bytes) {
  const size_t room = c->checks ? bytes : clc_roomfor(&c->pool, bytes);
  return room <= c->max_allocation ? room : bytes;
}

static clc_Outcome create_memory(clc_Device *d, clc_Handle *owner, size_t bytes) {
  clc_Buffer *b = (clc_Buffer *)owner;
  clc_Context *c = d->context;
  clc_Outcome r = {CL_SUCCESS, "clCreateBuffer"};
  b->room = find_room(c, bytes);
  b->mem = clc_takeblock(&c->pool, b->room);
  if (b->mem == NULL) b->mem = c->executor->new_memory(c, b->room, &b->shared, &r);
  if (r.code != CL_SUCCESS) b->mem = NULL;
  if (c->pool.most == 0) b->room = 0;
  return r;
}

/* Where no command is in flight, memory of that room is free whatever queue had it. */
static void settle_pool(lua_State *L, clc_Context *c, size_t room) {
  if (clc_hasused(&c->pool, room) && clc_isidle(L, c)) clc_settlepool(&c->pool);
}

/* The collector is asked where new memory would be needed, and not for what goes round. */
clc_Buffer *clc_newbuffer(lua_State *L, clc_Device *d, const clc_Dtype *dtype,
                          const clc_Shape *shape) {
  clc_checkmemory(L, shape, dtype);
  const size_t bytes = clc_count(shape) * dtype->size;
  clc_usedevice(L, d);
  if (bytes == 0) return clc_pushbuffer(L, d, dtype, shape);
  clc_pushdevice(L, d); /* keeps it, should a finalizer close it */
  const size_t room = find_room(d->context, bytes);
  settle_pool(L, d->context, room);
  if (clc_hasfree(&d->context->pool, room)) {
    d->context->untold += bytes;
  } else {
    clc_findroom(L, d, &clc_buffertype, bytes);
    settle_pool(L, d->context, room); /* with what was collected */
  }
  clc_Buffer *b = clc_pushbuffer(L, d, dtype, shape);
  lua_remove(L, -2);
  clc_allocate(L, d, &b->h, create_memory, bytes, &b->allocated);
  return b;
}

/* A zone is a multiple of what a sub-buffer must start on: both are powers of two. */
static size_t zone_elements(const clc_Context *c, const clc_Dtype *dtype) {
  return (c->align > RED_ZONE ? c->align : RED_ZONE) / dtype->size;
}

clc_Buffer *clc_newguarded(lua_State *L, clc_Device *d, const clc_Dtype *dtype,
                           const clc_Shape *shape) {
  char outside[sizeof(cl_ulong)], unset[sizeof(cl_ulong)];
  clc_checkmemory(L, shape, dtype);
  const size_t n = clc_count(shape), zone = zone_elements(d->context, dtype);
  if (!d->context->checks || n == 0) return clc_newbuffer(L, d, dtype, shape);
  clc_Buffer *b = clc_newbuffer(L, d, dtype, &(clc_Shape){1, {n + 2 * zone}});
  b->poison = d->context->marks = d->context->marks % CLC_MARKS + 1;
  clc_setpoison(dtype, CLC_OUTSIDE, b->poison, outside);
  clc_setpoison(dtype, CLC_UNSET, b->poison, unset);
  clc_fillbuffer(L, b, 0, b->count, outside);
  clc_fillbuffer(L, b, zone, n, unset);
  clc_drain(L, d); /* another queue may be the first to use it */
  b->shape = *shape;
  b->count = n;
  b->zone = b->offset = zone;
  d->context->has_checked = 1;
  return b;
}

cl_int clc_sharememory(clc_Buffer *b, clc_Buffer *of) {
  const cl_int code = clRetainMemObject(of->mem);
  if (code != CL_SUCCESS) return code;
  drop_memory(b);
  b->mem = of->mem;
  b->shared = of->shared;
  b->allocated = of->allocated;
  b->room = of->room;
  b->zone = of->zone;
  b->previous = of;
  b->sharer = of->sharer;
  b->previous->sharer = b->sharer->previous = b;
  return code;
}

clc_Buffer *clc_newview(lua_State *L, clc_Buffer *of, size_t offset, const clc_Shape *shape) {
  clc_Buffer *b = clc_pushbuffer(L, of->device, of->dtype, shape);
  b->offset = of->offset + offset;
  b->base = of->offset;
  b->base_rows = of->shape.dim[0];
  b->step = clc_rowcount(&of->shape);
  b->poison = of->poison;
  b->is_slice = of->is_slice;
  if (of->h.released) luaL_error(L, "buffer is released"); /* by a finalizer */
  if (of->mem == NULL) return b;
  clc_check(L, clc_sharememory(b, of), "clRetainMemObject");
  return b;
}

clc_Buffer *clc_newcast(lua_State *L, clc_Buffer *of, const clc_Dtype *dtype,
                        const clc_Shape *shape) {
  const size_t old = of->dtype->size, new = dtype->size;
  clc_Buffer *b = clc_newview(L, of, 0, shape);
  b->dtype = dtype;
  b->base = b->offset = of->offset * old / new;
  b->base_rows = shape->dim[0];
  b->step = clc_rowcount(shape);
  b->zone = of->zone * old / new;
  return b;
}

cl_mem clc_subbuffer(lua_State *L, clc_Buffer *b) {
  const cl_buffer_region region = {b->offset * b->dtype->size, b->count * b->dtype->size};
  cl_int code;
  if (b->offset == 0) return b->mem;
  if (b->sub == NULL) {
    b->sub = clCreateSubBuffer(b->mem, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
    if (code != CL_SUCCESS) b->sub = NULL;
    clc_check(L, code, "clCreateSubBuffer");
  }
  return b->sub;
}

cl_int clc_setmemory(clc_Device *d, cl_kernel kernel, cl_uint i, const clc_Buffer *b, cl_mem mem,
                     size_t first) {
  const size_t size = b->dtype->size;
  const clc_Region region = {b->shared, b->allocated, first * size, b->count * size};
  return d->context->executor->set_memory(d, kernel, i, mem, &region);
}

/* --- what recordings hold ---------------------------------------------- */

/* A buffer that no script sees: while it is there, the memory goes to no pool. */
typedef struct {
  clc_Held held;
  clc_Buffer buffer;
} HeldBuffer;

static void drop_buffer(clc_Held *h) {
  buffer_release(&((HeldBuffer *)h)->buffer.h);
}

void clc_holdbuffer(lua_State *L, clc_Recording *r, cl_uint argument, const clc_Buffer *b,
                    cl_mem mem) {
  if (r == NULL || r->is_unheld || b->mem == NULL) return;
  HeldBuffer *h = clc_hold(L, r, argument, sizeof *h, drop_buffer);
  h->buffer.device = r->device;
  h->buffer.previous = h->buffer.sharer = &h->buffer;
  /* Of the other one only its place in the ring changes. */
  clc_check(L, clc_sharememory(&h->buffer, (clc_Buffer *)b), "clRetainMemObject");
  if (mem == b->mem) return;
  clc_check(L, clRetainMemObject(mem), "clRetainMemObject");
  h->buffer.sub = mem;
}

void clc_usebuffer(lua_State *L, const clc_Device *d, const clc_Buffer *b) {
  clc_holdbuffer(L, clc_getrecording(d), 0, b, b->mem);
}

const char *clc_devicecomplaint(const clc_Buffer *b, const clc_Device *d) {
  return b->device->context == d->context ? NULL : CLC_OTHER_DEVICE;
}

int clc_covers(const clc_Buffer *b, cl_mem mem, size_t first, size_t bytes) {
  const size_t start = b->offset * b->dtype->size, end = start + b->count * b->dtype->size;
  return mem != NULL && b->mem == mem && start < first + bytes && first < end;
}

int clc_overlap(const clc_Buffer *a, const clc_Buffer *b) {
  const size_t size = b->dtype->size;
  return clc_covers(a, b->mem, b->offset * size, b->count * size);
}

/* --- moving elements --------------------------------------------------- */

void clc_beforechange(lua_State *L, const clc_Buffer *to, const clc_Buffer *from) {
  clc_Device *d = to->device;
  if (d->context->deferred == NULL) return;
  luaL_checkstack(L, 2, NULL);
  clc_pushdevice(L, d); /* keeps it, should what runs now close it */
  clc_beforewrite(L, d->context, to->mem);
  clc_usedevice(L, d);
  lua_pop(L, 1);
  if (to->h.released || (from != NULL && from->h.released)) luaL_error(L, "a buffer" CLC_RELEASED);
}

static size_t byte_offset(const clc_Buffer *b, size_t first) {
  return (b->offset + first) * b->dtype->size;
}

void clc_readbuffer(lua_State *L, clc_Buffer *b, size_t first, size_t n, void *to) {
  const size_t bytes = n * b->dtype->size;
  cl_event event = NULL;
  if (clc_readbehind(L, b, byte_offset(b, first), bytes, to)) return;
  clc_drain(L, b->device);
  if (n == 0) return;
  if (b->h.released) luaL_error(L, "buffer is released"); /* by a hook */
  if (!b->device->context->has_host_memory) clc_makelanding(b->device);
  clc_Counter *counter = clc_transfercounter(b->device, CLC_READ);
  clc_check(L,
            clEnqueueReadBuffer(clc_quickqueue(b->device), b->mem, CL_TRUE, byte_offset(b, first),
                                bytes, to, 0, NULL, counter != NULL ? &event : NULL),
            "clEnqueueReadBuffer");
  clc_countended(counter, event, bytes);
}

static void queue_copy(lua_State *L, clc_Device *d, const clc_Buffer *from, size_t from_byte,
                       const clc_Buffer *to, size_t to_byte, size_t bytes, clc_Kind kind) {
  clc_beforechange(L, to, from);
  clc_waitbehindsource(L, d, from->device);
  clc_usebuffer(L, d, from);
  clc_usebuffer(L, d, to);
  clc_transfer(L, d,
               &(clc_Transfer){.call = CLC_COPYBUFFER,
                               .kind = kind,
                               .bytes = bytes,
                               .from = from->mem,
                               .to = to->mem,
                               .at = {from_byte},
                               .to_at = {to_byte},
                               .region = {bytes}});
}

static void write_directly(lua_State *L, clc_Buffer *b, size_t first, size_t n, const void *from) {
  const size_t bytes = n * b->dtype->size;
  cl_event event = NULL;
  clc_beforechange(L, b, NULL);
  clc_Counter *counter = clc_transfercounter(b->device, CLC_WRITE);
  clc_check(L,
            clEnqueueWriteBuffer(clc_quickqueue(b->device), b->mem, CL_TRUE, byte_offset(b, first),
                                 bytes, from, 0, NULL, counter != NULL ? &event : NULL),
            "clEnqueueWriteBuffer");
  clc_countended(counter, event, bytes);
}

clc_Buffer *clc_pushstage(lua_State *L, clc_Device *d, const clc_Dtype *dtype, size_t n,
                          const void *from) {
  const clc_Shape shape = {1, {n}};
  cl_int code;
  clc_Buffer *stage = clc_pushbuffer(L, d, dtype, &shape);
  stage->mem =
      clCreateBuffer(d->context->cl, CL_MEM_COPY_HOST_PTR, n * dtype->size, (void *)from, &code);
  if (code != CL_SUCCESS) stage->mem = NULL;
  if (!clc_isoutofmemory(code) || clc_getrecording(d) != NULL) clc_check(L, code, "clCreateBuffer");
  if (stage->mem != NULL) return stage;
  lua_pop(L, 1);
  clc_drain(L, d);
  return NULL;
}

void clc_writebuffer(lua_State *L, clc_Buffer *b, size_t first, size_t n, const void *from) {
  clc_Device *d = b->device;
  clc_usedevice(L, d);
  if (n == 0) return;
  clc_Buffer *stage = clc_mustqueue(d) ? clc_pushstage(L, d, b->dtype, n, from) : NULL;
  if (stage == NULL) {
    write_directly(L, b, first, n, from);
    return;
  }
  queue_copy(L, d, stage, 0, b, byte_offset(b, first), n * b->dtype->size, CLC_WRITE);
  clc_release(&stage->h); /* OpenCL keeps it until the copy has ended */
  lua_pop(L, 1);
}

void clc_fillbuffer(lua_State *L, clc_Buffer *b, size_t first, size_t n, const void *element) {
  if (n == 0) return;
  clc_beforechange(L, b, NULL);
  const size_t size = b->dtype->size;
  clc_Transfer fill = {.call = CLC_FILLBUFFER,
                       .kind = CLC_FILL,
                       .bytes = n * size,
                       .to = b->mem,
                       .to_at = {byte_offset(b, first)},
                       .region = {n * size},
                       .size = size};
  memcpy(fill.element, element, size);
  clc_usebuffer(L, b->device, b);
  clc_transfer(L, b->device, &fill);
}

static void copy_through_host(lua_State *L, clc_Buffer *from, size_t from_first, clc_Buffer *to,
                              size_t to_first, size_t n) {
  const clc_Box source = {.buffer = from, .first = from_first, .row = n};
  const clc_Box target = {.buffer = to, .first = to_first, .row = n};
  clc_copybox(L, &source, &target, &(clc_Extent){1, 1, n});
}

void clc_copybuffer(lua_State *L, clc_Buffer *from, size_t from_first, clc_Buffer *to,
                    size_t to_first, size_t n) {
  if (n == 0) return;
  const size_t bytes = n * from->dtype->size;
  const size_t a = byte_offset(from, from_first), b = byte_offset(to, to_first);
  if (from->device->context != to->device->context) {
    copy_through_host(L, from, from_first, to, to_first, n);
  } else if (from->mem == to->mem && a < b + bytes && b < a + bytes) {
    const clc_Shape shape = {1, {n}};
    clc_Buffer *between = clc_newbuffer(L, from->device, from->dtype, &shape);
    queue_copy(L, from->device, from, a, between, 0, bytes, CLC_COPY);
    queue_copy(L, to->device, between, 0, to, b, bytes, CLC_COPY);
    clc_release(&between->h);
    lua_pop(L, 1);
  } else {
    queue_copy(L, to->device, from, a, to, b, bytes, CLC_COPY);
  }
}
