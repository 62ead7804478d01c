/* SPDX-License-Identifier: MIT */
/* Samplers: how a kernel reads an image between its pixels and beyond its edges. */
#include "image.h"

#include <string.h>

static const char *const filters[] = {"nearest", "linear", NULL};
static const cl_filter_mode filter_modes[] = {CL_FILTER_NEAREST, CL_FILTER_LINEAR};

enum { REPEAT = 3 }; /* it and what follows need normalized coordinates */
static const char *const addresses[] = {"none",   "clamp",           "clamp_to_edge",
                                        "repeat", "mirrored_repeat", NULL};
static const cl_addressing_mode address_modes[] = {CL_ADDRESS_NONE, CL_ADDRESS_CLAMP,
                                                   CL_ADDRESS_CLAMP_TO_EDGE, CL_ADDRESS_REPEAT,
                                                   CL_ADDRESS_MIRRORED_REPEAT};

static void sampler_release(clc_Handle *h) {
  clc_Sampler *s = (clc_Sampler *)h;
  if (s->sampler != NULL) clReleaseSampler(s->sampler);
  s->sampler = NULL;
}

const clc_Type clc_samplertype = {
    "sampler", "clcompute.Sampler", sizeof(clc_Sampler), sampler_release, 0, NULL};

static int device_sampler(lua_State *L) {
  static const char *const keys[] = {"filter", "address", "normalized", NULL};
  clc_Device *d = clc_checkopen(L, 1);
  cl_int code;
  clc_checkoptions(L, 2, keys);
  const int filter = clc_enumoption(L, 2, "filter", filters, 0);
  const int address = clc_enumoption(L, 2, "address", addresses, 2);
  const int normalized = clc_booleanoption(L, 2, "normalized", 0);
  if (address >= REPEAT && !normalized)
    clc_optionerror(L, 2, "address", "'%s' needs normalized = true", addresses[address]);
  clc_checkimages(L, d);
  clc_Sampler *s = clc_newowned(L, &clc_samplertype, d, 0);
  s->device = d;
  s->filter = filter;
  s->address = address;
  s->normalized = normalized;
  /* Every version has this call. */
  s->sampler = clCreateSampler(d->context->cl, (cl_bool)normalized, address_modes[address],
                               filter_modes[filter], &code);
  if (code != CL_SUCCESS) s->sampler = NULL;
  clc_check(L, code, "clCreateSampler");
  return 1;
}

cl_int clc_setsampler(clc_Device *d, cl_kernel kernel, cl_uint i, const clc_Sampler *s) {
  const clc_Sampling sampling = {(cl_bool)s->normalized, address_modes[s->address],
                                 filter_modes[s->filter]};
  return d->context->executor->set_sampler(d, kernel, i, s->sampler, &sampling);
}

static int sampler_field(lua_State *L) {
  const clc_Sampler *s = clc_checkhandle(L, 1, &clc_samplertype);
  const char *key = lua_tostring(L, 2);
  if (key == NULL) return 0;
  if (strcmp(key, "filter") == 0)
    lua_pushstring(L, filters[s->filter]);
  else if (strcmp(key, "address") == 0)
    lua_pushstring(L, addresses[s->address]);
  else if (strcmp(key, "normalized") == 0)
    lua_pushboolean(L, s->normalized);
  else if (strcmp(key, "device") == 0)
    clc_pushdevice(L, s->device);
  else
    return 0;
  return 1;
}

static int sampler_show(lua_State *L) {
  const clc_Sampler *s = clc_checkhandle(L, 1, &clc_samplertype);
  lua_pushfstring(L, "%s sampler, %s, %s coordinates", filters[s->filter], addresses[s->address],
                  s->normalized ? "normalized" : "pixel");
  return 1;
}

void clc_opensamplers(lua_State *L) {
  static const clc_Function of_device[] = {{"sampler", device_sampler, 1}, {NULL, NULL, 0}};
  static const clc_Function methods[] = {{NULL, NULL, 0}};
  static const luaL_Reg metamethods[] = {{NULL, NULL}};
  clc_opentype(L, &clc_samplertype, sampler_field, "filter address normalized device", sampler_show,
               methods, metamethods);
  clc_addrelease(L, &clc_samplertype);
  clc_addmethods(L, &clc_devicetype, of_device);
}
