/* SPDX-License-Identifier: MIT */
/* Properties of platforms and devices, as rows of a table. */
#include "platform.h"

#include <CL/cl_ext.h> /* CL_DEVICE_HALF_FP_CONFIG */
#include <stdio.h>
#include <string.h>

/* How a property reads. */
typedef enum {
  TEXT,
  NUMBER,
  FLAG,
  KIND,
  SIZES,
  MULTIPLE,
  NONUNIFORM,
  LOCALITY,
  ROUNDED,
  CAPABILITY
} Reader;

typedef struct {
  const char *name;
  cl_device_info what;
  Reader reader;
  int since; /* version that brought it */
} Property;

/* clang-format off */
static const Property properties[] = {
    {"name", CL_DEVICE_NAME, TEXT, 100},
    {"vendor", CL_DEVICE_VENDOR, TEXT, 100},
    {"type", CL_DEVICE_TYPE, KIND, 100},
    {"version", CL_DEVICE_VERSION, TEXT, 100},
    {"c_version", CL_DEVICE_OPENCL_C_VERSION, TEXT, 101},
    {"driver", CL_DRIVER_VERSION, TEXT, 100},
    {"il_version", CL_DEVICE_IL_VERSION, TEXT, 201},
    {"extensions", CL_DEVICE_EXTENSIONS, TEXT, 100},
    {"compute_units", CL_DEVICE_MAX_COMPUTE_UNITS, NUMBER, 100},
    {"clock_mhz", CL_DEVICE_MAX_CLOCK_FREQUENCY, NUMBER, 100},
    {"global_memory", CL_DEVICE_GLOBAL_MEM_SIZE, NUMBER, 100},
    {"max_allocation", CL_DEVICE_MAX_MEM_ALLOC_SIZE, NUMBER, 100},
    {"cache", CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, NUMBER, 100},
    {"cache_line", CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE, NUMBER, 100},
    {"local_memory", CL_DEVICE_LOCAL_MEM_SIZE, NUMBER, 100},
    {"local_memory_type", CL_DEVICE_LOCAL_MEM_TYPE, LOCALITY, 100},
    {"constant_memory", CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE, NUMBER, 100},
    {"max_group_size", CL_DEVICE_MAX_WORK_GROUP_SIZE, NUMBER, 100},
    {"max_group_sizes", CL_DEVICE_MAX_WORK_ITEM_SIZES, SIZES, 100},
    {"group_multiple", CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, MULTIPLE, 100},
    {"address_bits", CL_DEVICE_ADDRESS_BITS, NUMBER, 100},
    {"vector_width_float", CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, NUMBER, 101},
    {"vector_width_double", CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE, NUMBER, 101},
    {"timer_resolution_ns", CL_DEVICE_PROFILING_TIMER_RESOLUTION, NUMBER, 100},
    {"unified_memory", CL_DEVICE_HOST_UNIFIED_MEMORY, FLAG, 101},
    {"has_compiler", CL_DEVICE_COMPILER_AVAILABLE, FLAG, 100},
    {"has_double", CL_DEVICE_DOUBLE_FP_CONFIG, FLAG, 100},
    {"has_nonuniform_groups", CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT, NONUNIFORM, 100},
    {"has_half", CL_DEVICE_HALF_FP_CONFIG, FLAG, 100},
    {"has_images", CL_DEVICE_IMAGE_SUPPORT, FLAG, 100},
    {"max_image_width", CL_DEVICE_IMAGE2D_MAX_WIDTH, NUMBER, 100},
    {"max_image_height", CL_DEVICE_IMAGE2D_MAX_HEIGHT, NUMBER, 100},
    {"max_image3d_width", CL_DEVICE_IMAGE3D_MAX_WIDTH, NUMBER, 100},
    {"max_image3d_height", CL_DEVICE_IMAGE3D_MAX_HEIGHT, NUMBER, 100},
    {"max_image3d_depth", CL_DEVICE_IMAGE3D_MAX_DEPTH, NUMBER, 100},
    {"max_image_layers", CL_DEVICE_IMAGE_MAX_ARRAY_SIZE, NUMBER, 102},
    {"max_image_buffer", CL_DEVICE_IMAGE_MAX_BUFFER_SIZE, NUMBER, 102},
    {"max_read_images", CL_DEVICE_MAX_READ_IMAGE_ARGS, NUMBER, 100},
    {"max_write_images", CL_DEVICE_MAX_WRITE_IMAGE_ARGS, NUMBER, 100},
    {"max_samplers", CL_DEVICE_MAX_SAMPLERS, NUMBER, 100},
    {"has_correct_division", CL_DEVICE_SINGLE_FP_CONFIG, ROUNDED, 102},
    {"compute_capability", 0x4000 /* CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV */, CAPABILITY, 100},
};
/* clang-format on */
#define NPROPERTIES (sizeof properties / sizeof *properties)

/* The call of clGet*Info, for either kind of object. */
typedef struct {
  cl_platform_id platform;
  cl_device_id device;
} Subject;

static cl_int ask(Subject s, cl_uint what, size_t size, void *value, size_t *needed) {
  return s.device != NULL ? clGetDeviceInfo(s.device, what, size, value, needed)
                          : clGetPlatformInfo(s.platform, what, size, value, needed);
}

static const char *push_text(lua_State *L, Subject s, cl_uint what) {
  const char *call = s.device != NULL ? "clGetDeviceInfo" : "clGetPlatformInfo";
  size_t size = 0;
  luaL_Buffer b;
  clc_check(L, ask(s, what, 0, NULL, &size), call);
  char *text = luaL_buffinitsize(L, &b, size + 1);
  text[0] = '\0';
  cl_int code = ask(s, what, size, text, NULL);
  clc_check(L, code, call);
  text[size] = '\0';
  /* Names come padded with blanks from some vendors. */
  const size_t indent = strspn(text, " ");
  size_t length = strlen(text);
  while (length > indent && text[length - 1] == ' ') length--;
  memmove(text, text + indent, length - indent);
  luaL_pushresultsize(&b, length - indent);
  return lua_tostring(L, -1);
}

const char *clc_pushplatformtext(lua_State *L, cl_platform_id platform, cl_platform_info what) {
  return push_text(L, (Subject){platform, NULL}, what);
}

const char *clc_pushdevicetext(lua_State *L, cl_device_id id, cl_device_info what) {
  return push_text(L, (Subject){NULL, id}, what);
}

/* Integers come in 4 or 8 bytes; the device says which. */
static cl_int get_number(cl_device_id id, cl_device_info what, cl_ulong *n) {
  union {
    cl_uint small;
    cl_ulong large;
  } value = {0};
  size_t size = 0;
  const cl_int code = clGetDeviceInfo(id, what, sizeof value, &value, &size);
  *n = size == sizeof value.small ? value.small : value.large;
  return code;
}

cl_ulong clc_checkdevicenumber(lua_State *L, cl_device_id id, cl_device_info what) {
  cl_ulong n;
  clc_check(L, get_number(id, what, &n), "clGetDeviceInfo");
  return n;
}

cl_ulong clc_optdevicenumber(lua_State *L, cl_device_id id, cl_device_info what, cl_ulong def) {
  cl_ulong n;
  const cl_int code = get_number(id, what, &n);
  if (code == CL_INVALID_VALUE) return def;
  clc_check(L, code, "clGetDeviceInfo");
  return n;
}

static void push_sizes(lua_State *L, cl_device_id id, cl_device_info what) {
  size_t sizes[8] = {0};
  size_t bytes = 0;
  clc_check(L, clGetDeviceInfo(id, what, sizeof sizes, sizes, &bytes), "clGetDeviceInfo");
  lua_newtable(L);
  for (size_t i = 0; i < bytes / sizeof *sizes; i++) {
    lua_pushinteger(L, (lua_Integer)sizes[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
}

static const char *kind_name(cl_ulong type) {
  if (type & CL_DEVICE_TYPE_GPU) return "gpu";
  if (type & CL_DEVICE_TYPE_ACCELERATOR) return "accelerator";
  if (type & CL_DEVICE_TYPE_CPU) return "cpu";
  return "custom";
}

/* Where local memory is: memory of its own, or a piece of the global one. */
static const char *locality_name(cl_ulong type) {
  return type == CL_LOCAL ? "local" : type == CL_GLOBAL ? "global" : "none";
}

/* Before OpenCL 3.0 only vendors' queries tell the width of a warp or wavefront. */
static cl_ulong group_multiple(lua_State *L, cl_device_id id, cl_device_info what, int version) {
  enum { WARP_SIZE_NV = 0x4003, WAVEFRONT_WIDTH_AMD = 0x4043 };
  if (version >= 300) return clc_optdevicenumber(L, id, what, 1);
  return clc_optdevicenumber(L, id, WARP_SIZE_NV,
                             clc_optdevicenumber(L, id, WAVEFRONT_WIDTH_AMD, 1));
}

/* OpenCL 2 has them always, 3.0 tells. Below nobody may ask: Oclgrind (1.2) answers 1 and then
   fails. */
int clc_hasnonuniformgroups(lua_State *L, cl_device_id id, int version) {
  if (version < 300) return version >= 200;
  return clc_optdevicenumber(L, id, CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT, 0) != 0;
}

/* Of NVIDIA's devices 10 * major + minor; else nil. */
static void push_capability(lua_State *L, cl_device_id id, cl_device_info major) {
  const cl_ulong n = clc_optdevicenumber(L, id, major, 0);
  if (n == 0)
    lua_pushnil(L);
  else
    lua_pushinteger(L, (lua_Integer)(10 * n + clc_optdevicenumber(L, id, major + 1, 0)));
}

static void push_property(lua_State *L, cl_device_id id, int version, const Property *p) {
  const cl_device_info what = p->what;
  switch (p->reader) {
    case TEXT: clc_pushdevicetext(L, id, what); break;
    case NUMBER: lua_pushinteger(L, (lua_Integer)clc_checkdevicenumber(L, id, what)); break;
    case FLAG: lua_pushboolean(L, clc_optdevicenumber(L, id, what, 0) != 0); break;
    case KIND: lua_pushstring(L, kind_name(clc_checkdevicenumber(L, id, what))); break;
    case SIZES: push_sizes(L, id, what); break;
    case MULTIPLE: lua_pushinteger(L, (lua_Integer)group_multiple(L, id, what, version)); break;
    case NONUNIFORM: lua_pushboolean(L, clc_hasnonuniformgroups(L, id, version)); break;
    case ROUNDED:
      lua_pushboolean(
          L, (clc_optdevicenumber(L, id, what, 0) & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0);
      break;
    case CAPABILITY: push_capability(L, id, what); break;
    case LOCALITY: lua_pushstring(L, locality_name(clc_checkdevicenumber(L, id, what))); break;
  }
}

int clc_pushproperty(lua_State *L, cl_device_id id, int version, const char *name) {
  for (size_t i = 0; i < NPROPERTIES; i++)
    if (strcmp(properties[i].name, name) == 0 && version >= properties[i].since) {
      push_property(L, id, version, &properties[i]);
      return 1;
    }
  return 0;
}

const char *clc_pushpropertynames(lua_State *L) {
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  for (size_t i = 0; i < NPROPERTIES; i++) {
    if (i > 0) luaL_addchar(&b, ' ');
    luaL_addstring(&b, properties[i].name);
  }
  luaL_pushresult(&b);
  return lua_tostring(L, -1);
}

void clc_pushproperties(lua_State *L, cl_device_id id, int version) {
  lua_createtable(L, 0, NPROPERTIES);
  for (size_t i = 0; i < NPROPERTIES; i++)
    if (version >= properties[i].since) {
      push_property(L, id, version, &properties[i]);
      lua_setfield(L, -2, properties[i].name);
    }
}

int clc_parseversion(const char *text) {
  int major, minor;
  return sscanf(text, "OpenCL %d.%d", &major, &minor) == 2 ? 100 * major + minor : 0;
}
