/* SPDX-License-Identifier: MIT */
/* Platforms: what OpenCL finds on this machine, and selectors that choose from it. */
#include "platform.h"

#include <CL/cl_ext.h> /* CL_PLATFORM_ICD_SUFFIX_KHR */
#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base.h"

#define NO_PLATFORM (-1001) /* CL_PLATFORM_NOT_FOUND_KHR: the loader knows no driver */

/* POCL 3.1 finds its devices at the first call, and tells other threads meanwhile that it has none:
   so one thread at a time. Nothing raises in between. POCL's own threads, which begin then, compile
   kernels at their first launch. */
static pthread_mutex_t discovery = PTHREAD_MUTEX_INITIALIZER;

static int enter_discovery(void) {
  const int was_held = clc_holdinterrupt();
  pthread_mutex_lock(&discovery);
  return was_held;
}

static void leave_discovery(int was_held) {
  pthread_mutex_unlock(&discovery);
  clc_letinterrupt(was_held);
}

static cl_int get_platforms(cl_uint room, cl_platform_id *ids, cl_uint *n) {
  const int was_held = enter_discovery();
  const cl_int code = clGetPlatformIDs(room, ids, n);
  leave_discovery(was_held);
  return code;
}

static cl_int get_devices(cl_platform_id platform, cl_uint room, cl_device_id *ids, cl_uint *n) {
  const int was_held = enter_discovery();
  const cl_int code = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, room, ids, n);
  leave_discovery(was_held);
  return code;
}

const cl_platform_id *clc_pushplatforms(lua_State *L, cl_uint *n) {
  clc_checkfork(L);
  cl_int code = get_platforms(0, NULL, n);
  if (code == NO_PLATFORM) *n = 0;
  if (code != NO_PLATFORM) clc_check(L, code, "clGetPlatformIDs");
  cl_platform_id *ids = lua_newuserdatauv(L, (*n + 1) * sizeof *ids, 0);
  if (*n > 0) clc_check(L, get_platforms(*n, ids, NULL), "clGetPlatformIDs");
  return ids;
}

static cl_uint count_devices(cl_platform_id platform, int p, clc_Mute *mute) {
  cl_uint n = 0;
  const cl_int code = get_devices(platform, 0, NULL, &n);
  if (code == CL_SUCCESS) return n;
  if (code != CL_DEVICE_NOT_FOUND && mute->code == CL_SUCCESS) *mute = (clc_Mute){p, code};
  return 0;
}

static cl_device_id find_serial(lua_State *L, const cl_device_id *ids, cl_uint n) {
  for (cl_uint d = 0; d < n; d++)
    if (clc_isserial(L, ids[d])) return ids[d];
  return NULL;
}

/* Appends the devices of one platform to `places`. */
static size_t add_places(lua_State *L, clc_Place *places, cl_platform_id platform, int p,
                         cl_uint n) {
  if (n == 0) return 0;
  cl_device_id *ids = lua_newuserdatauv(L, n * sizeof *ids, 0);
  clc_check(L, get_devices(platform, n, ids, NULL), "clGetDeviceIDs");
  const cl_device_id serial = n == 2 ? find_serial(L, ids, n) : NULL;
  size_t added = 0;
  for (cl_uint d = 0; d < n; d++) {
    if (ids[d] == serial) continue;
    places[added] = (clc_Place){.platform = platform,
                                .device = ids[d],
                                .p = p,
                                .d = (int)added,
                                .whole = ids[d],
                                .serial = serial};
    added++;
  }
  lua_pop(L, 1);
  return added;
}

const clc_Place *clc_pushplaces(lua_State *L, int p, size_t *n, clc_Mute *mute) {
  cl_uint platforms;
  const cl_platform_id *ids = clc_pushplatforms(L, &platforms);
  cl_uint *counts = lua_newuserdatauv(L, (platforms + 1) * sizeof *counts, 0);
  size_t total = 0;
  *mute = (clc_Mute){0, CL_SUCCESS};
  for (cl_uint i = 0; i < platforms; i++) {
    counts[i] = p < 0 || p == (int)i ? count_devices(ids[i], (int)i, mute) : 0;
    total += counts[i];
  }
  clc_Place *places = lua_newuserdatauv(L, (total + 1) * sizeof *places, 0);
  *n = 0;
  for (cl_uint i = 0; i < platforms; i++)
    *n += add_places(L, places + *n, ids[i], (int)i, counts[i]);
  lua_replace(L, -3); /* drop the ids and the counts */
  lua_pop(L, 1);
  return places;
}

const char *clc_pushplacename(lua_State *L, const clc_Place *place) {
  return lua_pushfstring(L, "%d:%d%s%s", place->p, place->d, *place->part != '\0' ? " " : "",
                         place->part);
}

void clc_raisemute(lua_State *L, const clc_Mute *mute) {
  clc_raise(L, mute->code, "clGetDeviceIDs", "platform %d does not tell its devices", mute->p);
}

/* --- selectors --------------------------------------------------------- */

static void push_lower(lua_State *L, const char *s) {
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  for (; *s != '\0'; s++) luaL_addchar(&b, (char)tolower((unsigned char)*s));
  luaL_pushresult(&b);
}

/* Pushes "platform/device". */
static const char *push_label(lua_State *L, const clc_Place *place) {
  clc_pushplatformtext(L, place->platform, CL_PLATFORM_NAME);
  lua_pushliteral(L, "/");
  clc_pushdevicetext(L, place->device, CL_DEVICE_NAME);
  lua_concat(L, 3);
  return lua_tostring(L, -1);
}

static cl_ulong type_bit(const char *selector) {
  if (strcmp(selector, "gpu") == 0) return CL_DEVICE_TYPE_GPU;
  if (strcmp(selector, "accelerator") == 0) return CL_DEVICE_TYPE_ACCELERATOR;
  if (strcmp(selector, "cpu") == 0) return CL_DEVICE_TYPE_CPU;
  return 0;
}

/* In order of preference. A device of several types (Oclgrind claims all) is the
   first of them, as its field `type` says. */
static const cl_ulong types[] = {CL_DEVICE_TYPE_GPU, CL_DEVICE_TYPE_ACCELERATOR,
                                 CL_DEVICE_TYPE_CPU};
enum { NTYPES = sizeof types / sizeof *types };

static int rank(lua_State *L, const clc_Place *place) {
  const cl_ulong bits = clc_checkdevicenumber(L, place->device, CL_DEVICE_TYPE);
  int i = 0;
  while (i < NTYPES && (bits & types[i]) == 0) i++;
  return i;
}

static int has_type(lua_State *L, const clc_Place *place, cl_ulong bit) {
  const int i = rank(L, place);
  return i < NTYPES && types[i] == bit;
}

static int is_number_pair(const char *selector, int *p, int *d) {
  int end = 0;
  return sscanf(selector, "%9d:%9d%n", p, d, &end) == 2 && selector[end] == '\0';
}

/* Pushes the short name that the loader knows the platform by, "pocl" for one; empty where it
   knows none. */
static const char *push_suffix(lua_State *L, const clc_Place *place) {
  char suffix[32] = "";
  clGetPlatformInfo(place->platform, CL_PLATFORM_ICD_SUFFIX_KHR, sizeof suffix - 1, suffix, NULL);
  push_lower(L, suffix);
  return lua_tostring(L, -1);
}

int clc_selects(lua_State *L, const clc_Place *place, const char *selector) {
  const int top = lua_gettop(L);
  int p, d, found;
  if (selector == NULL) return 1;
  push_lower(L, selector);
  const char *wanted = lua_tostring(L, -1);
  if (type_bit(wanted) != 0) {
    found = has_type(L, place, type_bit(wanted));
  } else if (is_number_pair(wanted, &p, &d)) {
    found = place->p == p && place->d == d;
  } else {
    push_lower(L, push_label(L, place));
    found =
        strstr(lua_tostring(L, -1), wanted) != NULL || strcmp(push_suffix(L, place), wanted) == 0;
  }
  lua_settop(L, top);
  return found;
}

static void raise_none(lua_State *L, const clc_Place *places, size_t n, const char *selector,
                       const char *origin, const clc_Mute *mute) {
  if (n == 0 && mute->code != CL_SUCCESS) clc_raisemute(L, mute);
  if (n == 0) {
    const char *complaint = clc_pushpoclcomplaint(L);
    luaL_error(L,
               "no OpenCL device on this machine: install the driver of your GPU, or for the "
               "CPU on Debian and Ubuntu `apt install pocl-opencl-icd`; `clcompute doctor` "
               "says what is wrong%s%s",
               complaint != NULL ? ". Where POCL is: " : "", complaint != NULL ? complaint : "");
  }
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  lua_pushfstring(L, "no OpenCL device matches '%s'%s; there are:", selector, origin);
  luaL_addvalue(&b);
  for (size_t i = 0; i < n; i++) {
    lua_pushfstring(L, "\n  %d:%d ", places[i].p, places[i].d);
    luaL_addvalue(&b);
    push_label(L, &places[i]);
    luaL_addvalue(&b);
  }
  if (mute->code != CL_SUCCESS) {
    lua_pushfstring(L, "\n  %d: unknown, clGetDeviceIDs: %s (%d)", mute->p,
                    clc_codename(mute->code), (int)mute->code);
    luaL_addvalue(&b);
  }
  luaL_addstring(
      &b, "\na selector is a place (0:1), a type (cpu, gpu, accelerator) or a part of a name");
  luaL_pushresult(&b);
  luaL_error(L, "%s", lua_tostring(L, -1));
}

clc_Place clc_bestplace(lua_State *L, const char *selector, const char *origin) {
  size_t n;
  clc_Mute mute;
  const clc_Place *places = clc_pushplaces(L, -1, &n, &mute);
  const clc_Place *best = NULL;
  for (size_t i = 0; i < n; i++)
    if (clc_selects(L, &places[i], selector) &&
        (best == NULL || rank(L, &places[i]) < rank(L, best)))
      best = &places[i];
  if (best == NULL) raise_none(L, places, n, selector == NULL ? "" : selector, origin, &mute);
  clc_Place place = *best;
  lua_pop(L, 1);
  return place;
}
