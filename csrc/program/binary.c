/* SPDX-License-Identifier: MIT */
/* Binaries: built programs out of the cache and into it. */
#include "build.h"

#include <stdlib.h>
#include <string.h>

#include "files/files.h"

/* Oclgrind shows the source line of each fault it finds, which a binary has lost;
   it has no compiler worth sparing. */
static int is_kept(lua_State *L, const clc_Device *d) {
  const int top = lua_gettop(L);
  const int kept = clc_pushcachefolders(L) > 0 &&
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

/*
 * The key of the cache, as text: "clcompute", CLC_CACHE_VERSION; the identity (clc_pushidentity);
 * the options of the compiler; and what push_key in build.c joins: the texts of the included files,
 * the defines, the #line with the source's name, the text.
 */
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

/* Builds the program of binaries for n devices, or returns NULL. */
static cl_program build_binaries(cl_context context, cl_uint n, const cl_device_id *ids,
                                 const char *const *binaries, size_t size, const char *options) {
  const size_t sizes[] = {size, size};
  cl_int code, status[2] = {CL_SUCCESS, CL_SUCCESS};
  cl_program program = clCreateProgramWithBinary(context, n, ids, sizes,
                                                 (const unsigned char **)binaries, status, &code);
  if (code != CL_SUCCESS) return NULL;
  if (status[0] == CL_SUCCESS && status[1] == CL_SUCCESS &&
      clBuildProgram(program, n, ids, options, NULL, NULL) == CL_SUCCESS)
    return program;
  clReleaseProgram(program);
  return NULL;
}

/* Builds the binary for the device and for the serial one beside it, as one program: what either
   compiles of it serves both. Returns NULL where there is no serial device, or the build fails. */
static cl_program build_shared(const clc_Place *place, cl_context context, const char *binary,
                               size_t size, const char *options) {
  const cl_device_id ids[] = {place->device, place->serial};
  cl_program program = NULL;
  char *copy = place->serial != NULL ? malloc(size) : NULL;
  if (copy != NULL && clc_readdress(place->device, memcpy(copy, binary, size), size))
    program = build_binaries(context, 2, ids, (const char *const[]){binary, copy}, size, options);
  free(copy);
  return program;
}

void clc_buildbinary(const clc_Device *d, const char *binary, size_t size, const char *options,
                     clc_Code *code) {
  const clc_Context *c = d->context;
  code->program = build_shared(&c->place, c->cl, binary, size, options);
  code->is_shared = code->program != NULL;
  if (code->program == NULL)
    code->program = build_binaries(c->cl, 1, &c->place.device, &binary, size, options);
}

/* Has a worker begin with the binary, as this process does: it is of the same driver and device. */
static void start_from_binary(lua_State *L, const clc_Device *d, const char *binary, size_t size,
                              const char *options, clc_Code *code) {
  const clc_Sources s = {.options = options, .form = CLC_BINARY, .parts = {binary}, .length = size};
  clc_releaserecipe(code->recipe);
  code->recipe = NULL;
  d->context->executor->new_recipe(L, d->context, &s, &code->recipe);
}

int clc_loadbinary(lua_State *L, const clc_Device *d, int key, const char *options,
                   clc_Code *code) {
  cl_program *program = &code->program;
  if (!clc_loadcache(L, key)) return 0;
  const char *declarations = lua_tostring(L, -2), *binary = lua_tostring(L, -1);
  clc_buildbinary(d, binary, lua_rawlen(L, -1), options, code);
  if (*program != NULL) {
    const int top = lua_gettop(L);
    const char *names = clc_testkernelnames(L, program);
    if (names == NULL || !clc_declares(declarations, names))
      drop(program);
    else if (*program != NULL) /* no finalizer has released it */
      start_from_binary(L, d, binary, lua_rawlen(L, top), options, code);
    lua_settop(L, top);
  }
  lua_pop(L, *program != NULL ? 1 : 2);
  return *program != NULL;
}

/* Builds the binary for the device and the serial one (build_shared) in place of the program, which
   was built for the device alone. Where that fails, the program stays. */
static void share(const clc_Device *d, const char *binary, size_t size, const char *options,
                  clc_Code *code) {
  const clc_Context *c = d->context;
  if (code->program == NULL) return; /* released by a finalizer */
  cl_program shared = build_shared(&c->place, c->cl, binary, size, options);
  if (shared == NULL) return;
  drop(&code->program);
  *code = (clc_Code){shared, code->recipe, 1};
}

/* --- storing ----------------------------------------------------------- */

/* POCL compiles and links the kernels at this call. */
static cl_int get_info(cl_program program, cl_program_info what, size_t size, void *values) {
  const int was_held = clc_holdinterrupt();
  const cl_int code = clGetProgramInfo(program, what, size, values, NULL);
  clc_letinterrupt(was_held);
  return code;
}

/* A program that the serial device shares has two binaries, and POCL hands out both or none. */
int clc_pushbinary(lua_State *L, const cl_program *program) {
  const int top = lua_gettop(L);
  size_t sizes[2] = {0, 0};
  char *bytes[2];
  if (*program == NULL) return 0;
  cl_int code = get_info(*program, CL_PROGRAM_BINARY_SIZES, sizeof sizes, sizes);
  if (code != CL_SUCCESS || sizes[0] == 0) return 0;
  for (int i = 0; i < 2; i++) bytes[i] = lua_newuserdatauv(L, sizes[i], 0);
  if (*program == NULL) luaL_error(L, "program is released");
  code = get_info(*program, CL_PROGRAM_BINARIES, sizeof bytes, bytes);
  if (code == CL_SUCCESS) lua_pushlstring(L, bytes[0], sizes[0]);
  if (code == CL_SUCCESS) lua_replace(L, top + 1);
  lua_settop(L, top + (code == CL_SUCCESS));
  return code == CL_SUCCESS;
}

/* Stores a binary with declarations of its kernels and pushes it; 0, and nothing pushed: the driver
   does not tell them. */
static int store(lua_State *L, int key, const cl_program *program) {
  const int top = lua_gettop(L);
  const char *names = clc_testkernelnames(L, program);
  const int is_told = names != NULL && *names != '\0' &&
                      clc_pushdeclarations(L, program, names) != NULL && clc_pushbinary(L, program);
  if (is_told) {
    clc_storecache(L, key, lua_gettop(L) - 1, lua_gettop(L));
    lua_replace(L, top + 1);
  }
  lua_settop(L, top + is_told);
  return is_told;
}

void clc_storebinary(lua_State *L, const clc_Device *d, int key, const char *options,
                     clc_Code *code) {
  if (!store(L, key, &code->program)) return;
  share(d, lua_tostring(L, -1), lua_rawlen(L, -1), options, code);
  lua_pop(L, 1);
}

/* --- storing what was launched ------------------------------------------------- */

/* POCL's binary holds what was compiled when it is first told. After launches that is the kernels
   for their sizes of groups, which another user need not compile then. */

#define NOTED "clcompute.noted program"

static const char noted_key = 0; /* registry: a list of keys, each with its program; nil: nobody
                                    will store them */

static int release_noted(lua_State *L) {
  drop(luaL_checkudata(L, 1, NOTED));
  return 0;
}

static void push_noted(lua_State *L, const cl_program *program) {
  cl_program *noted = lua_newuserdatauv(L, sizeof *noted, 0);
  *noted = NULL;
  luaL_setmetatable(L, NOTED);
  if (*program != NULL && clRetainProgram(*program) == CL_SUCCESS) *noted = *program;
}

int clc_storeslater(lua_State *L, const clc_Device *d, int key, const cl_program *program) {
  const int top = lua_gettop(L);
  const int later =
      d->context->is_pocl && lua_rawgetp(L, LUA_REGISTRYINDEX, &noted_key) == LUA_TTABLE;
  if (later) {
    const lua_Integer n = (lua_Integer)lua_rawlen(L, -1);
    lua_pushvalue(L, key);
    push_noted(L, program);
    lua_rawseti(L, -3, n + 2);
    lua_rawseti(L, -2, n + 1);
  }
  lua_settop(L, top);
  return later;
}

/* store_later(): binaries of POCL wait for store_launched from now on. */
static int store_later(lua_State *L) {
  lua_newtable(L);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &noted_key);
  return 0;
}

/* store_launched(): stores those that wait. */
static int store_launched(lua_State *L) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &noted_key);
  const lua_Integer n = lua_istable(L, 1) ? (lua_Integer)lua_rawlen(L, 1) : 0;
  store_later(L);
  for (lua_Integer i = 1; i < n; i += 2) {
    lua_rawgeti(L, 1, i);
    lua_rawgeti(L, 1, i + 1);
    store(L, 2, lua_touserdata(L, 3));
    lua_settop(L, 1);
  }
  return 0;
}

void clc_openbinaries(lua_State *L) {
  static const luaL_Reg functions[] = {
      {"store_later", store_later}, {"store_launched", store_launched}, {NULL, NULL}};
  static const luaL_Reg methods[] = {{"__gc", release_noted}, {NULL, NULL}};
  clc_addinternal(L, functions);
  luaL_newmetatable(L, NOTED);
  luaL_setfuncs(L, methods, 0);
  lua_pop(L, 1);
}
