/* SPDX-License-Identifier: MIT */
/* Formats: OpenCL's channel orders and channel types as rows of tables. */
#include "image.h"

#include <string.h>

typedef struct {
  const char *name;
  cl_channel_order cl;
  int channels;
} Order;

static const Order orders[] = {{"r", CL_R, 1},
                               {"a", CL_A, 1},
                               {"rg", CL_RG, 2},
                               {"ra", CL_RA, 2},
                               {"rgb", CL_RGB, 3},
                               {"rgba", CL_RGBA, 4},
                               {"bgra", CL_BGRA, 4},
                               {"argb", CL_ARGB, 4},
                               {"abgr", CL_ABGR, 4},
                               {"intensity", CL_INTENSITY, 1},
                               {"luminance", CL_LUMINANCE, 1},
                               {"srgba", CL_sRGBA, 4},
                               {"sbgra", CL_sBGRA, 4}};
#define NORDERS (sizeof orders / sizeof *orders)

typedef struct {
  const char *name;
  cl_channel_type cl;
  const char *dtype, *colour;
  int is_packed; /* an element holds all channels */
} Type;

static const Type types[] = {{"snorm8", CL_SNORM_INT8, "char", "float", 0},
                             {"snorm16", CL_SNORM_INT16, "short", "float", 0},
                             {"unorm8", CL_UNORM_INT8, "uchar", "float", 0},
                             {"unorm16", CL_UNORM_INT16, "ushort", "float", 0},
                             {"unorm565", CL_UNORM_SHORT_565, "ushort", "float", 1},
                             {"unorm555", CL_UNORM_SHORT_555, "ushort", "float", 1},
                             {"unorm101010", CL_UNORM_INT_101010, "uint", "float", 1},
                             {"char", CL_SIGNED_INT8, "char", "int", 0},
                             {"short", CL_SIGNED_INT16, "short", "int", 0},
                             {"int", CL_SIGNED_INT32, "int", "int", 0},
                             {"uchar", CL_UNSIGNED_INT8, "uchar", "uint", 0},
                             {"ushort", CL_UNSIGNED_INT16, "ushort", "uint", 0},
                             {"uint", CL_UNSIGNED_INT32, "uint", "uint", 0},
                             {"half", CL_HALF_FLOAT, "half", "float", 0},
                             {"float", CL_FLOAT, "float", "float", 0}};
#define NTYPES (sizeof types / sizeof *types)

/* Whether `length` characters are that name. */
static int is_name(const char *text, size_t length, const char *name) {
  return strlen(name) == length && memcmp(text, name, length) == 0;
}

static const clc_Dtype *get_dtype(const char *name) {
  return clc_finddtype(name, strlen(name));
}

static clc_Format make_format(const Order *o, const Type *t) {
  return (clc_Format){
      {o->cl, t->cl},      o->name, t->name, t->is_packed ? 1 : o->channels, get_dtype(t->dtype),
      get_dtype(t->colour)};
}

static void raise_names(lua_State *L, int arg, const char *text) {
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  lua_pushfstring(
      L, "no format '%s'; a format is an order and a type, \"rgba unorm8\"; orders:", text);
  luaL_addvalue(&b);
  for (size_t i = 0; i < NORDERS; i++) {
    luaL_addchar(&b, ' ');
    luaL_addstring(&b, orders[i].name);
  }
  luaL_addstring(&b, "; types:");
  for (size_t i = 0; i < NTYPES; i++) {
    luaL_addchar(&b, ' ');
    luaL_addstring(&b, types[i].name);
  }
  luaL_pushresult(&b);
  luaL_argerror(L, arg, lua_tostring(L, -1));
}

clc_Format clc_checkformat(lua_State *L, int arg) {
  const char *text = luaL_checkstring(L, arg);
  const size_t length = strcspn(text, " ");
  const char *type = text + length + (text[length] == ' ');
  const Order *o = NULL;
  const Type *t = NULL;
  for (size_t i = 0; i < NORDERS; i++)
    if (is_name(text, length, orders[i].name)) o = &orders[i];
  for (size_t i = 0; i < NTYPES; i++)
    if (is_name(type, strlen(type), types[i].name)) t = &types[i];
  if (o == NULL || t == NULL) raise_names(L, arg, text);
  return make_format(o, t);
}

/* --- what a device has ----------------------------------------------------- */

static int has_format(const cl_image_format *all, cl_uint n, cl_channel_order order,
                      cl_channel_type type) {
  for (cl_uint i = 0; i < n; i++)
    if (all[i].image_channel_order == order && all[i].image_channel_data_type == type) return 1;
  return 0;
}

/* Adds " rgba snorm8|unorm8" for each order that the device has. */
static void add_formats(luaL_Buffer *b, const cl_image_format *all, cl_uint n) {
  for (size_t o = 0; o < NORDERS; o++) {
    int found = 0;
    for (size_t t = 0; t < NTYPES; t++) {
      if (!has_format(all, n, orders[o].cl, types[t].cl)) continue;
      luaL_addstring(b, found ? "|" : "\n  ");
      if (!found) luaL_addstring(b, orders[o].name);
      if (!found) luaL_addchar(b, ' ');
      luaL_addstring(b, types[t].name);
      found = 1;
    }
  }
}

/* POCL 3.1 says that it has images of single halves, and its kernels take other bytes for them. */
static void check_halves(lua_State *L, clc_Device *d, int arg, const clc_Format *format) {
  if (format->cl.image_channel_data_type == CL_HALF_FLOAT && format->channels == 1 &&
      clc_askofdevice(L, d, "misreads_halves"))
    clc_argerror(L, arg,
                 "this device's kernels get '%s half' wrong: take 'rgba half' or '%s float'",
                 format->order, format->order);
}

void clc_checksupport(lua_State *L, clc_Device *d, int arg, const clc_Format *format,
                      cl_mem_object_type type, const char *kind) {
  cl_uint n = 0;
  cl_int code = clGetSupportedImageFormats(d->context->cl, CL_MEM_READ_WRITE, type, 0, NULL, &n);
  clc_check(L, code, "clGetSupportedImageFormats");
  cl_image_format *all = lua_newuserdatauv(L, (n + 1) * sizeof *all, 0);
  clc_usedevice(L, d); /* a finalizer may have closed it */
  code = clGetSupportedImageFormats(d->context->cl, CL_MEM_READ_WRITE, type, n, all, NULL);
  clc_check(L, code, "clGetSupportedImageFormats");
  if (!has_format(all, n, format->cl.image_channel_order, format->cl.image_channel_data_type)) {
    luaL_Buffer b;
    luaL_buffinit(L, &b);
    lua_pushfstring(L, "this device has no %s of '%s %s'; it has", kind, format->order,
                    format->type);
    luaL_addvalue(&b);
    add_formats(&b, all, n);
    luaL_pushresult(&b);
    luaL_argerror(L, arg, lua_tostring(L, -1));
  }
  lua_pop(L, 1);
  check_halves(L, d, arg, format);
}
