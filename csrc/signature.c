/* SPDX-License-Identifier: MIT */
/***
Signatures: what a kernel takes, and setting its arguments from Lua values.
@module clcompute
*/
#include "signature.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "source.h"

#define MAX_WIDTH 16
#define SCRATCH "clcompute.Scratch"

/* --- asking ------------------------------------------------------------ */

/* Keeps both ends of a text too long for its room: a type's * is the last character. */
static void shorten(char text[CLC_NAME], const char *whole) {
  const size_t length = strlen(whole), half = CLC_NAME / 2 - 2;
  if (length < CLC_NAME)
    strcpy(text, whole);
  else
    snprintf(text, CLC_NAME, "%.*s...%s", (int)half, whole, whole + length - half);
}

static void ask_text(lua_State *L, cl_kernel kernel, cl_uint i, cl_kernel_arg_info what,
                     char text[CLC_NAME]) {
  size_t size;
  clc_check(L, clGetKernelArgInfo(kernel, i, what, 0, NULL, &size), "clGetKernelArgInfo");
  char *whole = lua_newuserdatauv(L, size + 1, 0);
  clc_check(L, clGetKernelArgInfo(kernel, i, what, size, whole, NULL), "clGetKernelArgInfo");
  whole[size] = '\0';
  shorten(text, whole);
  lua_pop(L, 1);
}

/* What follows a type's letters; 0 for what no vector has, as in int8_t. */
static int parse_width(const char *digits) {
  static const struct {
    const char *digits;
    int width;
  } widths[] = {{"", 1}, {"2", 2}, {"3", 3}, {"4", 4}, {"8", 8}, {"16", MAX_WIDTH}};
  for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
    if (strcmp(digits, widths[i].digits) == 0) return widths[i].width;
  return 0;
}

/* "float4*" is float, 4 wide. OpenCL spells unsigned types short, but not every
   driver does. */
static void parse_type(lua_State *L, const char *text, clc_Argument *a) {
  static const struct {
    const char *spelled, *name;
  } aliases[] = {{"unsigned char", "uchar"},
                 {"unsigned short", "ushort"},
                 {"unsigned int", "uint"},
                 {"unsigned long", "ulong"}};
  char base[CLC_NAME];
  strcpy(base, a->type);
  base[strcspn(base, "*")] = '\0';
  size_t length = strlen(base);
  while (length > 0 && base[length - 1] == ' ') base[--length] = '\0';
  shorten(base, clc_pushtype(L, text, base));
  lua_pop(L, 1);
  for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
    if (strcmp(base, aliases[i].spelled) == 0) strcpy(base, aliases[i].name);
  length = strcspn(base, "0123456789");
  a->width = parse_width(base + length);
  a->dtype = a->width > 0 ? clc_finddtype(base, length) : NULL;
}

void clc_askargument(lua_State *L, cl_kernel kernel, cl_uint i, const char *text, clc_Argument *a) {
  cl_kernel_arg_address_qualifier space;
  clc_check(
      L, clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof space, &space, NULL),
      "clGetKernelArgInfo");
  ask_text(L, kernel, i, CL_KERNEL_ARG_NAME, a->name);
  ask_text(L, kernel, i, CL_KERNEL_ARG_TYPE_NAME, a->type);
  parse_type(L, text, a);
  const int pointer = strchr(a->type, '*') != NULL;
  switch (space) {
    case CL_KERNEL_ARG_ADDRESS_GLOBAL:
      a->space = "global";
      a->kind = pointer ? CLC_BUFFER : CLC_OPAQUE; /* an image is global too */
      break;
    case CL_KERNEL_ARG_ADDRESS_CONSTANT:
      a->space = "constant";
      a->kind = CLC_BUFFER;
      break;
    case CL_KERNEL_ARG_ADDRESS_LOCAL:
      a->space = "local";
      a->kind = CLC_LOCAL;
      break;
    default:
      a->space = "private";
      a->kind = strcmp(a->type, "sampler_t") == 0 ? CLC_OPAQUE : CLC_VALUE;
  }
}

/* --- scratch ----------------------------------------------------------- */

/* `debug` can give any userdata the metatable, so the mark and the size say it too. */
typedef struct {
  const char *mark; /* scratch_mark */
  const clc_Dtype *dtype;
  size_t n;
} Scratch;

static const char scratch_mark[] = SCRATCH;

static const Scratch *test_scratch(lua_State *L, int idx) {
  const Scratch *s = luaL_testudata(L, idx, SCRATCH);
  return s != NULL && lua_rawlen(L, idx) == sizeof *s && s->mark == scratch_mark ? s : NULL;
}

/***
An argument for a `__local` pointer: local memory for each work-group.
@function scratch
@tparam string dtype
@tparam integer n elements, at least 1
@return the argument
*/
static int clc_scratch(lua_State *L) {
  const clc_Dtype *dtype = clc_checkdtype(L, 1);
  const clc_Shape shape = clc_checkshape(L, 2, 2, dtype);
  luaL_argcheck(L, shape.dim[0] > 0, 2, "size must be at least 1");
  Scratch *s = lua_newuserdatauv(L, sizeof *s, 0);
  *s = (Scratch){scratch_mark, dtype, shape.dim[0]};
  luaL_setmetatable(L, SCRATCH);
  return 1;
}

static int scratch_tostring(lua_State *L) {
  const Scratch *s = test_scratch(L, 1);
  if (s == NULL) return luaL_typeerror(L, 1, "scratch");
  lua_pushfstring(L, "%s scratch %I", s->dtype->name, (LUAI_UACINT)s->n);
  return 1;
}

size_t clc_scratchbytes(lua_State *L, int idx) {
  const Scratch *s = test_scratch(L, idx);
  return s != NULL ? s->n * s->dtype->size : 0;
}

/* --- setting ----------------------------------------------------------- */

typedef struct {
  lua_State *L;
  clc_Device *device;
  cl_kernel kernel;
  const char *kernel_name;
  cl_uint i;
  const clc_Argument *a;
  int idx, empty;
} Setter;

static void complain(const Setter *s, const char *complaint, ...) {
  va_list args;
  lua_State *L = s->L;
  luaL_where(L, 1);
  lua_pushfstring(L, "kernel '%s' argument %d '%s' (%s%s%s): ", s->kernel_name, (int)s->i + 1,
                  s->a->name, s->a->kind == CLC_VALUE ? "" : s->a->space,
                  s->a->kind == CLC_VALUE ? "" : " ", s->a->type);
  va_start(args, complaint);
  lua_pushvfstring(L, complaint, args);
  va_end(args);
  lua_concat(L, 3);
  lua_error(L);
}

static const char *value_name(lua_State *L, int idx) {
  const clc_Buffer *b = clc_testhandle(L, idx, &clc_buffertype);
  if (b != NULL) return lua_pushfstring(L, "%s buffer", b->dtype->name);
  if (luaL_testudata(L, idx, clc_buffertype.tname)) return "released buffer";
  return luaL_typename(L, idx);
}

static void set_raw(const Setter *s, size_t size, const void *value) {
  cl_int code = clSetKernelArg(s->kernel, s->i, size, value);
  if (code != CL_SUCCESS)
    complain(s, "clSetKernelArg: %s (%d) for %I bytes", clc_codename(code), (int)code,
             (LUAI_UACINT)size);
}

/* A vector of three takes the room of four. */
static size_t value_size(const clc_Argument *a) {
  return (size_t)(a->width == 3 ? 4 : a->width) * a->dtype->size;
}

static void set_vector(const Setter *s) {
  lua_State *L = s->L;
  const clc_Dtype *dtype = s->a->dtype;
  char value[MAX_WIDTH * sizeof(cl_ulong)];
  const int width = s->a->width;
  if (!lua_istable(L, s->idx) || lua_rawlen(L, s->idx) != (size_t)width)
    complain(s, "table of %d numbers expected, got %s", width, value_name(L, s->idx));
  for (int i = 0; i < width; i++) {
    lua_rawgeti(L, s->idx, i + 1);
    if (!dtype->to(L, -1, value + (size_t)i * dtype->size))
      complain(s, "[%d]: %s", i + 1, clc_pushmismatch(L, -1, dtype));
    lua_pop(L, 1);
  }
  set_raw(s, value_size(s->a), value);
}

static void set_value(const Setter *s) {
  lua_State *L = s->L;
  const clc_Dtype *dtype = s->a->dtype;
  char value[sizeof(cl_ulong)];
  if (lua_type(L, s->idx) == LUA_TSTRING) {
    size_t length;
    const char *packed = lua_tolstring(L, s->idx, &length);
    if (dtype != NULL && length != value_size(s->a)) /* POCL takes any size */
      complain(s, "packed string of %I bytes expected, got %I bytes", (LUAI_UACINT)value_size(s->a),
               (LUAI_UACINT)length);
    if (length == 0) complain(s, "packed string of its size expected, got 0 bytes"); /* POCL dies */
    set_raw(s, length, packed);
  } else if (dtype == NULL) {
    complain(s, "packed string expected, got %s", value_name(L, s->idx));
  } else if (s->a->width > 1) {
    set_vector(s);
  } else {
    if (!dtype->to(L, s->idx, value)) complain(s, "%s", clc_pushmismatch(L, s->idx, dtype));
    set_raw(s, dtype->size, value);
  }
}

/* The largest first, counted in rows of the whole memory from 1, that is not
   after `start` and where a sub-buffer may begin. */
static size_t nearest_first(size_t start, size_t row, size_t align) {
  size_t first = row == 0 ? 0 : start / row;
  while (first > 0 && first * row % align != 0) first--;
  return first + 1;
}

/* The memory a kernel gets for a buffer: a view that starts later needs a
   sub-buffer, which can start only where the device allows it. */
static cl_mem argument_memory(const Setter *s, clc_Buffer *b) {
  const size_t start = b->offset * b->dtype->size;
  const size_t align = b->device->align;
  const size_t row = clc_rowcount(&b->shape) * b->dtype->size;
  if (start % align != 0)
    complain(s,
             "the view starts %I bytes into its memory, no multiple of this device's %I; the "
             "nearest first that is one is %I (d.align), or copy the view",
             (LUAI_UACINT)start, (LUAI_UACINT)align, (LUAI_UACINT)nearest_first(start, row, align));
  return clc_subbuffer(s->L, b);
}

static void set_buffer(const Setter *s) {
  lua_State *L = s->L;
  clc_Buffer *b = clc_testhandle(L, s->idx, &clc_buffertype);
  const char *dtype = s->a->dtype != NULL ? s->a->dtype->name : "a";
  if (b == NULL || (s->a->dtype != NULL && b->dtype != s->a->dtype))
    complain(s, "%s buffer expected, got %s", dtype, value_name(L, s->idx));
  if (b->device->context != s->device->context) complain(s, "the buffer lives on another device");
  if (b->mem == NULL && !s->empty) complain(s, "the buffer has no elements");
  if (b->mem == NULL) return;
  cl_mem mem = argument_memory(s, b);
  set_raw(s, sizeof mem, &mem);
}

static void set_local(const Setter *s) {
  const Scratch *scratch = test_scratch(s->L, s->idx);
  if (scratch == NULL)
    complain(s, "scratch (clcompute.scratch) expected, got %s", value_name(s->L, s->idx));
  if (s->a->dtype != NULL && s->a->dtype != scratch->dtype)
    complain(s, "%s scratch expected, got %s scratch", s->a->dtype->name, scratch->dtype->name);
  const size_t bytes = scratch->n * scratch->dtype->size;
  if (bytes > s->device->local_memory)
    complain(s, "%I bytes of scratch exceed the device's %I of local memory", (LUAI_UACINT)bytes,
             (LUAI_UACINT)s->device->local_memory);
  set_raw(s, bytes, NULL);
}

void clc_setargument(lua_State *L, clc_Device *d, cl_kernel kernel, const char *kernel_name,
                     cl_uint i, const clc_Argument *a, int idx, int empty) {
  const Setter s = {L, d, kernel, kernel_name, i, a, idx, empty};
  switch (a->kind) {
    case CLC_VALUE: set_value(&s); break;
    case CLC_BUFFER: set_buffer(&s); break;
    case CLC_LOCAL: set_local(&s); break;
    case CLC_OPAQUE: complain(&s, "images and samplers are not supported");
  }
}

void clc_opensignatures(lua_State *L) {
  static const luaL_Reg functions[] = {{"scratch", clc_scratch}, {NULL, NULL}};
  luaL_newmetatable(L, SCRATCH);
  lua_pushboolean(L, 0);
  lua_setfield(L, -2, "__metatable");
  lua_pushcfunction(L, scratch_tostring);
  lua_setfield(L, -2, "__tostring");
  lua_pop(L, 1);
  luaL_setfuncs(L, functions, 0);
}
