/* SPDX-License-Identifier: MIT */
/* Signatures: what a kernel takes, and setting its arguments from Lua values. */
#define _POSIX_C_SOURCE 200809L /* strtok_r */
#include "kernel.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_WIDTH 16
#define SCRATCH "clcompute.Scratch"

/* --- reading ----------------------------------------------------------- */

/* The width that digits at the end of a type's name say, 1 without; 0 for others, as in
   the name of some typedef. */
static int vector_width(const char *digits) {
  static const char *const widths[] = {"2", "3", "4", "8", "16"};
  if (*digits == '\0') return 1;
  for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
    if (strcmp(digits, widths[i]) == 0) return atoi(digits);
  return 0;
}

/* Whether it is `long long` or its unsigned kin, which OpenCL C reserves: 16 bytes to compilers of
   Clang's family, POCL's among them. */
static int is_reserved(const char *type) {
  return strstr(type, "long long") != NULL; /* in POCL's "ulong long" too */
}

/* C spells an integer type in several words of any order: "long unsigned int". */
static void join_words(char *name) {
  static const char *const ints[] = {"char", "short", "long"};
  char words[CLC_NAME], *rest;
  const char *base = NULL;
  int is_unsigned = 0, known = 1;
  if (is_reserved(name)) return;
  strcpy(words, name);
  for (char *w = strtok_r(words, " ", &rest); w != NULL; w = strtok_r(NULL, " ", &rest)) {
    int found = strcmp(w, "int") == 0 || strcmp(w, "signed") == 0;
    if (strcmp(w, "unsigned") == 0) is_unsigned = found = 1;
    for (size_t i = 0; i < sizeof ints / sizeof *ints; i++)
      if (strcmp(w, ints[i]) == 0) {
        base = ints[i];
        found = 1;
      }
    known = known && found;
  }
  if (known && *name != '\0')
    snprintf(name, CLC_NAME, "%s%s", is_unsigned ? "u" : "", base != NULL ? base : "int");
}

/* Whether a type is an enumeration, with or without a tag. */
static int is_enum(const char *type) {
  return strcmp(type, "enum") == 0 || strncmp(type, "enum ", 5) == 0;
}

/* Whether values of a type are such as the device alone makes: no bytes stand for them, and a
   driver dies of some. */
static int is_opaque(const char *type) {
  static const char *const types[] = {"queue_t", "clk_event_t", "reserve_id_t"};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (strcmp(type, types[i]) == 0) return 1;
  return 0;
}

/* The kind of a value by its type's name: images, which some drivers tell with their access
   ("__read_only image2d_t"), and samplers are objects of OpenCL. */
static clc_ArgumentKind find_kind(const char *type, clc_Argument *a) {
  const char *last = strrchr(type, ' ');
  a->image = clc_findimagetype(last != NULL ? last + 1 : type);
  if (a->image != 0) return CLC_IMAGE;
  if (strcmp(type, "sampler_t") == 0) return CLC_SAMPLER;
  if (is_reserved(type)) return CLC_RESERVED;
  return is_opaque(type) ? CLC_OPAQUE : CLC_VALUE;
}

/* The name that typedefs and spelling leave of a type. */
static void resolve_name(lua_State *L, const char *text, char base[CLC_NAME]) {
  clc_shorten(base, clc_pushtype(L, text, base));
  lua_pop(L, 1);
  join_words(base);
}

static const clc_Dtype *find_element(const char *base, int *width) {
  const size_t length = strcspn(base, "0123456789");
  *width = vector_width(base + length);
  return *width > 0 ? clc_finddtype(base, length) : NULL;
}

const clc_Dtype *clc_resolvetype(lua_State *L, const char *text, const char *type, int *width) {
  char base[CLC_NAME];
  clc_shorten(base, type);
  resolve_name(L, text, base);
  return find_element(base, width);
}

/* "float4*" is float, 4 wide. A pointer to an enumeration is to another type, because compilers
   differ in its sign; clc_settleenums says what its values are. Returns the kind of a value. */
static clc_ArgumentKind parse_type(lua_State *L, const char *text, clc_Argument *a) {
  char base[CLC_NAME];
  strcpy(base, a->type);
  base[strcspn(base, "*")] = '\0';
  size_t length = strlen(base);
  while (length > 0 && base[length - 1] == ' ') base[--length] = '\0';
  resolve_name(L, text, base);
  a->is_enum = is_enum(base) && strchr(a->type, '*') == NULL;
  a->dtype = find_element(base, &a->width);
  return find_kind(base, a);
}

void clc_readargument(lua_State *L, const clc_Declaration *d, const char *text, clc_Argument *a) {
  strcpy(a->name, d->name);
  strcpy(a->type, d->type);
  const clc_ArgumentKind kind = parse_type(L, text, a);
  a->is_const = d->is_const || d->space == CL_KERNEL_ARG_ADDRESS_CONSTANT;
  const int pointer = strchr(a->type, '*') != NULL;
  switch (d->space) {
    case CL_KERNEL_ARG_ADDRESS_GLOBAL:
      a->space = "global";
      /* Images and pipes are global too. */
      a->kind = pointer ? CLC_BUFFER : kind == CLC_IMAGE ? CLC_IMAGE : CLC_OPAQUE;
      break;
    case CL_KERNEL_ARG_ADDRESS_CONSTANT:
      a->space = "constant";
      a->kind = CLC_BUFFER;
      break;
    case CL_KERNEL_ARG_ADDRESS_LOCAL:
      a->space = "local";
      a->kind = CLC_LOCAL;
      break;
    default: a->space = "private"; a->kind = kind;
  }
  if (kind == CLC_RESERVED) a->kind = kind;
}

/* --- scratch ----------------------------------------------------------- */

#define SCRATCH_MARK UINT64_C(0x7363726174636800) /* this userdata is one */

typedef struct {
  uint64_t mark; /* a metatable alone can be set by `debug` */
  const clc_Dtype *dtype;
  size_t n;
} Scratch;

static int clc_scratch(lua_State *L) {
  const clc_Dtype *dtype = clc_checkdtype(L, 1);
  const clc_Shape shape = clc_checkshape(L, 2, 2, dtype);
  luaL_argcheck(L, shape.dim[0] > 0, 2, "size must be at least 1");
  Scratch *s = lua_newuserdatauv(L, sizeof *s, 0);
  *s = (Scratch){SCRATCH_MARK, dtype, shape.dim[0]};
  luaL_setmetatable(L, SCRATCH);
  return 1;
}

static const Scratch *test_scratch(lua_State *L, int idx) {
  const Scratch *s = luaL_testudata(L, idx, SCRATCH);
  return s != NULL && lua_rawlen(L, idx) == sizeof *s && s->mark == SCRATCH_MARK ? s : NULL;
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
  const clc_Kernel *k;
  cl_uint i; /* which argument */
  const clc_Argument *a;
  int idx; /* stack index of its value */
  const clc_Target *target;
} Setter;

static void raise_about(lua_State *L, const char *kernel_name, cl_uint i, const clc_Argument *a,
                        const char *complaint, const char *hint, va_list args) {
  luaL_where(L, 1);
  lua_pushfstring(L, "kernel '%s' argument %d '%s' (%s%s%s): ", kernel_name, (int)i + 1, a->name,
                  a->kind == CLC_VALUE ? "" : a->space, a->kind == CLC_VALUE ? "" : " ", a->type);
  lua_pushvfstring(L, complaint, args);
  lua_pushstring(L, hint);
  lua_concat(L, 4);
  lua_error(L);
}

void clc_argumenterror(lua_State *L, const char *kernel_name, cl_uint i, const clc_Argument *a,
                       const char *complaint, ...) {
  va_list args;
  va_start(args, complaint);
  raise_about(L, kernel_name, i, a, complaint, "", args);
  va_end(args);
}

static void complain(const Setter *s, const char *complaint, ...) {
  const int is_struct = s->a->kind == CLC_VALUE && s->a->dtype == NULL;
  const char *hint = is_struct ? "" : clc_rangehint(s->L, s->idx, NULL);
  va_list args;
  va_start(args, complaint);
  raise_about(s->L, s->k->name, s->i, s->a, complaint, hint, args);
  va_end(args);
}

static const char *value_name(lua_State *L, int idx) {
  const clc_Buffer *b = clc_testbuffer(L, idx);
  if (b != NULL) return lua_pushfstring(L, "%s buffer", b->dtype->name);
  const clc_Image *im = clc_testhandle(L, idx, &clc_imagetype);
  if (im != NULL) return clc_imagekind(im->type);
  if (clc_testhandle(L, idx, &clc_samplertype) != NULL) return "sampler";
  if (luaL_testudata(L, idx, clc_buffertype.tname)) return "released buffer";
  if (luaL_testudata(L, idx, clc_imagetype.tname)) return "released image";
  if (luaL_testudata(L, idx, clc_samplertype.tname)) return "released sampler";
  return clc_typename(L, idx);
}

static void check_set(const Setter *s, cl_int code, size_t size) {
  if (code != CL_SUCCESS)
    complain(s, "clSetKernelArg: %s (%d) for %I bytes", clc_codename(code), (int)code,
             (LUAI_UACINT)size);
}

/* A value; NULL is local memory, or no memory for a pointer to another space. */
static void set_raw(const Setter *s, size_t size, const void *value) {
  const clc_Executor *executor = s->k->device->context->executor;
  check_set(s, executor->set_value(s->k->device, s->target->kernel, s->i, size, value), size);
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
  if (!lua_istable(L, s->idx))
    complain(s, "table of %d numbers expected, got %s", width, value_name(L, s->idx));
  if (lua_rawlen(L, s->idx) != (size_t)width)
    complain(s, "table of %d numbers expected, got one of %I", width,
             (LUAI_UACINT)lua_rawlen(L, s->idx));
  for (int i = 0; i < width; i++) {
    lua_rawgeti(L, s->idx, i + 1);
    if (!dtype->to(L, -1, value + (size_t)i * dtype->size))
      complain(s, "[%d]: %s", i + 1, clc_pushmismatch(L, -1, dtype));
    lua_pop(L, 1);
  }
  set_raw(s, value_size(s->a), value);
}

static void set_scalar(const Setter *s) {
  const clc_Dtype *dtype = s->a->dtype;
  char value[sizeof(cl_ulong)];
  if (!dtype->to(s->L, s->idx, value)) complain(s, "%s", clc_pushmismatch(s->L, s->idx, dtype));
  set_raw(s, dtype->size, value);
}

/* Pushes what is expected of a value that is packed. */
static const char *push_expected(const Setter *s, size_t size) {
  const char *bytes = size > 0 ? lua_pushfstring(s->L, " of %I bytes", (LUAI_UACINT)size) : "";
  return lua_pushfstring(s->L, "packed string%s expected%s", bytes,
                         s->a->dtype == NULL ? ", as S:pack of a cl.struct gives it" : "");
}

/* A vector or a value of another type, as it lies in memory. POCL takes any size, and aborts on
   none. */
static void set_packed(const Setter *s) {
  const size_t size = s->a->dtype != NULL ? value_size(s->a) : s->a->size;
  size_t length;
  const char *packed = lua_tolstring(s->L, s->idx, &length);
  if (size == 0 && s->k->device->context->is_pocl)
    complain(s, "its size is not known; give its type a name, before the kernel");
  if (s->a->is_apart)
    complain(s,
             "POCL dies of a value that an attribute aligns to more than 16 bytes; take a "
             "pointer to one, constant T *");
  if (length == 0 || (size > 0 && length != size))
    complain(s, "%s, got %I bytes", push_expected(s, size), (LUAI_UACINT)length);
  set_raw(s, length, packed);
}

static void set_value(const Setter *s) {
  if (s->a->dtype != NULL && s->a->width == 1)
    set_scalar(s);
  else if (lua_type(s->L, s->idx) == LUA_TSTRING)
    set_packed(s);
  else if (s->a->dtype != NULL)
    set_vector(s);
  else
    complain(s, "%s, got %s", push_expected(s, s->a->size), value_name(s->L, s->idx));
}

/* The first of `view(first, ...)` on the buffer it was taken from that is nearest to
   the view's own and may start a sub-buffer; 0: there is none. */
static size_t nearest_first(const clc_Buffer *b) {
  const size_t size = b->dtype->size, align = b->device->context->align;
  const size_t own = (b->offset - b->base) / b->step;
  for (size_t away = 1; away <= own || away <= align; away++) {
    if (away <= own && (b->base + (own - away) * b->step) * size % align == 0)
      return own - away + 1;
    if ((b->base + (own + away) * b->step) * size % align == 0 && own + away < b->base_rows)
      return own + away + 1;
  }
  return 0;
}

/* The memory a kernel gets for a buffer: a view that starts later needs a
   sub-buffer, which can start only where the device allows it, as a red zone ends. */
static cl_mem argument_memory(const Setter *s, clc_Buffer *b) {
  const size_t start = (b->offset - b->zone) * b->dtype->size, align = b->device->context->align;
  if (start % align == 0) return clc_subbuffer(s->L, b);
  const size_t first = b->step > 0 ? nearest_first(b) : 0;
  const char *advice =
      first > 0 ? lua_pushfstring(s->L, "the nearest first that is one is %I", (LUAI_UACINT)first)
                : "no other first of that buffer is one";
  complain(s,
           "the view starts %I bytes into its memory, no multiple of this device's %I (d.align); "
           "%s, or copy the view",
           (LUAI_UACINT)start, (LUAI_UACINT)align, advice);
  return NULL;
}

/* Whether a pointer takes memory with elements of a dtype: its own type or that type's signed or
   unsigned kin, which C lets alias. Bytes and types that are not known take all. */
static int takes(const clc_Argument *a, const clc_Dtype *dtype) {
  if (a->dtype == NULL || a->dtype == dtype) return 1;
  if (a->dtype->size == 1 && a->width == 1) return 1;
  return !a->dtype->floating && !dtype->floating && a->dtype->size == dtype->size;
}

/* The value of cl.null. */
static int is_null(lua_State *L, int idx) {
  return lua_islightuserdata(L, idx) && lua_touserdata(L, idx) == NULL;
}

/* What a kernel gets without `const` it may write to. */
static void check_target(const Setter *s, const clc_Buffer *b) {
  if (b->is_slice && !s->a->is_const)
    complain(s, "the kernel may write to it (const says that it does not), but " CLC_SLICE);
}

/* A kernel takes the fourth element for padding, or writes behind the end. */
static void check_rows(const Setter *s, const clc_Buffer *b) {
  const size_t last = b->shape.dim[b->shape.n - 1];
  if (s->a->width == 3 && last % 4 != 0)
    complain(s,
             "a vector of 3 takes the room of 4 elements, and the rows of the buffer have %I; make "
             "rows of 4, or let the kernel take %s* and call vload3",
             (LUAI_UACINT)last, s->a->dtype->name);
}

static void set_buffer(const Setter *s) {
  lua_State *L = s->L;
  if (is_null(L, s->idx)) {
    set_raw(s, sizeof(cl_mem), NULL);
    return;
  }
  clc_Buffer *b = clc_testbuffer(L, s->idx);
  const char *dtype = s->a->dtype != NULL ? s->a->dtype->name : "a";
  if (b == NULL || !takes(s->a, b->dtype))
    complain(s, "%s buffer expected, got %s", dtype, value_name(L, s->idx));
  const char *complaint = clc_devicecomplaint(b, s->k->device);
  if (complaint != NULL) complain(s, "%s", complaint);
  check_target(s, b);
  check_rows(s, b);
  if (b->count == 0 && !s->target->empty) complain(s, "the buffer has no elements");
  if (b->count == 0) return;
  cl_mem mem = argument_memory(s, b);
  clc_holdbuffer(s->L, s->target->recording, s->i, b, mem);
  check_set(s, clc_setmemory(s->k->device, s->target->kernel, s->i, b, mem, b->offset), sizeof mem);
}

void clc_raiseaccess(lua_State *L, const clc_Kernel *k, cl_uint i, cl_uint other) {
  const clc_Argument *a = &k->args[i], *b = &k->args[other];
  clc_argumenterror(L, k->name, i, a, "is %s, and is also argument %d '%s', which is %s",
                    a->is_const ? "read" : "written", (int)other + 1, b->name,
                    b->is_const ? "read" : "written");
}

/* What one launch reads by one argument and writes by another is undefined. Those that come later
   in the list find it out; they look back at stack indices below their own. */
static void check_other_access(const Setter *s, const clc_Image *im) {
  for (cl_uint i = 0; i < s->i; i++) {
    const clc_Argument *other = &s->k->args[i];
    if (other->kind == CLC_IMAGE && other->is_const != s->a->is_const &&
        clc_testhandle(s->L, s->idx - (int)(s->i - i), &clc_imagetype) == im)
      clc_raiseaccess(s->L, s->k, s->i, i);
  }
}

/* What a function for colours of another type gives is undefined: drivers give zeros or bits. */
static void check_colour(const Setter *s, const clc_Image *im) {
  const char *own = im->format.colour->name, *wanted = s->a->colour;
  const char *verb = s->a->is_const ? "read" : "write";
  if (wanted != NULL && strcmp(own, wanted) != 0)
    complain(s, "the kernel %ss %s colours, those of an image '%s %s' are %s: call %s_image%s",
             verb, wanted, im->format.order, im->format.type, own, verb,
             *own == 'u' ? "ui" : lua_pushlstring(s->L, own, 1));
}

static void set_image(const Setter *s) {
  const clc_Image *im = clc_testhandle(s->L, s->idx, &clc_imagetype);
  if (im == NULL || im->type != s->a->image)
    complain(s, "%s expected, got %s", clc_imagekind(s->a->image), value_name(s->L, s->idx));
  if (im->device->context != s->k->device->context)
    complain(s, "the image lives on another device; im:copy(device) moves it");
  if (im->view != NULL && !s->a->is_const && s->k->device->context->is_pocl)
    complain(s,
             "POCL dies of a kernel that writes to an image on a buffer; let it take the buffer");
  if (im->view != NULL) check_target(s, im->view);
  check_colour(s, im);
  check_other_access(s, im);
  clc_holdimage(s->L, s->target->recording, s->i, im);
  check_set(s, clc_setimage(s->k->device, s->target->kernel, s->i, im), sizeof im->mem);
}

static void set_sampler(const Setter *s) {
  const clc_Sampler *sampler = clc_testhandle(s->L, s->idx, &clc_samplertype);
  if (sampler == NULL)
    complain(s, "sampler (d:sampler) expected, got %s", value_name(s->L, s->idx));
  if (sampler->device->context != s->k->device->context)
    complain(s, "the sampler lives on another device");
  if (s->target->recording != NULL)
    clc_holdobject(s->L, s->target->recording, s->i, NULL, sampler->sampler);
  check_set(s, clc_setsampler(s->k->device, s->target->kernel, s->i, sampler),
            sizeof sampler->sampler);
}

static void set_local(const Setter *s) {
  const Scratch *scratch = test_scratch(s->L, s->idx);
  if (scratch == NULL)
    complain(s, "scratch (cl.scratch) expected, got %s", value_name(s->L, s->idx));
  if (!takes(s->a, scratch->dtype))
    complain(s, "%s scratch expected, got %s scratch", s->a->dtype->name, scratch->dtype->name);
  set_raw(s, scratch->n * scratch->dtype->size, NULL);
}

/* Pipes are told as global, as images of kinds that are not here (image2d_depth_t); what
   device-side queues are made of as private. */
static void refuse_opaque(const Setter *s) {
  if (strncmp(s->a->type, "image", strlen("image")) == 0)
    complain(s,
             "images of this kind are not supported: d:image makes image1d_t, image2d_t, "
             "image3d_t, image1d_array_t, image2d_array_t and image1d_buffer_t");
  complain(s, strcmp(s->a->space, "global") == 0
                  ? "pipes are not supported; a buffer takes what one kernel leaves for another"
                  : "device-side queues are not supported; launches come from Lua");
}

void clc_setargument(lua_State *L, const clc_Kernel *k, const clc_Target *target, cl_uint i,
                     int idx) {
  const clc_Argument *a = &k->args[i];
  const Setter s = {L, k, i, a, idx, target};
  switch (a->kind) {
    case CLC_VALUE: set_value(&s); break;
    case CLC_BUFFER: set_buffer(&s); break;
    case CLC_LOCAL: set_local(&s); break;
    case CLC_IMAGE: set_image(&s); break;
    case CLC_SAMPLER: set_sampler(&s); break;
    case CLC_OPAQUE: refuse_opaque(&s); break;
    case CLC_RESERVED:
      complain(&s,
               "OpenCL C reserves 'long long', which has 16 bytes on some devices; write 'long', "
               "which has 8 on all");
  }
}

void clc_opensignatures(lua_State *L) {
  static const clc_Function functions[] = {{"scratch", clc_scratch, 2}, {NULL, NULL, 0}};
  luaL_newmetatable(L, SCRATCH);
  lua_pushboolean(L, 0);
  lua_setfield(L, -2, "__metatable");
  lua_pushcfunction(L, scratch_tostring);
  lua_setfield(L, -2, "__tostring");
  lua_pop(L, 1);
  clc_setfunctions(L, functions);
  lua_pushlightuserdata(L, NULL);
  lua_setfield(L, -2, "null");
}
