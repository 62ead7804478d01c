/* SPDX-License-Identifier: MIT */
/* Programs: OpenCL C built for a device, and the kernels in it. */
#include "program.h"

#include <string.h>

#include "build.h"
#include "files/files.h"

#define DISABLE "-cl-opt-disable"

/* Values of a Program. */
enum { TEXT = 1, KERNELS = 2, DECLARATIONS = 3, SOURCE = 4 };

typedef struct {
  clc_Handle h;
  clc_Device *device;
  clc_Code code;
  clc_Built built;
} Program;

static void program_release(clc_Handle *h) {
  clc_releasecode(&((Program *)h)->code);
}

static const clc_Type program_type = {"program", "clcompute.Program", sizeof(Program),
                                      program_release, 0};

/* Pushes what the program is made of, to make others of it. */
static void push_source(lua_State *L, const char *text, const char *defines, const char *options) {
  const char *parts[] = {text, defines, options};
  lua_createtable(L, 3, 0);
  for (int i = 0; i < 3; i++) {
    lua_pushstring(L, parts[i]);
    lua_rawseti(L, -2, i + 1);
  }
}

/* As clc_build; a build that succeeds is profiled. */
static clc_Built build_timed(lua_State *L, clc_Device *d, const clc_Source *s, Program *p) {
  clc_Counter *c =
      d->profile->on ? clc_findcounter(L, &d->context->place, CLC_BUILD, s->name) : NULL;
  const double start = clc_now();
  const clc_Built built = clc_build(L, d, s, &p->code);
  if (c != NULL) clc_addcall(c, (cl_ulong)((clc_now() - start) * 1e9), 0);
  return built;
}

void clc_buildprogram(lua_State *L, clc_Device *d, int source, const char *name,
                      const char *defines, const char *options) {
  const clc_Source s = {lua_tostring(L, source), name, defines, options};
  const int self = lua_gettop(L) + 1;
  clc_usedevice(L, d);
  if (d->context->is_pocl) clc_checkpocl(L, &d->context->has_linker);
  Program *p = clc_newowned(L, &program_type, d, 0);
  push_source(L, s.text, defines, options);
  clc_setvalue(L, self, SOURCE);
  p->device = d;
  p->built = build_timed(L, d, &s, p);
  clc_setvalue(L, self, DECLARATIONS);
  clc_setvalue(L, self, TEXT);
  lua_newtable(L);
  clc_setvalue(L, self, KERNELS);
}

/* --- kernels ----------------------------------------------------------- */

/*
 * POCL's headers define its built-in functions as macros, so there a kernel called `dot`
 * becomes `_cl_dot`. Pushes "a;b" as the source of the program at idx has them.
 */
static const char *push_names(lua_State *L, int idx) {
  const Program *p = clc_checkhandle(L, idx, &program_type);
  const int top = lua_gettop(L);
  const char *names = clc_pushkernelnames(L, &p->code.program);
  clc_getvalue(L, idx, TEXT);
  if (strstr(luaL_optstring(L, -1, ""), "_cl_") == NULL) names = luaL_gsub(L, names, "_cl_", "");
  lua_pushstring(L, names);
  lua_replace(L, top + 1);
  lua_settop(L, top + 1);
  return lua_tostring(L, -1);
}

static void push_name_list(lua_State *L, int idx) {
  const char *names = push_names(L, idx), *name;
  size_t length;
  lua_newtable(L);
  for (lua_Integer n = 1; (length = clc_nextname(&names, &name)) > 0; n++) {
    lua_pushlstring(L, name, length);
    lua_rawseti(L, -2, n);
  }
  clc_namelist(L, "clcompute.Kernels", "no kernels");
  lua_remove(L, -2);
}

/* Pushes "a, b". */
static const char *push_name_text(lua_State *L, int idx) {
  return luaL_gsub(L, push_names(L, idx), ";", ", ");
}

static int has_kernel(lua_State *L, const cl_program *program, const char *wanted) {
  const char *names = clc_pushkernelnames(L, program), *name;
  size_t length;
  while ((length = clc_nextname(&names, &name)) > 0)
    if (length == strlen(wanted) && memcmp(name, wanted, length) == 0) break;
  lua_pop(L, 1);
  return length > 0;
}

/* Pushes what OpenCL calls the kernel. */
static const char *push_real_name(lua_State *L, const cl_program *program, const char *name) {
  const char *renamed = lua_pushfstring(L, "_cl_%s", name);
  if (!has_kernel(L, program, name) && has_kernel(L, program, renamed)) return renamed;
  lua_pop(L, 1);
  return lua_pushstring(L, name);
}

/* Asks for the sizes of the structs that the kernel at the top takes. */
static void measure_structs(lua_State *L, int idx, const clc_Kernel *k) {
  const Program *p = clc_checkhandle(L, idx, &program_type);
  if (!clc_takesstructs(k)) return;
  const int top = lua_gettop(L); /* the kernel */
  clc_getvalue(L, idx, SOURCE);
  for (lua_Integer i = 1; i <= 3; i++) lua_rawgeti(L, top + 1, i);
  const clc_Source s = {lua_tostring(L, top + 2), "sizes", lua_tostring(L, top + 3),
                        lua_tostring(L, top + 4)};
  clc_measurestructs(L, p->device, &s, top);
  lua_settop(L, top);
}

clc_Kernel *clc_pushkernel(lua_State *L, int idx, const char *name) {
  const Program *p = clc_checkhandle(L, idx, &program_type);
  idx = lua_absindex(L, idx);
  clc_getvalue(L, idx, KERNELS);
  lua_getfield(L, -1, name);
  if (clc_testhandle(L, -1, &clc_kerneltype) == NULL) { /* or released since */
    lua_pop(L, 1);
    const char *real_name = push_real_name(L, &p->code.program, name);
    if (!has_kernel(L, &p->code.program, real_name))
      luaL_error(L, "no kernel '%s' in the program; there are: %s", name, push_name_text(L, idx));
    if (clc_getvalue(L, idx, TEXT) != LUA_TSTRING) luaL_error(L, "the program lost its text");
    clc_getvalue(L, idx, DECLARATIONS); /* nil: built from source */
    const clc_Text text = {lua_tostring(L, -2), p->built.seen ? NULL : "what an #include may hold",
                           lua_tostring(L, -1), p->built.max_group};
    clc_Kernel *k = clc_newkernel(L, p->device, &p->code, real_name, name, &text);
    measure_structs(L, idx, k);
    lua_replace(L, -4);
    lua_pop(L, 2);
    lua_pushvalue(L, -1);
    lua_setfield(L, -3, name);
  }
  lua_remove(L, -2);
  return clc_checkhandle(L, -1, &clc_kerneltype);
}

static int program_kernel(lua_State *L) {
  clc_pushkernel(L, 1, luaL_checkstring(L, 2));
  return 1;
}

static int program_field(lua_State *L) {
  const Program *p = clc_checkhandle(L, 1, &program_type);
  const char *key = lua_tostring(L, 2);
  if (key == NULL) return 0;
  if (strcmp(key, "kernels") == 0)
    push_name_list(L, 1);
  else if (strcmp(key, "device") == 0)
    clc_pushdevice(L, p->device);
  else
    clc_pushkernel(L, 1, key);
  return 1;
}

static int program_show(lua_State *L) {
  lua_pushfstring(L, "program with kernels %s", push_name_text(L, 1));
  return 1;
}

/* --- d:program --------------------------------------------------------- */

/* A name where the text is due would be a strange error of the compiler. */
static void refuse_name(lua_State *L, int arg) {
  const char *text = lua_tostring(L, arg);
  const size_t length = strlen(text);
  if (length > 3 && strcmp(text + length - 3, ".cl") == 0 && strpbrk(text, "{\n") == NULL)
    clc_argerror(L, arg, "source expected, got a file's name: use {file=\"%s\"}", text);
}

/* Pushes the option by which a compiler finds includes beside the file; none for a path that
   options cannot name. */
static const char *push_own_folder(lua_State *L, const char *path) {
  const char *slash = strrchr(path, '/');
  if (slash == NULL) return lua_pushliteral(L, " -I ."); /* where not all compilers look */
  if (strpbrk(path, " \t\"") != NULL) return lua_pushliteral(L, "");
  return lua_pushfstring(L, " -I %s", lua_pushlstring(L, path, (size_t)(slash - path) + 1));
}

/* Leaves the text at index 2 and returns what logs call it; *own_folder: as above, or "". */
static const char *take_source(lua_State *L, const char **own_folder) {
  static const char *const keys[] = {"file", NULL};
  *own_folder = "";
  if (lua_type(L, 2) == LUA_TSTRING) {
    refuse_name(L, 2);
    return "source";
  }
  luaL_argexpected(L, lua_istable(L, 2), 2, "string or {file=}");
  clc_checkoptions(L, 2, keys);
  const char *path = clc_stringoption(L, 2, "file", NULL);
  if (path == NULL) clc_optionerror(L, 2, "file", "path expected");
  path = lua_pushstring(L, path); /* the table goes */
  clc_readfile(L, path);
  lua_replace(L, 2);
  *own_folder = push_own_folder(L, path);
  return path;
}

/*
 * Hands the loops that some compilers get wrong to Lua, which knows the device, and warns. Returns
 * whether the program at the top of the stack is to be built again with -cl-opt-disable, which
 * cures all of them.
 */
static int is_doubtful(lua_State *L, size_t start, const char *name, const char *options) {
  int lines[CLC_SUSPICIONS], yes = 0;
  const int top = lua_gettop(L);
  if (strstr(options, DISABLE) != NULL) return 0;
  clc_getvalue(L, -1, TEXT);
  if (clc_findsuspects(L, lua_tostring(L, -1), start, lines) &&
      clc_getinternal(L, "judge_loops") == LUA_TFUNCTION) {
    lua_pushvalue(L, 1);
    lua_pushstring(L, name);
    for (int i = 0; i < CLC_SUSPICIONS; i++) lua_pushinteger(L, lines[i]);
    lua_call(L, 2 + CLC_SUSPICIONS, 1);
    yes = lua_toboolean(L, -1);
  }
  lua_settop(L, top);
  return yes;
}

/* Takes what d:program takes; leaves the text at index 2, and on the stack what it refers to. */
static clc_Source take_request(lua_State *L) {
  static const char *const keys[] = {"defines", "options", "include", "name", NULL};
  lua_settop(L, 3);
  clc_checkoptions(L, 3, keys);
  const char *own_folder;
  const char *file = take_source(L, &own_folder);
  const char *name = clc_stringoption(L, 3, "name", file);
  const char *options = clc_stringoption(L, 3, "options", "");
  if (strlen(lua_tostring(L, 2)) != lua_rawlen(L, 2))
    luaL_argerror(L, 2, "source holds a NUL byte");
  luaL_argcheck(L, *name != '\0', 3, "name is empty");
  luaL_argcheck(L, strpbrk(name, "\"\\\r\n") == NULL, 3,
                "name holds a quote, backslash or newline");
  clc_checkbuildoptions(L, 3, options);
  clc_pushoption(L, 3, "defines");
  const char *defines = clc_pushdefines(L, 3, -1);
  const char *includes = clc_pushincludes(L, 3);
  const char *all = lua_pushfstring(L, "%s%s%s", options, own_folder, includes);
  return (clc_Source){lua_tostring(L, 2), name, defines, all};
}

static int device_program(lua_State *L) {
  clc_Device *d = clc_checkopen(L, 1);
  const clc_Source s = take_request(L);
  clc_buildprogram(L, d, 2, s.name, s.defines, s.options);
  const Program *p = clc_checkhandle(L, -1, &program_type);
  const int program = lua_gettop(L);
  if (*clc_pushkernelnames(L, &p->code.program) == '\0')
    luaL_argerror(L, 2, "no kernel in the source");
  lua_settop(L, program);
  if (is_doubtful(L, p->built.start, s.name, s.options)) {
    Program *doubtful = clc_checkhandle(L, program, &program_type);
    clc_release(&doubtful->h);
    const char *options = lua_pushfstring(L, "%s " DISABLE, s.options);
    clc_buildprogram(L, d, 2, s.name, s.defines, options);
  }
  return 1;
}

static int device_is_built(lua_State *L) {
  clc_Device *d = clc_checkopen(L, 1);
  const clc_Source s = take_request(L);
  lua_pushboolean(L, clc_isbuilt(L, d, &s));
  return 1;
}

void clc_openprograms(lua_State *L) {
  static const clc_Function device_methods[] = {
      {"program", device_program, 2}, {"is_built", device_is_built, 2}, {NULL, NULL, 0}};
  static const clc_Function methods[] = {{"kernel", program_kernel, 1}, {NULL, NULL, 0}};
  static const luaL_Reg metamethods[] = {{NULL, NULL}};
  clc_opentype(L, &program_type, program_field, program_show, methods, metamethods);
  clc_addrelease(L, &program_type);
  clc_addmethods(L, &clc_devicetype, device_methods);
  clc_openstructsizes(L);
}
