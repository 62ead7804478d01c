/* SPDX-License-Identifier: MIT */
/* Sizes of structs and enums, which OpenCL does not tell: where the text does not either, the
   compiler is asked. */
#include "build.h"

#include <string.h>

#define PROBE "clc_sizes" /* the kernel that tells them */
#define ALIGNMENT 16      /* of a value where POCL has it, but for vectors */

/* The program of the probe; a script never sees it. */
typedef struct {
  clc_Handle h;
  clc_Code code;
} Probe;

static void probe_release(clc_Handle *h) {
  clc_releasecode(&((Probe *)h)->code);
}

static const clc_Type probe_type = {"probe", "clcompute.Probe", sizeof(Probe), probe_release, 0,
                                    NULL};

/* Whether it is a struct, or an enum as long as the type of its values is not known. */
static int is_struct(const clc_Argument *a) {
  return a->kind == CLC_VALUE && a->dtype == NULL;
}

int clc_takesstructs(const clc_Kernel *k) {
  for (cl_uint i = 0; i < k->nargs; i++)
    if (is_struct(&k->args[i])) return 1;
  return 0;
}

/* Pushes the source with one more kernel. Compilers that are clang tell alignments, too. */
static const char *push_source(lua_State *L, const char *source, const clc_Kernel *k) {
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  luaL_addstring(&b, source);
  luaL_addstring(&b, "\n__kernel void " PROBE "(__global ulong *sizes) {\n");
  for (cl_uint i = 0; i < k->nargs; i++)
    if (is_struct(&k->args[i])) {
      lua_pushfstring(L, "  sizes[%d] = sizeof(%s);\n", 2 * (int)i, k->args[i].type);
      luaL_addvalue(&b);
      if (!k->device->context->is_pocl) continue;
      lua_pushfstring(L, "  sizes[%d] = __alignof__(%s);\n", 2 * (int)i + 1, k->args[i].type);
      luaL_addvalue(&b);
    }
  luaL_addstring(&b, "}\n");
  luaL_pushresult(&b);
  return lua_tostring(L, -1);
}

/* Stack: 1, the kernel whose structs are measured; 2, the device, and 3, the source, as pointers.
   Returns the probe's program and kernel. */
static int build_probe(lua_State *L) {
  const clc_Kernel *k = clc_checkhandle(L, 1, &clc_kerneltype);
  clc_Device *d = lua_touserdata(L, 2);
  clc_Source source = *(const clc_Source *)lua_touserdata(L, 3);
  luaL_checkstack(L, 20, NULL);
  source.text = push_source(L, source.text, k);
  Probe *p = clc_newowned(L, &probe_type, d, 0);
  const int program = lua_gettop(L);
  clc_build(L, d, &source, &p->code);
  const clc_Text text = {lua_tostring(L, -2), NULL, lua_tostring(L, -1), 0};
  clc_newkernel(L, d, &p->code, PROBE, PROBE, &text);
  lua_pushvalue(L, program);
  lua_insert(L, -2);
  return 2;
}

/* Launches the probe, whose program and kernel are at the top of the stack. */
static void read_sizes(lua_State *L, clc_Kernel *k) {
  const int top = lua_gettop(L);
  const clc_Range one = {1, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, CLC_GIVEN, CLC_ERROR, 1};
  const clc_Shape line = {1, {2 * k->nargs}};
  luaL_checkstack(L, 20, NULL);
  clc_Kernel *probe = clc_checkhandle(L, top, &clc_kerneltype);
  clc_Buffer *sizes = clc_newbuffer(L, k->device, clc_finddtype("ulong", 5), &line);
  cl_ulong *values = lua_newuserdatauv(L, 2 * k->nargs * sizeof *values, 0);
  clc_run(L, probe, &one, clc_memory(sizes));
  clc_readbuffer(L, sizes, 0, 2 * k->nargs, values);
  for (cl_uint i = 0; i < k->nargs; i++)
    if (is_struct(&k->args[i])) {
      k->args[i].size = (size_t)values[2 * i];
      k->args[i].is_apart = k->device->context->is_pocl && values[2 * i + 1] > ALIGNMENT;
    }
  clc_release(&sizes->h);
  clc_release(&probe->h);
  clc_release(clc_checkhandle(L, top - 1, &probe_type));
  lua_settop(L, top - 2);
}

/* Whether the compiler refuses the probe: then the sizes stay unknown. */
static int is_refused(const char *message) {
  return strstr(message, clc_codename(CL_BUILD_PROGRAM_FAILURE)) != NULL;
}

/* Takes the sizes from the text; returns whether it tells all. */
static int read_text(lua_State *L, clc_Kernel *k, const char *text) {
  for (cl_uint i = 0; i < k->nargs; i++)
    if (is_struct(&k->args[i])) {
      k->args[i].size =
          k->args[i].is_enum ? clc_enumsize(text) : clc_structsize(L, text, k->args[i].type);
      if (k->args[i].size == 0) return 0;
    }
  return 1;
}

void clc_settleenums(clc_Kernel *k) {
  for (cl_uint i = 0; i < k->nargs; i++) {
    clc_Argument *a = &k->args[i];
    if (!a->is_enum || (a->size != 0 && a->size != 4 && a->size != 8)) continue;
    const char *name = a->size == 8 ? "long" : "int";
    a->dtype = clc_finddtype(name, strlen(name));
    a->width = 1;
  }
}

void clc_measurestructs(lua_State *L, clc_Device *d, const clc_Source *source, const char *text,
                        int kernel) {
  clc_Kernel *k = clc_checkhandle(L, kernel, &clc_kerneltype);
  if (text != NULL && read_text(L, k, text)) return;
  lua_pushcfunction(L, build_probe);
  lua_pushvalue(L, kernel);
  lua_pushlightuserdata(L, d);
  lua_pushlightuserdata(L, (void *)source);
  const int status = lua_pcall(L, 3, 2, 0);
  if (status == LUA_OK)
    read_sizes(L, k);
  else if (status == LUA_ERRMEM || !is_refused(luaL_tolstring(L, -1, NULL)))
    lua_error(L);
  else
    lua_pop(L, 2);
}

void clc_openstructsizes(lua_State *L) {
  clc_openhidden(L, &probe_type);
}
