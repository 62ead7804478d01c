/* SPDX-License-Identifier: MIT */
/*
 * Saved programs: binaries in files of a script's (Borisov 2015, section 3).
 *
 * A file is sealed. Its strings are who runs the binary, how it was built, which of its loops are
 * suspect (suspects.c) and the outline of the source; the declarations of the kernels; the binary.
 * The outline is OpenCL C that says of the source what launches ask of its text: which typedefs and
 * sizes the arguments have, and which calls the kernels reach that a range must know of. A file of
 * SPIR-V has none of this.
 */
#include "build.h"

#include <stdlib.h>
#include <string.h>

#include "files/files.h"

#define MAGIC UINT64_C(0x0a676f7270636c63) /* "clcprog\n" */
#define VERSION 2                          /* of what the strings say */

enum { IDENTITY, DECLARATIONS, BINARY };

/* --- the outline ----------------------------------------------------------- */

/* Pushes the name of an argument's type without the stars of a pointer. */
static const char *push_base(lua_State *L, const clc_Argument *a) {
  size_t length = strcspn(a->type, "*");
  while (length > 0 && a->type[length - 1] == ' ') length--;
  return lua_pushlstring(L, a->type, length);
}

/* Pops a line, and appends it to the text at `outline` unless that has it already. */
static void add_line(lua_State *L, int outline) {
  const char *line = lua_tostring(L, -1);
  if (strstr(lua_tostring(L, outline), line) == NULL) {
    lua_pushfstring(L, "%s%s", lua_tostring(L, outline), line);
    lua_replace(L, outline);
  }
  lua_pop(L, 1);
}

static void add_argument(lua_State *L, const clc_Argument *a, const char *text, int outline) {
  const char *base = push_base(L, a), *meant = clc_pushtype(L, text, base);
  if (strcmp(meant, base) != 0) {
    lua_pushfstring(L, "typedef %s %s;\n", meant, base);
    add_line(L, outline);
  }
  if (a->size > 0) {
    lua_pushfstring(L, "_Static_assert(sizeof(%s) == %I, \"\");\n", base, (LUAI_UACINT)a->size);
    add_line(L, outline);
  }
  lua_pop(L, 2);
}

static void add_kernel(lua_State *L, const clc_Kernel *k, int outline) {
  const char *call = k->limits.unsplittable;
  lua_pushfstring(L, "kernel void %s() {%s%s%s%s%s%s }\n", k->name, call != NULL ? " " : "",
                  call != NULL ? call : "", call != NULL ? "();" : "",
                  k->limits.sees_group ? " barrier();" : "", k->prints ? " printf();" : "",
                  k->limits.keeps_arrays ? " int a[1];" : "");
  add_line(L, outline);
}

/* Pushes it. Of what an #include may hold nothing is known there either. */
static void push_outline(lua_State *L, const char *text, int kernels, const clc_Built *built) {
  const int is_seen = built->hidden == NULL;
  lua_pushstring(L, built->max_group > 0 ? "#include <" CLC_WORK_GROUP_HEADER ">\n" : "");
  const int outline = lua_gettop(L);
  if (!is_seen) {
    lua_pushliteral(L, "#include MISSING\n");
    add_line(L, outline);
  }
  for (lua_Integer i = 1; lua_rawgeti(L, kernels, i) != LUA_TNIL; i++) {
    const clc_Kernel *k = clc_checkhandle(L, -1, &clc_kerneltype);
    for (cl_uint a = 0; a < k->nargs; a++) add_argument(L, &k->args[a], text, outline);
    if (is_seen) add_kernel(L, k, outline);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
}

void clc_recallstructs(lua_State *L, clc_Kernel *k, const char *outline) {
  for (cl_uint i = 0; i < k->nargs; i++) {
    clc_Argument *a = &k->args[i];
    const char *begin = lua_pushfstring(L, "sizeof(%s) == ", push_base(L, a));
    const char *found = a->dtype == NULL ? strstr(outline, begin) : NULL;
    if (found != NULL) a->size = strtoul(found + strlen(begin), NULL, 10);
    lua_pop(L, 2);
  }
}

/* --- saving ---------------------------------------------------------------- */

/* Pushes the options that decide how a binary runs; the others were for its source. */
static const char *push_lasting(lua_State *L, const char *options) {
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  for (const char *p = options + strspn(options, " "); *p != '\0'; p += strspn(p, " ")) {
    const size_t length = strcspn(p, " ");
    if (strncmp(p, "-cl-", 4) == 0) {
      luaL_addlstring(&b, p, length);
      luaL_addchar(&b, ' ');
    }
    p += length;
  }
  luaL_pushresult(&b);
  return lua_tostring(L, -1);
}

void clc_pushsaved(lua_State *L, const clc_Device *d, const clc_Saved *s) {
  const int top = lua_gettop(L);
  luaL_checkstack(L, 20, NULL);
  if (!d->context->executor->makes_binaries)
    luaL_error(
        L, "an isolated device makes no binaries; cl.device(\"%d:%d\", {isolated = false}) does",
        d->context->place.p, d->context->place.d);
  push_outline(L, s->text, s->kernels, s->built);
  lua_pushfstring(L, "%s\n%s%s\n%s\n%s", s->library, clc_pushidentity(L, d),
                  push_lasting(L, s->options), s->suspects, lua_tostring(L, top + 1));
  const int identity = lua_gettop(L);
  const char *names = clc_pushkernelnames(L, &s->code->program);
  if (s->declarations != NULL)
    lua_pushstring(L, s->declarations);
  else if (clc_pushdeclarations(L, &s->code->program, names) == NULL)
    luaL_error(L, "the driver does not tell the arguments of the kernels");
  const int declarations = lua_gettop(L);
  if (!clc_pushbinary(L, &s->code->program)) luaL_error(L, "the driver gives no binary");
  const int index[CLC_SECTIONS] = {identity, declarations, lua_gettop(L)};
  const char *section[CLC_SECTIONS];
  const clc_Seal seal = clc_seal(L, MAGIC, VERSION, index, section);
  lua_pushlstring(L, (const char *)&seal, sizeof seal);
  for (int i = 0; i < CLC_SECTIONS; i++) lua_pushvalue(L, index[i]);
  lua_concat(L, 1 + CLC_SECTIONS);
  lua_replace(L, top + 1);
  lua_settop(L, top + 1);
}

/* --- loading --------------------------------------------------------------- */

#define DAMAGED "is damaged, or of another version of the library: save the program again"

static int refuse(lua_State *L, const char *path, const char *complaint) {
  return clc_optionerror(L, 2, "binary", "%s %s", path, complaint);
}

/* Takes the line at *p, which is pushed; NULL: there is none. */
static const char *push_line(lua_State *L, const char **p) {
  const char *end = strchr(*p, '\n');
  if (end == NULL) return NULL;
  lua_pushlstring(L, *p, (size_t)(end - *p));
  *p = end + 1;
  return lua_tostring(L, -1);
}

/* Raises unless the lines at *p are those of the device; leaves *p behind them. */
static void check_identity(lua_State *L, const clc_Device *d, const char *path, const char **p) {
  static const char *const what[] = {"platform", "platform version", "device",
                                     "vendor",   "device version",   "driver"};
  const char *own = clc_pushidentity(L, d);
  for (int i = 0; *own != '\0'; i++) {
    const char *here = push_line(L, &own), *there = push_line(L, p);
    if (there == NULL || strcmp(here, there) != 0)
      refuse(L, path,
             lua_pushfstring(L, "was saved for %s '%s', here is '%s': build the source again",
                             what[i], there == NULL ? "" : there, here));
    lua_pop(L, 2);
  }
  lua_pop(L, 1);
}

/* Optimised code of such a loop cannot be made right here. */
static void check_suspects(lua_State *L, const char *path, const char *suspects) {
  const size_t blank = strspn(suspects, "\"");
  if (clc_isdoubtful(L, suspects, 1))
    refuse(L, path,
           lua_pushfstring(L,
                           "has a loop that this careful device's compiler may get wrong (%s): "
                           "build the source, or save what was built with \"" CLC_OPTDISABLE "\"",
                           lua_pushlstring(L, suspects + blank, strcspn(suspects + blank, "\""))));
}

/* Pushes suspects, outline, declarations and options of the sealed file at the top, and says what
   to build. */
static clc_Sources read_sealed(lua_State *L, const clc_Device *d, const char *path) {
  const char *bytes = lua_tostring(L, -1), *section[CLC_SECTIONS];
  clc_Seal seal;
  if (!clc_unseal(bytes, lua_rawlen(L, -1), MAGIC, VERSION, &seal, section))
    refuse(L, path, DAMAGED);
  const char *p = lua_pushlstring(L, section[IDENTITY], (size_t)seal.length[IDENTITY]);
  push_line(L, &p); /* the library, for who looks into the file */
  check_identity(L, d, path, &p);
  const char *options = push_line(L, &p), *suspects = push_line(L, &p);
  if (options == NULL || suspects == NULL) refuse(L, path, DAMAGED);
  check_suspects(L, path, suspects);
  lua_pushstring(L, p);
  lua_pushlstring(L, section[DECLARATIONS], (size_t)seal.length[DECLARATIONS]);
  return (clc_Sources){.name = path,
                       .options = lua_pushfstring(L, CLC_ARG_INFO "%s", options),
                       .form = CLC_BINARY,
                       .parts = {section[BINARY]},
                       .length = (size_t)seal.length[BINARY]};
}

static int is_spirv(const char *bytes, size_t n) {
  static const unsigned char magic[2][4] = {{3, 2, 0x23, 7}, {7, 0x23, 2, 3}};
  return n >= 20 && (memcmp(bytes, magic[0], 4) == 0 || memcmp(bytes, magic[1], 4) == 0);
}

/* The same of a file of SPIR-V. */
static clc_Sources read_spirv(lua_State *L, const clc_Device *d, const char *path) {
  const clc_Context *c = d->context;
  const char *bytes = lua_tostring(L, -1);
  const size_t n = lua_rawlen(L, -1);
  if (!clc_pushproperty(L, c->place.device, c->version, "il_version")) lua_pushliteral(L, "");
  if (strstr(lua_tostring(L, -1), "SPIR-V") == NULL)
    refuse(L, path,
           lua_pushfstring(L, "is SPIR-V, which this device does not take (il_version is '%s')",
                           lua_tostring(L, -1)));
  lua_pushliteral(L, "");
  lua_pushliteral(L, "");
  lua_pushnil(L);
  return (clc_Sources){.name = path,
                       .options = lua_pushliteral(L, CLC_ARG_INFO),
                       .form = CLC_IL,
                       .parts = {bytes},
                       .length = n};
}

static void build(lua_State *L, clc_Device *d, const clc_Sources *s, clc_Code *code) {
  const clc_Executor *executor = d->context->executor;
  executor->new_recipe(L, d->context, s, &code->recipe);
  const cl_int result = executor->build(L, d, s, code);
  if (result != CL_SUCCESS) clc_raise(L, result, "clBuildProgram", "%s", s->name);
}

clc_Built clc_buildsaved(lua_State *L, clc_Device *d, const char *path, clc_Code *code) {
  const int top = lua_gettop(L);
  luaL_checkstack(L, 40, "build");
  const char *bytes = clc_readfile(L, path);
  const size_t n = lua_rawlen(L, -1);
  const int spirv = is_spirv(bytes, n);
  if (!spirv && !clc_issealed(bytes, n, MAGIC))
    refuse(L, path, "is no saved program (p:save), and no SPIR-V");
  const clc_Sources sources = spirv ? read_spirv(L, d, path) : read_sealed(L, d, path);
  const int outline = lua_gettop(L) - 2, declarations = outline + 1;
  const clc_Included known = clc_pushincluded(L, lua_tostring(L, outline), "");
  build(L, d, &sources, code);
  const char *names = clc_pushkernelnames(L, &code->program);
  if (!spirv && !clc_declares(lua_tostring(L, declarations), names))
    refuse(L, path, "has other kernels than it says: save the program again");
  lua_pushvalue(L, outline);
  lua_pushvalue(L, declarations);
  lua_pushstring(L, sources.options + strlen(CLC_ARG_INFO));
  lua_pushvalue(L, outline - 1);
  lua_rotate(L, top + 1, 4);
  lua_settop(L, top + 4);
  return (clc_Built){.hidden = spirv            ? "what SPIR-V does not show"
                               : known.complete ? NULL
                                                : CLC_UNSEENINCLUDE,
                     .max_group = known.header_by_text ? clc_workgroupslots(d) : 0};
}
