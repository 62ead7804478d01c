/* SPDX-License-Identifier: MIT */
/*
 * Buffers as a script sees them: fields, elements, tables and packed bytes. Indices are 1-based;
 * `first` and `last` are inclusive and run along the first dimension, which is rows for a
 * matrix.
 */
#include "buffer.h"

#include <string.h>

/* --- rows -------------------------------------------------------------- */

/* Rows first .. last of a shape. */
static clc_Shape row_shape(const clc_Shape *s, size_t first, size_t last) {
  clc_Shape rows = *s;
  rows.dim[0] = last + 1 - first;
  return rows;
}

static clc_Shape check_rows(lua_State *L, int arg, const clc_Buffer *b, size_t *first) {
  size_t last;
  clc_checkinterval(L, arg, b->shape.dim[0], first, &last);
  return row_shape(&b->shape, *first, last);
}

/* Elements before row `first`. */
static size_t row_start(const clc_Buffer *b, size_t first) {
  return (first - 1) * clc_rowcount(&b->shape);
}

/* --- reading ----------------------------------------------------------- */

static const void *push_elements(lua_State *L, clc_Buffer *b, size_t start, size_t n) {
  void *elements = clc_newelements(L, n * b->dtype->size);
  clc_readbuffer(L, b, start, n, elements);
  return elements;
}

/* Rows of a buffer, from one on. */
typedef struct {
  clc_Buffer *buffer;
  size_t first;
  clc_Shape shape;
} Rows;

static void push_rows(lua_State *L, const void *rows) {
  const Rows *r = rows;
  const void *elements =
      push_elements(L, r->buffer, row_start(r->buffer, r->first), clc_count(&r->shape));
  clc_pushtable(L, r->buffer->dtype, &r->shape, elements);
}

static int buffer_read(lua_State *L) {
  clc_Buffer *b = clc_checkbuffer(L, 1);
  Rows r = {.buffer = b};
  r.shape = check_rows(L, 2, b, &r.first);
  clc_pushmuch(L, clc_count(&r.shape) * sizeof(lua_Number), push_rows, &r);
  return 1;
}

static void push_string(lua_State *L, const void *buffer) {
  clc_Buffer *b = *(clc_Buffer *const *)buffer;
  const size_t size = b->count * b->dtype->size;
  luaL_Buffer bytes;
  char *to = luaL_buffinitsize(L, &bytes, size);
  clc_readbuffer(L, b, 0, b->count, to);
  luaL_pushresultsize(&bytes, size);
}

/* A string of more bytes than this is made of mapped memory, where that is the host's. */
#define MAPPED ((size_t)65536)

static int buffer_string(lua_State *L) {
  clc_Buffer *b = clc_checkbuffer(L, 1);
  const size_t size = b->count * b->dtype->size;
  const int is_mapped = size > MAPPED && b->device->context->has_host_memory &&
                        clc_transfercounter(b->device, CLC_READ) == NULL;
  clc_pushmuch(L, size, is_mapped ? clc_pushmapped : push_string, &b);
  return 1;
}

/* --- writing ----------------------------------------------------------- */

static size_t check_start(lua_State *L, int arg, const clc_Buffer *b, size_t rows) {
  const lua_Integer first = luaL_optinteger(L, arg, 1);
  const size_t n = b->shape.dim[0];
  if (first < 1 || (lua_Unsigned)first > n + 1 || rows > n + 1 - (size_t)first)
    clc_argerror(L, arg, "%I rows from %I do not fit in 1 .. %I", (LUAI_UACINT)rows,
                 (LUAI_UACINT)first, (LUAI_UACINT)n);
  return (size_t)first;
}

static void write_table(lua_State *L, clc_Buffer *b) {
  const size_t rows = lua_rawlen(L, 2);
  const size_t first = check_start(L, 3, b, rows);
  const clc_Shape shape = row_shape(&b->shape, first, first + rows - 1);
  void *elements = clc_newelements(L, clc_count(&shape) * b->dtype->size);
  clc_checktable(L, 2, b->dtype, &shape, elements);
  clc_writebuffer(L, b, row_start(b, first), clc_count(&shape), elements);
}

static void write_bytes(lua_State *L, clc_Buffer *b) {
  size_t length;
  const char *bytes = lua_tolstring(L, 2, &length);
  const size_t row = clc_rowcount(&b->shape) * b->dtype->size;
  if (row == 0 ? length != 0 : length % row != 0)
    clc_argerror(L, 2, "%I bytes are not whole rows of %I bytes", (LUAI_UACINT)length,
                 (LUAI_UACINT)row);
  const size_t rows = row == 0 ? 0 : length / row;
  const size_t first = check_start(L, 3, b, rows);
  clc_writebuffer(L, b, row_start(b, first), length / b->dtype->size, bytes);
}

static void write_buffer(lua_State *L, clc_Buffer *b) {
  clc_Buffer *from = clc_checkbuffer(L, 2);
  if (from->dtype != b->dtype)
    clc_argerror(L, 2, "%s buffer expected, got %s", b->dtype->name, from->dtype->name);
  if (clc_rowcount(&from->shape) != clc_rowcount(&b->shape))
    clc_argerror(L, 2, "rows of %I elements expected, got %I", (LUAI_UACINT)clc_rowcount(&b->shape),
                 (LUAI_UACINT)clc_rowcount(&from->shape));
  const size_t first = check_start(L, 3, b, from->shape.dim[0]);
  clc_copybuffer(L, from, 0, b, row_start(b, first), from->count);
}

static void write_host(lua_State *L, clc_Buffer *b, size_t count) {
  const size_t row = clc_rowcount(&b->shape);
  if (row == 0 ? count != 0 : count % row != 0)
    clc_argerror(L, 2, "%I elements are not whole rows of %I", (LUAI_UACINT)count,
                 (LUAI_UACINT)row);
  const size_t first = check_start(L, 3, b, row == 0 ? 0 : count / row);
  clc_usedevice(L, b->device);
  clc_writehost(L, b, 2, row_start(b, first));
}

static void write_object(lua_State *L, clc_Buffer *b) {
  const size_t count = clc_hostcount(L, 2, b->dtype);
  if (count != CLC_NOHOST)
    write_host(L, b, count);
  else
    write_buffer(L, b);
}

clc_Buffer *clc_checktarget(lua_State *L, int arg) {
  clc_Buffer *b = clc_checkbuffer(L, arg);
  if (b->is_slice) luaL_error(L, CLC_SLICE);
  return b;
}

static int buffer_write(lua_State *L) {
  clc_Buffer *b = clc_checktarget(L, 1);
  lua_settop(L, 3);
  switch (lua_type(L, 2)) {
    case LUA_TTABLE: write_table(L, b); break;
    case LUA_TSTRING: write_bytes(L, b); break;
    case LUA_TUSERDATA: write_object(L, b); break;
    default: luaL_typeerror(L, 2, "table, string, buffer or host array");
  }
  lua_settop(L, 1);
  return 1;
}

static int buffer_fill(lua_State *L) {
  clc_Buffer *b = clc_checktarget(L, 1);
  char element[sizeof(cl_ulong)];
  size_t first;
  clc_checkelement(L, 2, b->dtype, element);
  const clc_Shape rows = check_rows(L, 3, b, &first);
  clc_fillbuffer(L, b, row_start(b, first), clc_count(&rows), element);
  lua_settop(L, 1);
  return 1;
}

static int buffer_copy(lua_State *L) {
  clc_Buffer *b = clc_checkbuffer(L, 1);
  clc_Device *d = lua_isnoneornil(L, 2) ? b->device : clc_checkdevice(L, 2);
  clc_Buffer *copy = clc_newguarded(L, d, b->dtype, &b->shape);
  clc_copybuffer(L, clc_checkbuffer(L, 1), 0, copy, 0, copy->count);
  return 1;
}

/* --- single elements --------------------------------------------------- */

/* The element that the arguments 2 .. 2 + dims - 1 index, counted from 0. */
static size_t check_place(lua_State *L, const clc_Buffer *b, int given) {
  const int n = b->shape.n;
  size_t place = 0;
  if (given != n)
    luaL_error(L, "%s%d-dimensional buffer: %s expected, got %d", clc_pushrunning(L), n,
               n == 1 ? "1 index" : lua_pushfstring(L, "%d indices", n), given < 0 ? 0 : given);
  for (int i = 0; i < n; i++) {
    const lua_Integer at = luaL_checkinteger(L, i + 2);
    if (at < 1 || (lua_Unsigned)at > b->shape.dim[i])
      clc_argerror(L, i + 2, "%I is outside 1 .. %I", (LUAI_UACINT)at,
                   (LUAI_UACINT)b->shape.dim[i]);
    place = place * b->shape.dim[i] + (size_t)at - 1;
  }
  return place;
}

static int buffer_get(lua_State *L) {
  clc_Buffer *b = clc_checkbuffer(L, 1);
  char element[sizeof(cl_ulong)];
  clc_readbuffer(L, b, check_place(L, b, lua_gettop(L) - 1), 1, element);
  b->dtype->push(L, element);
  return 1;
}

static int buffer_set(lua_State *L) {
  clc_Buffer *b = clc_checktarget(L, 1);
  char element[sizeof(cl_ulong)];
  const int value = lua_gettop(L);
  const size_t place = check_place(L, b, value - 2);
  clc_checkelement(L, value, b->dtype, element);
  clc_fillbuffer(L, b, place, 1, element);
  lua_settop(L, 1);
  return 1;
}

/* --- views ------------------------------------------------------------- */

/* With lists, as libraries of arrays have them, what `slice` gives. */
static int buffer_view(lua_State *L) {
  for (int arg = 2; arg <= lua_gettop(L); arg++)
    if (lua_istable(L, arg)) return clc_slicebuffer(L);
  clc_checkcount(L, "view", 2, 1);
  clc_Buffer *b = clc_checkbuffer(L, 1);
  size_t first;
  luaL_checkinteger(L, 2);
  const clc_Shape rows = check_rows(L, 2, b, &first);
  clc_newview(L, b, row_start(b, first), &rows);
  return 1;
}

static int buffer_reshape(lua_State *L) {
  clc_Buffer *b = clc_checkbuffer(L, 1);
  const clc_Shape shape = clc_checkshape(L, 2, lua_gettop(L), b->dtype);
  if (clc_count(&shape) != b->count)
    return luaL_error(L, "reshape: %s is %I elements, but the buffer has %I",
                      clc_pushshape(L, &shape), (LUAI_UACINT)clc_count(&shape),
                      (LUAI_UACINT)b->count);
  clc_newview(L, b, 0, &shape);
  return 1;
}

/* The last dimension has as many bytes as before. */
static int buffer_as(lua_State *L) {
  clc_Buffer *b = clc_checkbuffer(L, 1);
  const clc_Dtype *dtype = clc_checkdtype(L, 2);
  clc_Shape shape = b->shape;
  size_t *last = &shape.dim[shape.n - 1];
  const size_t bytes = *last * b->dtype->size, start = (b->offset - b->zone) * b->dtype->size;
  if (bytes % dtype->size != 0)
    clc_argerror(L, 2, "the last dimension has %I bytes, no multiple of the %d bytes of a %s",
                 (LUAI_UACINT)bytes, (int)dtype->size, dtype->name);
  if (start % dtype->size != 0)
    clc_argerror(L, 2,
                 "the view starts %I bytes into its memory, no multiple of the %d bytes of a %s; "
                 "copy the view",
                 (LUAI_UACINT)start, (int)dtype->size, dtype->name);
  *last = bytes / dtype->size;
  clc_checkmemory(L, &shape, dtype);
  clc_newcast(L, b, dtype, &shape);
  return 1;
}

/* Row i of a matrix, counted from 0, one dimension less. */
static void push_row(lua_State *L, clc_Buffer *b, size_t i) {
  clc_Shape row = {b->shape.n - 1, {0}};
  memcpy(row.dim, b->shape.dim + 1, (size_t)row.n * sizeof *row.dim);
  clc_newview(L, b, i * clc_rowcount(&b->shape), &row);
}

/* --- fields ------------------------------------------------------------ */

/* The i of b[i]. Messages name it: a metamethod has no name for its arguments. */
static lua_Integer check_subscript(lua_State *L) {
  int is_integer;
  const lua_Integer i = lua_tointegerx(L, 2, &is_integer);
  if (!is_integer) luaL_error(L, "b[%s]: an index is an integer", luaL_tolstring(L, 2, NULL));
  return i;
}

/* The element, or the row, that b[i] is, counted from 0. */
static size_t find_subscript(lua_State *L, const clc_Buffer *b, lua_Integer i) {
  if (i < 1 || (lua_Unsigned)i > b->shape.dim[0])
    luaL_error(L, "%s %I is outside 1 .. %I", b->shape.n == 1 ? "element" : "row", (LUAI_UACINT)i,
               (LUAI_UACINT)b->shape.dim[0]);
  return (size_t)i - 1;
}

static int index_element(lua_State *L, clc_Buffer *b) {
  const lua_Integer i = check_subscript(L);
  char element[sizeof(cl_ulong)];
  if (i >= 1 && (lua_Unsigned)i == b->shape.dim[0] + 1) { /* where ipairs looks for the end */
    lua_pushnil(L);
    return 1;
  }
  const size_t place = find_subscript(L, b, i);
  if (b->shape.n > 1) {
    push_row(L, b, place);
    return 1;
  }
  clc_readbuffer(L, b, place, 1, element);
  b->dtype->push(L, element);
  return 1;
}

static int buffer_field(lua_State *L) {
  if (lua_type(L, 2) == LUA_TNUMBER) return index_element(L, clc_checkbuffer(L, 1));
  const clc_Buffer *b = clc_lookatbuffer(L, 1);
  const char *key = lua_tostring(L, 2);
  if (key == NULL) return 0;
  if (strcmp(key, "dtype") == 0)
    lua_pushstring(L, b->dtype->name);
  else if (strcmp(key, "shape") == 0)
    clc_pushextents(L, b->shape.n, b->shape.dim);
  else if (strcmp(key, "count") == 0)
    lua_pushinteger(L, (lua_Integer)b->count);
  else if (strcmp(key, "bytes") == 0)
    lua_pushinteger(L, (lua_Integer)(b->count * b->dtype->size));
  else if (strcmp(key, "device") == 0)
    clc_pushdevice(L, b->device);
  else
    return 0;
  return 1;
}

static int buffer_newindex(lua_State *L) {
  clc_Buffer *b = clc_checktarget(L, 1);
  char element[sizeof(cl_ulong)];
  if (lua_type(L, 2) != LUA_TNUMBER)
    return luaL_error(L, "cannot set field '%s' of a buffer", luaL_tolstring(L, 2, NULL));
  if (b->shape.n != 1)
    return luaL_error(L,
                      "b[i] = v is for one dimension; this buffer has %d: use b:set(i, j, v), "
                      "or b:write({row}, i)",
                      b->shape.n);
  const lua_Integer i = check_subscript(L);
  const size_t place = find_subscript(L, b, i);
  if (!b->dtype->to(L, 3, element))
    luaL_error(L, "element %I: %s", (LUAI_UACINT)i, clc_pushmismatch(L, 3, b->dtype));
  clc_fillbuffer(L, b, place, 1, element);
  return 0;
}

static int next_element(lua_State *L) {
  lua_settop(L, 2);
  return lua_next(L, 1) ? 2 : 0;
}

/* Over what `read` gives, read once. */
static int buffer_pairs(lua_State *L) {
  const clc_Buffer *b = clc_tohandle(L, 1, &clc_buffertype);
  if (b == NULL || b->h.released)
    luaL_error(L, "buffer is released"); /* `pairs` has no name here */
  lua_settop(L, 1);
  buffer_read(L);
  lua_pushcfunction(L, next_element);
  lua_insert(L, -2);
  lua_pushnil(L);
  return 3;
}

static int buffer_len(lua_State *L) {
  lua_pushinteger(L, (lua_Integer)clc_lookatbuffer(L, 1)->shape.dim[0]);
  return 1;
}

/* --- tostring ---------------------------------------------------------- */

static int buffer_show(lua_State *L) {
  const clc_Buffer *b = clc_checkbuffer(L, 1);
  lua_pushfstring(L, "%s buffer %s on ", b->dtype->name, clc_pushshape(L, &b->shape));
  clc_pushdevicetext(L, b->device->context->place.device, CL_DEVICE_NAME);
  lua_pushliteral(L, ":");
  clc_pushelements(L, 1);
  lua_concat(L, 4);
  return 1;
}

void clc_openbuffers(lua_State *L) {
  static const clc_Function methods[] = {{"read", buffer_read, 2},
                                         {"string", buffer_string, 0},
                                         {"write", buffer_write, 2},
                                         {"fill", buffer_fill, 3},
                                         {"copy", buffer_copy, 1},
                                         {"get", buffer_get, CLC_ANY},
                                         {"set", buffer_set, CLC_ANY},
                                         {"view", buffer_view, CLC_ANY},
                                         {"reshape", buffer_reshape, CLC_ANY},
                                         {"as", buffer_as, 1},
                                         {NULL, NULL, 0}};
  static const luaL_Reg metamethods[] = {{"__len", buffer_len},
                                         {"__newindex", buffer_newindex},
                                         {"__pairs", buffer_pairs},
                                         {NULL, NULL}};
  clc_opentype(L, &clc_buffertype, buffer_field, "dtype shape count bytes device", buffer_show,
               methods, metamethods);
  clc_addrelease(L, &clc_buffertype);
  clc_openhosts(L);
  clc_openoperators(L);
  clc_opencreate(L);
  clc_openrectangles(L);
  clc_openraw(L);
  clc_openferries(L);
}
