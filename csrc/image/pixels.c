/* SPDX-License-Identifier: MIT */
/*
 * Pixels: how they get into images and back. An image has the elements of a buffer of its shape:
 * as they are stored, row by row. Reading blocks; the host's memory is copied before a write
 * returns, and the rest is queued.
 */
#include "image.h"

#include <string.h>

static const size_t zero[3] = {0, 0, 0};

/* The image of argument 1, whose memory is its own: POCL 3.1 dies where that of a buffer is moved
   as an image. */
static clc_Image *check_own(lua_State *L, const char *method) {
  clc_Image *im = clc_checkimage(L, 1);
  if (im->view != NULL)
    luaL_error(L, "%s: the pixels of this image are the elements of a buffer: use the buffer's",
               method);
  return im;
}

static size_t byte_count(const clc_Image *im) {
  return im->count * im->format.dtype->size;
}

/* --- reading ----------------------------------------------------------- */

static void read_region(lua_State *L, clc_Image *im, const size_t origin[3], const size_t region[3],
                        size_t bytes, void *to) {
  cl_event event = NULL;
  clc_drain(L, im->device);
  if (im->h.released) luaL_error(L, "image is released"); /* by a hook, while it waited */
  clc_Counter *counter = clc_transfercounter(im->device, CLC_READ);
  clc_check(L,
            clEnqueueReadImage(clc_quickqueue(im->device), im->mem, CL_TRUE, origin, region, 0, 0,
                               to, 0, NULL, counter != NULL ? &event : NULL),
            "clEnqueueReadImage");
  clc_countended(counter, event, bytes);
}

static int image_read(lua_State *L) {
  clc_Image *im = check_own(L, "read");
  void *elements = clc_newelements(L, byte_count(im));
  read_region(L, im, zero, im->extent, byte_count(im), elements);
  clc_pushtable(L, im->format.dtype, &im->shape, elements);
  return 1;
}

static int image_string(lua_State *L) {
  clc_Image *im = check_own(L, "string");
  luaL_Buffer bytes;
  char *to = luaL_buffinitsize(L, &bytes, byte_count(im));
  read_region(L, im, zero, im->extent, byte_count(im), to);
  luaL_pushresultsize(&bytes, byte_count(im));
  return 1;
}

/* The channels of one pixel, by its coordinates from 1 on. */
static int image_get(lua_State *L) {
  static const size_t one[3] = {1, 1, 1};
  clc_Image *im = check_own(L, "get");
  const clc_Dtype *dtype = im->format.dtype;
  size_t origin[3] = {0, 0, 0};
  char pixel[4 * sizeof(cl_ulong)];
  const int given = lua_gettop(L) - 1;
  if (given != im->dims)
    luaL_error(L, "get: %s: %d coordinates expected, got %d", clc_imagekind(im->type), im->dims,
               given);
  for (int i = 0; i < im->dims; i++) {
    const lua_Integer at = luaL_checkinteger(L, i + 2);
    if (at < 1 || (lua_Unsigned)at > im->extent[i])
      clc_argerror(L, i + 2, "%I is outside 1 .. %I", (LUAI_UACINT)at, (LUAI_UACINT)im->extent[i]);
    origin[i] = (size_t)at - 1;
  }
  const int channels = im->format.channels;
  read_region(L, im, origin, one, (size_t)channels * dtype->size, pixel);
  for (int c = 0; c < channels; c++) dtype->push(L, pixel + (size_t)c * dtype->size);
  return channels;
}

/* --- writing ----------------------------------------------------------- */

/* All pixels of an image. */
static clc_Transfer whole_image(const clc_Image *im, clc_TransferCall call, clc_Kind kind) {
  return (clc_Transfer){.call = call,
                        .kind = kind,
                        .bytes = byte_count(im),
                        .region = {im->extent[0], im->extent[1], im->extent[2]}};
}

/* A transfer of d is to use the image. */
static void use_image(lua_State *L, const clc_Device *d, const clc_Image *im) {
  clc_holdimage(L, clc_getrecording(d), 0, im);
}

static void write_directly(lua_State *L, clc_Image *im, const void *from) {
  cl_event event = NULL;
  if (im->h.released) luaL_error(L, "image is released"); /* by a hook, while it waited */
  clc_Counter *counter = clc_transfercounter(im->device, CLC_WRITE);
  clc_check(L,
            clEnqueueWriteImage(clc_quickqueue(im->device), im->mem, CL_TRUE, zero, im->extent, 0,
                                0, from, 0, NULL, counter != NULL ? &event : NULL),
            "clEnqueueWriteImage");
  clc_countended(counter, event, byte_count(im));
}

/* Queues a copy between an image and a buffer. False: the driver refuses it for such an image, as
   NVIDIA's does. */
static int queue_copy(lua_State *L, const clc_Image *im, const clc_Transfer *t) {
  if (im->type != CL_MEM_OBJECT_IMAGE1D_ARRAY) {
    clc_transfer(L, im->device, t);
    return 1;
  }
  const cl_int code = clc_trytransfer(L, im->device, t);
  if (code != CL_INVALID_VALUE) clc_check(L, code, clc_kindname(t->kind));
  return code == CL_SUCCESS;
}

static void copy_through_host(lua_State *L, clc_Image *im, clc_Buffer *b) {
  void *elements = clc_newelements(L, byte_count(im));
  clc_readbuffer(L, b, 0, b->count, elements);
  write_directly(L, im, elements);
  lua_pop(L, 1);
}

static void copy_from_buffer(lua_State *L, clc_Image *im, clc_Buffer *b, clc_Kind kind) {
  clc_waitbehindsource(L, im->device, b->device);
  clc_Transfer t = whole_image(im, CLC_BUFFERTOIMAGE, kind);
  t.from = b->mem;
  t.to = im->mem;
  t.at[0] = b->offset * b->dtype->size;
  use_image(L, im->device, im);
  clc_usebuffer(L, im->device, b);
  if (!queue_copy(L, im, &t)) copy_through_host(L, im, b);
}

static void write_pixels(lua_State *L, clc_Image *im, const void *from) {
  clc_Device *d = im->device;
  clc_usedevice(L, d);
  clc_Buffer *stage =
      clc_mustqueue(d) ? clc_pushstage(L, d, im->format.dtype, im->count, from) : NULL;
  if (stage == NULL) {
    write_directly(L, im, from);
    return;
  }
  copy_from_buffer(L, im, stage, CLC_WRITE);
  clc_release(&stage->h); /* OpenCL keeps it until the copy has ended */
  lua_pop(L, 1);
}

static void write_table(lua_State *L, clc_Image *im) {
  const clc_Dtype *dtype = im->format.dtype;
  const clc_Shape shape = clc_tableshape(L, 2, dtype);
  if (shape.n != im->shape.n ||
      memcmp(shape.dim, im->shape.dim, (size_t)shape.n * sizeof *shape.dim) != 0)
    clc_argerror(L, 2, "the image is %s elements, got %s", clc_pushshape(L, &im->shape),
                 clc_pushshape(L, &shape));
  void *elements = clc_newelements(L, byte_count(im));
  clc_checktable(L, 2, dtype, &im->shape, elements);
  write_pixels(L, im, elements);
}

static void write_bytes(lua_State *L, clc_Image *im) {
  size_t length;
  const char *bytes = lua_tolstring(L, 2, &length);
  if (length != byte_count(im))
    clc_argerror(L, 2, "%I bytes expected, got %I", (LUAI_UACINT)byte_count(im),
                 (LUAI_UACINT)length);
  write_pixels(L, im, bytes);
}

/* Raises unless a buffer, an argument, has as many elements of the image's dtype. */
static void check_elements(lua_State *L, int arg, const clc_Image *im, const clc_Buffer *b) {
  const char *complaint = clc_devicecomplaint(b, im->device);
  if (complaint != NULL) luaL_argerror(L, arg, complaint);
  if (b->dtype != im->format.dtype)
    clc_argerror(L, arg, "%s buffer expected, got %s", im->format.dtype->name, b->dtype->name);
  if (b->count != im->count)
    clc_argerror(L, arg, "%I elements expected, got %I", (LUAI_UACINT)im->count,
                 (LUAI_UACINT)b->count);
}

static void write_buffer(lua_State *L, clc_Image *im) {
  clc_Buffer *b = clc_checkbuffer(L, 2);
  check_elements(L, 2, im, b);
  copy_from_buffer(L, im, b, CLC_COPY);
}

/* --- copies ------------------------------------------------------------ */

static void copy_image(lua_State *L, clc_Image *from, clc_Image *to) {
  if (from == to) return;
  if (from->device->context != to->device->context) {
    void *elements = clc_newelements(L, byte_count(from));
    read_region(L, from, zero, from->extent, byte_count(from), elements);
    write_pixels(L, to, elements);
    lua_pop(L, 1);
    return;
  }
  clc_waitbehindsource(L, to->device, from->device);
  clc_Transfer t = whole_image(to, CLC_COPYIMAGE, CLC_COPY);
  t.from = from->mem;
  t.to = to->mem;
  use_image(L, to->device, from);
  use_image(L, to->device, to);
  clc_transfer(L, to->device, &t);
}

static void write_image(lua_State *L, clc_Image *im) {
  clc_Image *from = clc_checkimage(L, 2);
  const char *kind = clc_imagekind(from->type);
  if (from->type != im->type)
    clc_argerror(L, 2, "%s expected, got %s", clc_imagekind(im->type), kind);
  if (memcmp(&from->format.cl, &im->format.cl, sizeof im->format.cl) != 0)
    clc_argerror(L, 2, "pixels of '%s %s' expected, got '%s %s'", im->format.order, im->format.type,
                 from->format.order, from->format.type);
  if (memcmp(from->extent, im->extent, sizeof im->extent) != 0)
    clc_argerror(L, 2, "the image is %s elements, got %s", clc_pushshape(L, &im->shape),
                 clc_pushshape(L, &from->shape));
  copy_image(L, from, im);
}

static int image_write(lua_State *L) {
  clc_Image *im = check_own(L, "write");
  lua_settop(L, 2);
  switch (lua_type(L, 2)) {
    case LUA_TTABLE: write_table(L, im); break;
    case LUA_TSTRING: write_bytes(L, im); break;
    case LUA_TUSERDATA:
      if (clc_testbuffer(L, 2) != NULL)
        write_buffer(L, im);
      else
        write_image(L, im);
      break;
    default: luaL_typeerror(L, 2, "table, string, buffer or image");
  }
  lua_settop(L, 1);
  return 1;
}

/* A new image with the same pixels, on any device. */
static int image_copy(lua_State *L) {
  clc_Image *im = check_own(L, "copy");
  clc_Device *d = lua_isnoneornil(L, 2) ? im->device : clc_checkopen(L, 2);
  lua_settop(L, 2);
  if (d->context != im->device->context) {
    clc_checkimages(L, d);
    clc_checksupport(L, d, 2, &im->format, im->type, clc_imagekind(im->type));
  }
  clc_Image *copy = clc_newimage(L, d, im->type, &im->format, im->dims, im->extent);
  copy_image(L, clc_checkimage(L, 1), copy);
  return 1;
}

static void copy_to_buffer(lua_State *L, clc_Image *im, clc_Buffer *b) {
  clc_beforechange(L, b, NULL);
  if (im->h.released) luaL_error(L, "image" CLC_RELEASED);
  clc_Transfer t = whole_image(im, CLC_IMAGETOBUFFER, CLC_COPY);
  t.from = im->mem;
  t.to = b->mem;
  t.to_at[0] = b->offset * b->dtype->size;
  use_image(L, im->device, im);
  clc_usebuffer(L, im->device, b);
  if (queue_copy(L, im, &t)) return;
  void *elements = clc_newelements(L, byte_count(im));
  read_region(L, im, zero, im->extent, byte_count(im), elements);
  clc_writebuffer(L, b, 0, b->count, elements);
  lua_pop(L, 1);
}

/* The elements as a buffer: the one that is given, or a new one of the image's shape. */
static int image_buffer(lua_State *L) {
  clc_Image *im = check_own(L, "buffer");
  clc_Buffer *b;
  lua_settop(L, 2);
  if (lua_isnil(L, 2)) {
    clc_newguarded(L, im->device, im->format.dtype, &im->shape);
    lua_replace(L, 2);
  }
  b = clc_checktarget(L, 2);
  check_elements(L, 2, im, b);
  copy_to_buffer(L, clc_checkimage(L, 1), b); /* a finalizer may have released it */
  return 1;
}

/* --- filling ----------------------------------------------------------- */

/* Raises where a number is none of a normalized format's, whose channels are stored as integers:
   devices would clamp it. */
static void check_normalized(lua_State *L, int arg, const clc_Format *f, lua_Number colour) {
  const int is_signed = *f->type == 's';
  if (!f->colour->floating || f->dtype->floating) return;
  if (colour >= (is_signed ? -1 : 0) && colour <= 1) return;
  clc_argerror(L, arg, "colours of %s are %s .. 1, whatever the bits that store them; got %f",
               f->type, is_signed ? "-1" : "0", colour);
}

/* Raises where a number is none that a channel stores. */
static void check_stored(lua_State *L, int arg, const clc_Format *f) {
  const int is_converted = f->colour->floating != f->dtype->floating;
  const clc_Dtype *dtype = is_converted ? f->colour : f->dtype;
  char element[sizeof(cl_ulong)];
  if (!dtype->to(L, -1, element)) luaL_argerror(L, arg, clc_pushmismatch(L, -1, dtype));
}

/* Red, green, blue and alpha, as a kernel writes a pixel: {r, g, b, a}, or one number for all. */
static void check_colour(lua_State *L, int arg, const clc_Format *f, char colour[16]) {
  const size_t size = f->colour->size;
  const int is_table = lua_istable(L, arg);
  if (!is_table) luaL_argexpected(L, lua_type(L, arg) == LUA_TNUMBER, arg, "number or table");
  if (is_table && lua_rawlen(L, arg) != 4)
    clc_argerror(L, arg, "a table of 4 numbers expected, got one of %I",
                 (LUAI_UACINT)lua_rawlen(L, arg));
  for (int i = 0; i < 4; i++) {
    if (is_table)
      lua_rawgeti(L, arg, i + 1);
    else
      lua_pushvalue(L, arg);
    check_stored(L, arg, f);
    f->colour->to(L, -1, colour + (size_t)i * size);
    check_normalized(L, arg, f, lua_tonumber(L, -1));
    lua_pop(L, 1);
  }
}

static int image_fill(lua_State *L) {
  clc_Image *im = check_own(L, "fill");
  clc_Transfer t = whole_image(im, CLC_FILLIMAGE, CLC_FILL);
  t.to = im->mem;
  check_colour(L, 2, &im->format, t.element);
  use_image(L, im->device, im);
  clc_transfer(L, im->device, &t);
  lua_settop(L, 1);
  return 1;
}

void clc_openpixels(lua_State *L) {
  static const clc_Function methods[] = {{"read", image_read, 0},     {"string", image_string, 0},
                                         {"get", image_get, CLC_ANY}, {"write", image_write, 1},
                                         {"copy", image_copy, 1},     {"buffer", image_buffer, 1},
                                         {"fill", image_fill, 1},     {NULL, NULL, 0}};
  clc_addmethods(L, &clc_imagetype, methods);
}
