/* SPDX-License-Identifier: MIT */
/* Binaries: built programs out of the cache and into it. */
#include "build.h"

#include <string.h>

#include "files/files.h"

/* Oclgrind shows the source line of each fault it finds, which a binary has lost;
   it has no compiler worth sparing. */
static int is_kept(lua_State *L, const clc_Device *d) {
  const int top = lua_gettop(L);
  const int kept = clc_pushcachefolder(L) != NULL &&
                   strcmp(clc_pushplatformtext(L, d->context->place.platform, CL_PLATFORM_NAME),
                          "Oclgrind") != 0;
  lua_settop(L, top);
  return kept;
}

const char *clc_pushidentity(lua_State *L, const clc_Device *d) {
  static const cl_platform_info of_platform[] = {CL_PLATFORM_NAME, CL_PLATFORM_VERSION};
  static const cl_device_info of_device[] = {CL_DEVICE_NAME, CL_DEVICE_VENDOR, CL_DEVICE_VERSION,
                                             CL_DRIVER_VERSION};
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  for (size_t i = 0; i < sizeof of_platform / sizeof *of_platform; i++) {
    clc_pushplatformtext(L, d->context->place.platform, of_platform[i]);
    luaL_addvalue(&b);
    luaL_addchar(&b, '\n');
  }
  for (size_t i = 0; i < sizeof of_device / sizeof *of_device; i++) {
    clc_pushdevicetext(L, d->context->place.device, of_device[i]);
    luaL_addvalue(&b);
    luaL_addchar(&b, '\n');
  }
  luaL_pushresult(&b);
  return lua_tostring(L, -1);
}

int clc_pushkey(lua_State *L, const clc_Device *d, const char *text, const char *options) {
  if (!is_kept(L, d)) return 0;
  lua_pushfstring(L, "clcompute %d\n%s%s\n%s", CLC_CACHE_VERSION, clc_pushidentity(L, d), options,
                  text);
  lua_remove(L, -2);
  return 1;
}

/* --- loading ----------------------------------------------------------- */

static void drop(cl_program *program) {
  if (*program != NULL) clReleaseProgram(*program);
  *program = NULL;
}

void clc_buildbinary(const clc_Device *d, const char *binary, size_t size, const char *options,
                     cl_program *program) {
  const unsigned char *bytes = (const unsigned char *)binary;
  const cl_device_id *id = &d->context->place.device;
  cl_int code, status = CL_SUCCESS;
  *program = clCreateProgramWithBinary(d->context->cl, 1, id, &size, &bytes, &status, &code);
  if (code != CL_SUCCESS) *program = NULL;
  if (code == CL_SUCCESS && status == CL_SUCCESS)
    code = clBuildProgram(*program, 1, id, options, NULL, NULL);
  if (code != CL_SUCCESS || status != CL_SUCCESS) drop(program);
}

int clc_loadbinary(lua_State *L, const clc_Device *d, int key, const char *options,
                   cl_program *program) {
  if (!clc_loadcache(L, key)) return 0;
  const char *declarations = lua_tostring(L, -2), *binary = lua_tostring(L, -1);
  clc_buildbinary(d, binary, lua_rawlen(L, -1), options, program);
  if (*program != NULL) {
    const int top = lua_gettop(L);
    const char *names = clc_testkernelnames(L, program);
    if (names == NULL || !clc_declares(declarations, names)) drop(program);
    lua_settop(L, top);
  }
  lua_pop(L, *program != NULL ? 1 : 2);
  return *program != NULL;
}

/* --- storing ----------------------------------------------------------- */

int clc_pushbinary(lua_State *L, const cl_program *program) {
  size_t size = 0;
  luaL_Buffer b;
  if (*program == NULL) return 0;
  cl_int code = clGetProgramInfo(*program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL);
  if (code != CL_SUCCESS || size == 0) return 0;
  char *bytes = luaL_buffinitsize(L, &b, size);
  if (*program == NULL) luaL_error(L, "program is released");
  code = clGetProgramInfo(*program, CL_PROGRAM_BINARIES, sizeof bytes, &bytes, NULL);
  luaL_pushresultsize(&b, code == CL_SUCCESS ? size : 0);
  if (code != CL_SUCCESS) lua_pop(L, 1);
  return code == CL_SUCCESS;
}

void clc_storebinary(lua_State *L, int key, const cl_program *program) {
  const int top = lua_gettop(L);
  const char *names = clc_testkernelnames(L, program);
  if (names != NULL && *names != '\0' && clc_pushdeclarations(L, program, names) != NULL &&
      clc_pushbinary(L, program))
    clc_storecache(L, key, lua_gettop(L) - 1, lua_gettop(L));
  lua_settop(L, top);
}
