/* SPDX-License-Identifier: MIT */
/*
 * Host arrays: typed memory of the host that devices read and write at full speed, while Lua goes
 * on. On a GPU it is pinned: a memory object of the driver's that stays mapped. A look at an
 * element waits for the transfer that has it.
 */
#include <string.h>

#include "buffer.h"

typedef struct {
  clc_Handle h;
  clc_Device *device;
  const clc_Dtype *dtype;
  size_t count;    /* elements */
  char *elements;  /* NULL where there are none */
  cl_mem pinned;   /* NULL: plain pages */
  clc_Pages pages; /* which these are */
  uint64_t ticket; /* of the last transfer on the device's queue; 0: there was none */
} Host;

static int is_moving(const Host *a) {
  return a->ticket > a->device->flight.ended;
}

static void free_elements(Host *a) {
  if (a->pinned != NULL) {
    clEnqueueUnmapMemObject(a->device->queue, a->pinned, a->elements, 0, NULL, NULL);
    clReleaseMemObject(a->pinned);
  } else {
    clc_freepages(&a->pages);
  }
}

static int has_failed(const Host *a) {
  return clc_findfailure(&a->device->flight, a->ticket) != NULL;
}

/* The driver does not know that the memory is in use: where it does not say that it has ended,
   pages stay for ever. */
static void finish(Host *a, cl_command_queue queue) {
  if (queue != NULL && clFinish(queue) != CL_SUCCESS && a->pinned == NULL) a->elements = NULL;
}

/* A command of which the driver tells no more than a failure may go on. */
static void host_release(clc_Handle *h) {
  Host *a = (Host *)h;
  if (a->elements == NULL) return;
  if (is_moving(a) || has_failed(a)) finish(a, a->device->queue);
  if (a->elements != NULL) free_elements(a);
  a->elements = NULL;
}

const clc_Type clc_hosttype = {"host array", "clcompute.Host", sizeof(Host), host_release, 0, NULL};

static Host *check_host(lua_State *L, int arg) {
  return clc_checkhandle(L, arg, &clc_hosttype);
}

/* By a hook or a finalizer. */
static void check_kept(lua_State *L, const Host *a) {
  if (a->h.released) luaL_error(L, "host array is released");
}

/* Waits until Lua may have the elements. */
static Host *check_still(lua_State *L, int arg) {
  Host *a = check_host(L, arg);
  if (a->ticket == 0) return a;
  if (is_moving(a)) clc_drain(L, a->device);
  check_kept(L, a);
  if (!has_failed(a)) a->ticket = 0;
  return a;
}

/* --- making one -------------------------------------------------------- */

static clc_Outcome pin(clc_Device *d, clc_Handle *owner, size_t bytes) {
  Host *a = (Host *)owner;
  const cl_map_flags how = CL_MAP_READ | CL_MAP_WRITE;
  clc_Outcome r = {CL_SUCCESS, "clCreateBuffer"};
  cl_mem mem = clCreateBuffer(d->context->cl, CL_MEM_ALLOC_HOST_PTR, bytes, NULL, &r.code);
  if (r.code != CL_SUCCESS) return r;
  r.call = "clEnqueueMapBuffer";
  char *elements =
      clEnqueueMapBuffer(d->queue, mem, CL_TRUE, how, 0, bytes, 0, NULL, NULL, &r.code);
  if (r.code != CL_SUCCESS) {
    clReleaseMemObject(mem);
    return r;
  }
  a->pinned = mem;
  a->elements = elements;
  return r;
}

static clc_Outcome take_pages(clc_Device *d, clc_Handle *owner, size_t bytes) {
  Host *a = (Host *)owner;
  (void)d;
  a->pages = clc_newpages(bytes);
  a->elements = a->pages.memory;
  return (clc_Outcome){a->elements != NULL ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY, "mmap"};
}

/* Pushes one whose elements may be anything. */
static Host *push_host(lua_State *L, clc_Device *d, const clc_Dtype *dtype, size_t count) {
  const size_t bytes = count * dtype->size;
  clc_announce(L, d, &clc_hosttype, bytes);
  clc_drain(L, d); /* mapping blocks */
  Host *a = clc_newowned(L, &clc_hosttype, d, 0);
  a->device = d;
  a->dtype = dtype;
  a->count = count;
  clc_usedevice(L, d);
  if (bytes > 0) clc_create(L, d, &a->h, d->context->has_host_memory ? take_pages : pin, bytes);
  return a;
}

static int device_host(lua_State *L) {
  clc_Device *d = clc_checkopen(L, 1);
  const clc_Dtype *dtype = clc_checkdtype(L, 2);
  const clc_Shape shape = clc_checkshape(L, 3, 3, dtype);
  clc_checkmemory(L, &shape, dtype);
  Host *a = push_host(L, d, dtype, shape.dim[0]);
  if (a->elements != NULL) memset(a->elements, 0, a->count * dtype->size);
  return 1;
}

/* --- elements ---------------------------------------------------------- */

static char *find_element(lua_State *L, const Host *a, int idx) {
  int is_integer;
  const lua_Integer i = lua_tointegerx(L, idx, &is_integer);
  if (!is_integer) luaL_error(L, "h[%s]: an index is an integer", luaL_tolstring(L, idx, NULL));
  if (i < 1 || (lua_Unsigned)i > a->count)
    luaL_error(L, "element %I is outside 1 .. %I", (LUAI_UACINT)i, (LUAI_UACINT)a->count);
  return a->elements + (size_t)(i - 1) * a->dtype->size;
}

static int push_element(lua_State *L) {
  const Host *a = check_still(L, 1);
  if (lua_isinteger(L, 2) && lua_tointeger(L, 2) == (lua_Integer)a->count + 1) {
    lua_pushnil(L); /* where ipairs looks for the end */
    return 1;
  }
  a->dtype->push(L, find_element(L, a, 2));
  return 1;
}

static int host_field(lua_State *L) {
  if (lua_type(L, 2) == LUA_TNUMBER) return push_element(L);
  const Host *a = check_host(L, 1);
  const char *key = lua_tostring(L, 2);
  if (key == NULL) return 0;
  if (strcmp(key, "dtype") == 0)
    lua_pushstring(L, a->dtype->name);
  else if (strcmp(key, "bytes") == 0)
    lua_pushinteger(L, (lua_Integer)(a->count * a->dtype->size));
  else if (strcmp(key, "device") == 0)
    clc_pushdevice(L, a->device);
  else
    return 0;
  return 1;
}

static int host_newindex(lua_State *L) {
  const Host *a = check_still(L, 1);
  if (lua_type(L, 2) != LUA_TNUMBER)
    return luaL_error(L, "cannot set field '%s' of a host array", luaL_tolstring(L, 2, NULL));
  char *element = find_element(L, a, 2);
  if (!a->dtype->to(L, 3, element))
    luaL_error(L, "element %I: %s", (LUAI_UACINT)lua_tointeger(L, 2),
               clc_pushmismatch(L, 3, a->dtype));
  return 0;
}

static int host_len(lua_State *L) {
  lua_pushinteger(L, (lua_Integer)check_host(L, 1)->count);
  return 1;
}

/* Elements of one, from one on. */
typedef struct {
  const Host *array;
  size_t first, count;
} Part;

/* Of a copy: a finalizer may release the array while a table is made. */
static void push_part(lua_State *L, const void *part) {
  const Part *p = part;
  const clc_Dtype *dtype = p->array->dtype;
  void *elements = clc_newelements(L, p->count * dtype->size);
  check_kept(L, p->array);
  if (p->count > 0)
    memcpy(elements, p->array->elements + (p->first - 1) * dtype->size, p->count * dtype->size);
  clc_pushtable(L, dtype, &(clc_Shape){1, {p->count}}, elements);
}

static int host_read(lua_State *L) {
  Part part = {.array = check_still(L, 1)};
  size_t last;
  clc_checkinterval(L, 2, part.array->count, &part.first, &last);
  part.count = last + 1 - part.first;
  clc_pushmuch(L, part.count * sizeof(lua_Number), push_part, &part);
  return 1;
}

static int host_string(lua_State *L) {
  const Host *a = check_still(L, 1);
  lua_pushlstring(L, a->elements != NULL ? a->elements : "", a->count * a->dtype->size);
  return 1;
}

/* Where n elements from argument 3 on go. */
static char *check_room(lua_State *L, const Host *a, size_t n) {
  const lua_Integer first = luaL_optinteger(L, 3, 1);
  if (first < 1 || (lua_Unsigned)first > a->count + 1 || n > a->count + 1 - (size_t)first)
    clc_argerror(L, 3, "%I elements from %I do not fit in 1 .. %I", (LUAI_UACINT)n,
                 (LUAI_UACINT)first, (LUAI_UACINT)a->count);
  return a->elements + (size_t)(first - 1) * a->dtype->size;
}

static void write_bytes(lua_State *L, const Host *a) {
  size_t length;
  const char *bytes = lua_tolstring(L, 2, &length);
  if (length % a->dtype->size != 0)
    clc_argerror(L, 2, "%I bytes are not whole elements of %d bytes", (LUAI_UACINT)length,
                 (int)a->dtype->size);
  memcpy(check_room(L, a, length / a->dtype->size), bytes, length);
}

static void write_table(lua_State *L, const Host *a) {
  const clc_Shape shape = {1, {lua_rawlen(L, 2)}};
  char *to = check_room(L, a, shape.dim[0]);
  void *elements = clc_newelements(L, shape.dim[0] * a->dtype->size);
  clc_checktable(L, 2, a->dtype, &shape, elements);
  check_kept(L, a);
  if (shape.dim[0] > 0) memcpy(to, elements, shape.dim[0] * a->dtype->size);
}

static int host_write(lua_State *L) {
  const Host *a = check_still(L, 1);
  lua_settop(L, 3);
  if (a->count == 0) {
    check_room(L, a, lua_rawlen(L, 2));
  } else if (lua_type(L, 2) == LUA_TSTRING) {
    write_bytes(L, a);
  } else {
    luaL_argexpected(L, lua_istable(L, 2), 2, "table or string");
    write_table(L, a);
  }
  lua_settop(L, 1);
  return 1;
}

/* --- files ----------------------------------------------------------------- */

static FILE *check_file(lua_State *L, int arg) {
  const luaL_Stream *file = luaL_checkudata(L, arg, LUA_FILEHANDLE);
  luaL_argcheck(L, file->closef != NULL, arg, "an open file expected");
  return file->f;
}

/* fill_host(host array, file) --> elements read, fewer at the file's end; or nil, reason, code */
static int fill_host(lua_State *L) {
  const Host *a = check_still(L, 1);
  FILE *file = check_file(L, 2);
  const size_t n = a->count > 0 ? fread(a->elements, a->dtype->size, a->count, file) : 0;
  if (n < a->count && ferror(file)) return luaL_fileresult(L, 0, NULL);
  lua_pushinteger(L, (lua_Integer)n);
  return 1;
}

/* store_host(host array, file) --> true; or nil, reason, code */
static int store_host(lua_State *L) {
  const Host *a = check_still(L, 1);
  FILE *file = check_file(L, 2);
  const size_t n = a->count > 0 ? fwrite(a->elements, a->dtype->size, a->count, file) : 0;
  return luaL_fileresult(L, n == a->count, NULL);
}

static int host_show(lua_State *L) {
  const Host *a = check_host(L, 1);
  lua_pushfstring(L, "%s host array %I for ", a->dtype->name, (LUAI_UACINT)a->count);
  clc_pushdevicetext(L, a->device->context->place.device, CL_DEVICE_NAME);
  lua_concat(L, 2);
  return 1;
}

/* --- transfers ----------------------------------------------------------- */

/* Has the buffer's device move the bytes, while Lua goes on (or CL_TRUE: waits for that alone). */
static void queue_transfer(lua_State *L, Host *a, clc_Buffer *b, size_t first, clc_Kind kind,
                           cl_bool waits, clc_Event *e) {
  clc_Device *d = b->device;
  const size_t size = b->dtype->size, at = (b->offset + first) * size, bytes = a->count * size;
  if (kind == CLC_WRITE) clc_beforewrite(L, d->context, b->mem);
  cl_event *event = clc_reserve(L, d, clc_kindname(kind));
  if (b->h.released || a->h.released) luaL_error(L, "a buffer" CLC_RELEASED);
  clc_countpart(d, clc_transfercounter(d, kind), bytes, 0, 1);
  if (kind == CLC_WRITE)
    clc_commit(
        L, d, clEnqueueWriteBuffer(d->queue, b->mem, waits, at, bytes, a->elements, 0, NULL, event),
        "clEnqueueWriteBuffer");
  else
    clc_commit(L, d,
               clEnqueueReadBuffer(d->queue, b->mem, waits, at, bytes, a->elements, 0, NULL, event),
               "clEnqueueReadBuffer");
  if (d == a->device) a->ticket = d->flight.queued;
  if (e != NULL) clc_addcommand(e, event);
  clc_check(L, clFlush(d->queue), "clFlush"); /* it is to go on while Lua does */
}

/* Buffers of other queues and devices wait: one queue's order says nothing of another's. */
static void transfer(lua_State *L, int arg, clc_Buffer *b, size_t first, clc_Kind kind,
                     clc_Event *e) {
  Host *a = check_host(L, arg);
  const cl_bool waits = b->device != a->device;
  if (waits) {
    check_still(L, arg);
    clc_drain(L, b->device);
  }
  queue_transfer(L, a, b, first, kind, waits, e);
}

void clc_writehost(lua_State *L, clc_Buffer *b, int arg, size_t first) {
  if (check_host(L, arg)->count > 0) transfer(L, arg, b, first, CLC_WRITE, NULL);
}

size_t clc_hostcount(lua_State *L, int arg, const clc_Dtype *dtype) {
  if (luaL_testudata(L, arg, clc_hosttype.tname) == NULL) return CLC_NOHOST;
  const Host *a = check_host(L, arg);
  if (a->dtype != dtype)
    clc_argerror(L, arg, "%s host array expected, got %s", dtype->name, a->dtype->name);
  return a->count;
}

static int buffer_read_async(lua_State *L) {
  clc_Buffer *b = clc_checkbuffer(L, 1);
  Host *a = check_host(L, 2);
  clc_usedevice(L, b->device);
  if (a->dtype != b->dtype)
    clc_argerror(L, 2, "%s host array expected, got %s", b->dtype->name, a->dtype->name);
  if (a->count != b->count)
    clc_argerror(L, 2, "a host array of %I elements expected, got %I", (LUAI_UACINT)b->count,
                 (LUAI_UACINT)a->count);
  clc_Event *e = clc_newevent(L, b->device, clc_kindname(CLC_READ));
  if (a->count > 0) transfer(L, 2, b, 0, CLC_READ, e);
  return 1;
}

void clc_openhosts(lua_State *L) {
  static const clc_Function of_device[] = {{"host", device_host, 2}, {NULL, NULL, 0}};
  static const clc_Function of_buffer[] = {{"read_async", buffer_read_async, 1}, {NULL, NULL, 0}};
  static const clc_Function methods[] = {{"read", host_read, 2},
                                         {"string", host_string, 0},
                                         {"write", host_write, 2},
                                         {NULL, NULL, 0}};
  static const luaL_Reg metamethods[] = {
      {"__len", host_len}, {"__newindex", host_newindex}, {NULL, NULL}};
  clc_opentype(L, &clc_hosttype, host_field, "dtype bytes device", host_show, methods, metamethods);
  clc_addrelease(L, &clc_hosttype);
  clc_addmethods(L, &clc_devicetype, of_device);
  clc_addmethods(L, &clc_buffertype, of_buffer);
  static const luaL_Reg internal[] = {
      {"fill_host", fill_host}, {"store_host", store_host}, {NULL, NULL}};
  clc_addinternal(L, internal);
}
