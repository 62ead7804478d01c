/* SPDX-License-Identifier: MIT */
/* Images: kinds, making, fields. */
#include "image.h"

#include <string.h>

/* Value of an image that keeps the view of the buffer whose memory it is. */
enum { VIEW = 1 };

/* --- kinds ------------------------------------------------------------- */

typedef struct {
  cl_mem_object_type type;
  const char *name; /* in messages; OpenCL C adds "_t" */
  int dims;         /* extents that are width, height and depth */
  int has_layers;   /* the next one */
  cl_device_info most[3];
} Kind;

static const Kind kinds[] = {
    {CL_MEM_OBJECT_IMAGE1D, "image1d", 1, 0, {CL_DEVICE_IMAGE2D_MAX_WIDTH, 0, 0}},
    {CL_MEM_OBJECT_IMAGE1D_ARRAY,
     "image1d_array",
     1,
     1,
     {CL_DEVICE_IMAGE2D_MAX_WIDTH, CL_DEVICE_IMAGE_MAX_ARRAY_SIZE, 0}},
    {CL_MEM_OBJECT_IMAGE1D_BUFFER, "image1d_buffer", 1, 0, {CL_DEVICE_IMAGE_MAX_BUFFER_SIZE, 0, 0}},
    {CL_MEM_OBJECT_IMAGE2D,
     "image2d",
     2,
     0,
     {CL_DEVICE_IMAGE2D_MAX_WIDTH, CL_DEVICE_IMAGE2D_MAX_HEIGHT, 0}},
    {CL_MEM_OBJECT_IMAGE2D_ARRAY,
     "image2d_array",
     2,
     1,
     {CL_DEVICE_IMAGE2D_MAX_WIDTH, CL_DEVICE_IMAGE2D_MAX_HEIGHT, CL_DEVICE_IMAGE_MAX_ARRAY_SIZE}},
    {CL_MEM_OBJECT_IMAGE3D,
     "image3d",
     3,
     0,
     {CL_DEVICE_IMAGE3D_MAX_WIDTH, CL_DEVICE_IMAGE3D_MAX_HEIGHT, CL_DEVICE_IMAGE3D_MAX_DEPTH}}};
#define NKINDS (sizeof kinds / sizeof *kinds)

static const Kind *get_kind(cl_mem_object_type type) {
  const Kind *k = kinds;
  while (k->type != type) k++;
  return k;
}

static const Kind *find_kind(int dims, int has_layers) {
  for (const Kind *k = kinds; k < kinds + NKINDS; k++)
    if (k->type != CL_MEM_OBJECT_IMAGE1D_BUFFER && k->dims == dims && k->has_layers == has_layers)
      return k;
  return NULL;
}

const char *clc_imagekind(cl_mem_object_type type) {
  return get_kind(type)->name;
}

cl_mem_object_type clc_findimagetype(const char *name) {
  for (const Kind *k = kinds; k < kinds + NKINDS; k++) {
    const size_t length = strlen(k->name);
    if (strncmp(name, k->name, length) == 0 && strcmp(name + length, "_t") == 0) return k->type;
  }
  return 0;
}

/* --- the object -------------------------------------------------------- */

static void image_release(clc_Handle *h) {
  clc_Image *im = (clc_Image *)h;
  if (im->mem == NULL) return;
  clc_disown(im->device->context, im->allocated);
  clReleaseMemObject(im->mem);
  im->mem = NULL;
}

static int image_tell(const clc_Handle *h, clc_Holding *holding) {
  const clc_Image *im = (const clc_Image *)h;
  *holding = (clc_Holding){im->format.dtype, im->shape, im->allocated, 0};
  return im->allocated > 0;
}

const clc_Type clc_imagetype = {"image", "clcompute.Image", sizeof(clc_Image), image_release,
                                0,       image_tell};

clc_Image *clc_checkimage(lua_State *L, int arg) {
  return clc_checkhandle(L, arg, &clc_imagetype);
}

/* Asked at each making: that is rare. */
void clc_checkimages(lua_State *L, clc_Device *d) {
  if (d->context->version < 102 ||
      clc_checkdevicenumber(L, d->context->place.device, CL_DEVICE_IMAGE_SUPPORT) == 0)
    luaL_error(L, "this device has no images");
  /* An assertion of POCL's ends the process at the first transfer. */
  if (d->context->is_pocl && d->context->place.part[0] != '\0')
    luaL_error(L, "POCL has no images on a part of a device: make them on the whole device");
}

static void set_shape(clc_Image *im) {
  im->shape.n = 0;
  for (int i = im->dims; i > 0; i--) im->shape.dim[im->shape.n++] = im->extent[i - 1];
  if (im->format.channels > 1) im->shape.dim[im->shape.n++] = (size_t)im->format.channels;
  im->count = clc_count(&im->shape);
}

static clc_Image *push_image(lua_State *L, clc_Device *d, cl_mem_object_type type,
                             const clc_Format *format, int dims, const size_t extent[3]) {
  clc_Image *im = clc_newowned(L, &clc_imagetype, d, 0);
  im->device = d;
  im->type = type;
  im->format = *format;
  im->dims = dims;
  memcpy(im->extent, extent, sizeof im->extent);
  set_shape(im);
  return im;
}

/* --- making ------------------------------------------------------------ */

/* Raises unless extent i is within what the device has. */
static void check_extent(lua_State *L, const clc_Device *d, int arg, const Kind *k, int i,
                         size_t n) {
  static const char *const names[] = {"width", "height", "depth"};
  const char *name = k->has_layers && i == k->dims ? "layers" : names[i];
  const cl_ulong most = clc_checkdevicenumber(L, d->context->place.device, k->most[i]);
  if (n < 1 || n > most)
    clc_argerror(L, arg, "%s %I of an %s is outside 1 .. %I", name, (LUAI_UACINT)n, k->name,
                 (LUAI_UACINT)most);
}

static clc_Layout get_layout(const clc_Image *im) {
  const Kind *k = get_kind(im->type);
  return (clc_Layout){im->region,
                      im->format.cl,
                      {.image_type = im->type,
                       .image_width = im->extent[0],
                       .image_height = k->dims > 1 ? im->extent[1] : 0,
                       .image_depth = k->dims > 2 ? im->extent[2] : 0,
                       .image_array_size = k->has_layers ? im->extent[k->dims] : 0}};
}

static clc_Outcome create_image(clc_Device *d, clc_Handle *owner, size_t bytes) {
  clc_Image *im = (clc_Image *)owner;
  clc_Outcome r = {CL_SUCCESS, "clCreateImage"};
  im->region = (clc_Region){.bytes = bytes, .count = bytes};
  clc_Layout layout = get_layout(im);
  im->mem = d->context->executor->new_image(d->context, &layout, &r);
  im->region = layout.region;
  if (r.code != CL_SUCCESS) im->mem = NULL;
  return r;
}

clc_Image *clc_newimage(lua_State *L, clc_Device *d, cl_mem_object_type type,
                        const clc_Format *format, int dims, const size_t extent[3]) {
  size_t bytes = (size_t)format->channels * format->dtype->size;
  for (int i = 0; i < dims; i++)
    if (__builtin_mul_overflow(bytes, extent[i], &bytes))
      luaL_error(L, "the pixels do not fit in memory");
  clc_usedevice(L, d);
  clc_pushdevice(L, d); /* keeps it, should a finalizer close it */
  clc_findroom(L, d, &clc_imagetype, bytes);
  clc_Image *im = push_image(L, d, type, format, dims, extent);
  lua_remove(L, -2);
  clc_allocate(L, d, &im->h, create_image, bytes, &im->allocated);
  return im;
}

/* Pixels along an extent, from argument `arg`. */
static size_t check_size(lua_State *L, int arg) {
  const lua_Integer n = luaL_checkinteger(L, arg);
  if (n < 1) clc_argerror(L, arg, "size must be at least 1, got %I", (LUAI_UACINT)n);
  return (size_t)n;
}

/* An image with memory of its own: width [, height [, depth]] [, {layers=}]. */
static void new_plain(lua_State *L, clc_Device *d, const clc_Format *format) {
  static const char *const keys[] = {"layers", NULL};
  const int last = lua_gettop(L), has_options = last > 2 && lua_istable(L, last);
  const int dims = last - 2 - has_options;
  size_t extent[3] = {1, 1, 1};
  lua_Integer layers = 0;
  if (dims < 1) luaL_argerror(L, 3, "width or buffer expected");
  if (dims > 3) luaL_argerror(L, 6, "at most 3 dimensions");
  if (has_options && clc_checkoptions(L, last, keys))
    layers = clc_integeroption(L, last, "layers", 1, 0);
  const Kind *k = find_kind(dims, layers > 0);
  if (k == NULL) clc_optionerror(L, last, "layers", "an image of three dimensions has none");
  for (int i = 0; i < dims; i++) extent[i] = check_size(L, i + 3);
  if (layers > 0) extent[dims] = (size_t)layers;
  for (int i = 0; i < dims + k->has_layers; i++) check_extent(L, d, i + 3, k, i, extent[i]);
  clc_checksupport(L, d, 2, format, k->type, k->name);
  clc_newimage(L, d, k->type, format, dims + k->has_layers, extent);
}

/* An image of one dimension whose pixels are the elements of a buffer. */
static void new_on_buffer(lua_State *L, clc_Device *d, const clc_Format *format) {
  const Kind *k = get_kind(CL_MEM_OBJECT_IMAGE1D_BUFFER);
  clc_Buffer *b = clc_checkbuffer(L, 3);
  const char *complaint = clc_devicecomplaint(b, d);
  const size_t channels = (size_t)format->channels, extent[3] = {b->count / channels, 1, 1};
  cl_int code;
  if (lua_gettop(L) > 3) luaL_argerror(L, 4, "a buffer brings its own size");
  if (complaint != NULL) luaL_argerror(L, 3, complaint);
  if (b->dtype != format->dtype)
    clc_argerror(L, 3, "%s buffer expected, got %s", format->dtype->name, b->dtype->name);
  if (b->count % channels != 0)
    clc_argerror(L, 3, "%I elements are no whole pixels of %d", (LUAI_UACINT)b->count,
                 (int)channels);
  if (b->offset * b->dtype->size % d->context->align != 0)
    clc_argerror(L, 3,
                 "the view starts %I bytes into its memory, no multiple of this device's %I "
                 "(d.align)",
                 (LUAI_UACINT)(b->offset * b->dtype->size), (LUAI_UACINT)d->context->align);
  check_extent(L, d, 3, k, 0, extent[0]);
  clc_checksupport(L, d, 2, format, k->type, k->name);
  clc_Image *im = push_image(L, d, k->type, format, 1, extent);
  clc_Buffer *view = im->view = clc_newview(L, clc_checkbuffer(L, 3), 0, &b->shape);
  lua_pushvalue(L, -1);
  clc_setvalue(L, -3, VIEW);
  clc_usedevice(L, d);
  im->region = (clc_Region){view->shared, view->allocated, view->offset * view->dtype->size,
                            view->count * view->dtype->size};
  cl_image_desc desc = get_layout(im).desc;
  desc.buffer = clc_subbuffer(L, view);
  im->mem = clCreateImage(d->context->cl, CL_MEM_READ_WRITE, &format->cl, &desc, NULL, &code);
  if (code != CL_SUCCESS) im->mem = NULL;
  if (code == CL_INVALID_MEM_OBJECT && view->offset > 0) /* as POCL says */
    luaL_argerror(L, 3,
                  view->zone > 0
                      ? "this device makes images of whole buffers, and check mode puts red "
                        "zones round this one"
                      : "this device makes images of whole buffers: copy the view");
  clc_check(L, code, "clCreateImage");
  lua_pop(L, 1);
}

static int device_image(lua_State *L) {
  clc_Device *d = clc_checkopen(L, 1);
  const clc_Format format = clc_checkformat(L, 2);
  clc_checkimages(L, d);
  if (lua_isuserdata(L, 3))
    new_on_buffer(L, d, &format);
  else
    new_plain(L, d, &format);
  return 1;
}

/* --- launches ---------------------------------------------------------- */

cl_int clc_setimage(clc_Device *d, cl_kernel kernel, cl_uint i, const clc_Image *im) {
  const clc_Layout layout = get_layout(im);
  return d->context->executor->set_image(d, kernel, i, im->mem, &layout);
}

void clc_holdimage(lua_State *L, clc_Recording *r, cl_uint argument, const clc_Image *im) {
  if (r == NULL) return;
  clc_holdobject(L, r, argument, im->mem, NULL);
  if (im->view != NULL) clc_holdbuffer(L, r, argument, im->view, im->view->mem);
}

/* --- fields ------------------------------------------------------------ */

/* Extent i, or nil. */
static void push_extent(lua_State *L, const clc_Image *im, int i, int exists) {
  if (exists)
    lua_pushinteger(L, (lua_Integer)im->extent[i]);
  else
    lua_pushnil(L);
}

static int image_field(lua_State *L) {
  const clc_Image *im = clc_checkimage(L, 1);
  const Kind *k = get_kind(im->type);
  const char *key = lua_tostring(L, 2);
  if (key == NULL) return 0;
  if (strcmp(key, "format") == 0)
    lua_pushfstring(L, "%s %s", im->format.order, im->format.type);
  else if (strcmp(key, "kind") == 0)
    lua_pushstring(L, k->name);
  else if (strcmp(key, "width") == 0)
    push_extent(L, im, 0, 1);
  else if (strcmp(key, "height") == 0)
    push_extent(L, im, 1, k->dims > 1);
  else if (strcmp(key, "depth") == 0)
    push_extent(L, im, 2, k->dims > 2);
  else if (strcmp(key, "layers") == 0)
    push_extent(L, im, k->dims, k->has_layers);
  else if (strcmp(key, "dtype") == 0)
    lua_pushstring(L, im->format.dtype->name);
  else if (strcmp(key, "shape") == 0)
    clc_pushextents(L, im->shape.n, im->shape.dim);
  else if (strcmp(key, "bytes") == 0)
    lua_pushinteger(L, (lua_Integer)(im->count * im->format.dtype->size));
  else if (strcmp(key, "device") == 0)
    clc_pushdevice(L, im->device);
  else
    return 0;
  return 1;
}

static int image_show(lua_State *L) {
  const clc_Image *im = clc_checkimage(L, 1);
  const Kind *k = get_kind(im->type);
  lua_pushfstring(L, "%s %s %s ", im->format.order, im->format.type, k->name);
  for (int i = 0; i < im->dims; i++) {
    lua_pushfstring(L, "%s%s%I", lua_tostring(L, -1), i > 0 ? "x" : "", (LUAI_UACINT)im->extent[i]);
    lua_replace(L, -2);
  }
  lua_pushliteral(L, " on ");
  clc_pushdevicetext(L, im->device->context->place.device, CL_DEVICE_NAME);
  lua_concat(L, 3);
  return 1;
}

void clc_openimages(lua_State *L) {
  static const clc_Function of_device[] = {{"image", device_image, CLC_ANY}, {NULL, NULL, 0}};
  static const clc_Function methods[] = {{NULL, NULL, 0}};
  static const luaL_Reg metamethods[] = {{NULL, NULL}};
  clc_opentype(L, &clc_imagetype, image_field,
               "format kind width height depth layers dtype shape bytes device", image_show,
               methods, metamethods);
  clc_addrelease(L, &clc_imagetype);
  clc_addmethods(L, &clc_devicetype, of_device);
  clc_openpixels(L);
  clc_opensamplers(L);
}
