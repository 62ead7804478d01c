/* SPDX-License-Identifier: MIT */
/* Programs: OpenCL C built for a device, and the kernels in it. */
#include "program.h"

#include <string.h>

#include "build.h"
#include "files/files.h"

/* Values of a Program. SOURCE: as push_source has it; of one from a file its options alone.
   SUSPECTS: as clc_pushsuspects has them. */
enum { TEXT = 1, KERNELS, DECLARATIONS, SOURCE, SUSPECTS };

typedef struct {
  clc_Handle h;
  clc_Device *device;
  clc_Code code;
  clc_Built built;
} Program;

static void program_release(clc_Handle *h) {
  clc_releasecode(&((Program *)h)->code);
}

static const clc_Type program_type = {
    "program", "clcompute.Program", sizeof(Program), program_release, 0, NULL};

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

/* Asks for the sizes of the structs and enums that the kernel at the top takes. */
static void measure_structs(lua_State *L, int idx, clc_Kernel *k) {
  const Program *p = clc_checkhandle(L, idx, &program_type);
  const int top = lua_gettop(L);                    /* the kernel */
  if (clc_getvalue(L, idx, SOURCE) != LUA_TTABLE) { /* from a file of p:save */
    clc_getvalue(L, idx, TEXT);
    clc_recallstructs(L, k, lua_tostring(L, -1));
    lua_settop(L, top);
    return;
  }
  for (lua_Integer i = 1; i <= 3; i++) lua_rawgeti(L, top + 1, i);
  const clc_Source s = {lua_tostring(L, top + 2), "sizes", lua_tostring(L, top + 3),
                        lua_tostring(L, top + 4)};
  clc_getvalue(L, idx, TEXT);
  clc_measurestructs(L, p->device, &s, p->built.hidden == NULL ? lua_tostring(L, -1) : NULL, top);
  lua_settop(L, top);
}

/* A source without a kernel is not built: where there is none, a file that POCL keeps is damaged.
 */
static void raise_unknown(lua_State *L, const Program *p, int idx, const char *name) {
  const char *names = push_name_text(L, idx);
  if (*names == '\0' && p->device->context->is_pocl)
    luaL_error(L,
               "no kernel '%s' in the program, nor another: a file in POCL's cache is damaged; "
               "remove the folder %s",
               name, clc_pushpoclfolder(L));
  luaL_error(L, "no kernel '%s' in the program; there are: %s", name, names);
}

clc_Kernel *clc_pushkernel(lua_State *L, int idx, const char *name) {
  const Program *p = clc_checkhandle(L, idx, &program_type);
  idx = lua_absindex(L, idx);
  clc_getvalue(L, idx, KERNELS);
  lua_getfield(L, -1, name);
  if (clc_testhandle(L, -1, &clc_kerneltype) == NULL) { /* or released since */
    lua_pop(L, 1);
    const char *real_name = push_real_name(L, &p->code.program, name);
    if (!has_kernel(L, &p->code.program, real_name)) raise_unknown(L, p, idx, name);
    if (clc_getvalue(L, idx, TEXT) != LUA_TSTRING) luaL_error(L, "the program lost its text");
    clc_getvalue(L, idx, DECLARATIONS); /* nil: built from source */
    const clc_Text text = {lua_tostring(L, -2), p->built.hidden, lua_tostring(L, -1),
                           p->built.max_group};
    clc_Kernel *k = clc_newkernel(L, p->device, &p->code, real_name, name, &text);
    if (clc_takesstructs(k)) measure_structs(L, idx, k);
    clc_settleenums(k);
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

/* Pushes the program of a file that p:save wrote, or of SPIR-V. */
static void load_program(lua_State *L, clc_Device *d) {
  static const char *const keys[] = {"binary", NULL}, *const none[] = {NULL};
  clc_checkoptions(L, 2, keys);
  clc_checkoptions(L, 3, none); /* they were for the source */
  const char *path = clc_stringoption(L, 2, "binary", NULL);
  if (*path == '\0') clc_optionerror(L, 2, "binary", "path expected");
  clc_usedevice(L, d);
  Program *p = clc_newowned(L, &program_type, d, 0);
  const int self = lua_gettop(L);
  p->device = d;
  p->built = clc_buildsaved(L, d, path, &p->code);
  clc_setvalue(L, self, SUSPECTS);
  clc_setvalue(L, self, SOURCE);
  clc_setvalue(L, self, DECLARATIONS);
  clc_setvalue(L, self, TEXT);
  lua_newtable(L);
  clc_setvalue(L, self, KERNELS);
}

/* Judges the loops of the program at the top of the stack, and keeps what is suspect of it; returns
   whether it is to be built again without optimisation, which cures all of them. */
static int is_doubtful(lua_State *L, const clc_Source *s) {
  const int program = lua_gettop(L);
  const Program *p = clc_checkhandle(L, program, &program_type);
  const int is_optimised = strstr(s->options, CLC_OPTDISABLE) == NULL;
  clc_getvalue(L, program, TEXT);
  const char *suspects = is_optimised
                             ? clc_pushsuspects(L, lua_tostring(L, -1), p->built.start, s->name)
                             : lua_pushliteral(L, "");
  const int yes = clc_isdoubtful(L, suspects, 0);
  clc_setvalue(L, program, SUSPECTS);
  lua_settop(L, program);
  return yes;
}

static int device_program(lua_State *L) {
  clc_Device *d = clc_checkopen(L, 1);
  lua_settop(L, 3);
  const int has_binary = clc_pushoption(L, 2, "binary") != LUA_TNIL;
  lua_settop(L, 3);
  if (has_binary) {
    load_program(L, d);
    return 1;
  }
  const clc_Source s = clc_takerequest(L);
  clc_buildprogram(L, d, 2, s.name, s.defines, s.options);
  const Program *p = clc_checkhandle(L, -1, &program_type);
  const int program = lua_gettop(L);
  if (*clc_pushkernelnames(L, &p->code.program) == '\0')
    luaL_argerror(L, 2, "no kernel in the source; \"kernel void name(...)\" declares one");
  lua_settop(L, program);
  if (is_doubtful(L, &s)) {
    Program *doubtful = clc_checkhandle(L, program, &program_type);
    clc_release(&doubtful->h);
    const char *options = lua_pushfstring(L, "%s " CLC_OPTDISABLE, s.options);
    clc_buildprogram(L, d, 2, s.name, s.defines, options);
  }
  return 1;
}

/* --- p:save ---------------------------------------------------------------- */

/* Pushes a list of all kernels of the program at idx. */
static void push_kernels(lua_State *L, int idx) {
  const char *names = push_names(L, idx), *name;
  size_t length;
  lua_newtable(L);
  for (lua_Integer n = 1; (length = clc_nextname(&names, &name)) > 0; n++) {
    clc_pushkernel(L, idx, lua_pushlstring(L, name, length));
    lua_rawseti(L, -3, n);
    lua_pop(L, 1);
  }
  lua_remove(L, -2);
}

/* Internal: seal_program(program, library) returns the bytes of a file. */
static int seal_program(lua_State *L) {
  const Program *p = clc_checkhandle(L, 1, &program_type);
  const char *library = luaL_checkstring(L, 2);
  lua_settop(L, 2);
  push_kernels(L, 1);
  clc_getvalue(L, 1, SUSPECTS);
  const char *suspects = luaL_optstring(L, -1, ""); /* none of a program that was built again */
  clc_getvalue(L, 1, TEXT);
  clc_getvalue(L, 1, DECLARATIONS);
  if (clc_getvalue(L, 1, SOURCE) == LUA_TTABLE) lua_rawgeti(L, -1, 3);
  const clc_Saved saved = {.library = library,
                           .options = lua_tostring(L, -1),
                           .text = lua_tostring(L, 5),
                           .declarations = lua_tostring(L, 6),
                           .suspects = suspects,
                           .kernels = 3,
                           .built = &p->built,
                           .code = &p->code};
  clc_pushsaved(L, p->device, &saved);
  return 1;
}

static int device_is_built(lua_State *L) {
  clc_Device *d = clc_checkopen(L, 1);
  const clc_Source s = clc_takerequest(L);
  lua_pushboolean(L, clc_isbuilt(L, d, &s));
  return 1;
}

void clc_openprograms(lua_State *L) {
  static const clc_Function device_methods[] = {
      {"program", device_program, 2}, {"is_built", device_is_built, 2}, {NULL, NULL, 0}};
  static const clc_Function methods[] = {{"kernel", program_kernel, 1}, {NULL, NULL, 0}};
  static const luaL_Reg metamethods[] = {{NULL, NULL}};
  static const luaL_Reg internal[] = {{"seal_program", seal_program}, {NULL, NULL}};
  clc_opentype(L, &program_type, program_field, "kernels device", program_show, methods,
               metamethods);
  clc_addrelease(L, &program_type);
  clc_addmethods(L, &clc_devicetype, device_methods);
  clc_addinternal(L, internal);
  clc_openstructsizes(L);
  clc_opencosts(L);
  clc_openbinaries(L);
}
