/* SPDX-License-Identifier: MIT */
/* Prebuilt kernels: the files of the kernels folder, built once a device. */
#define _XOPEN_SOURCE 700 /* opendir, realpath */
#include "prebuilt.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "program/program.h"
#include "files/files.h"

/* Pushes the table of programs that are built for a device. */
static void push_cache(lua_State *L, const clc_Device *d) {
  clc_pushdevice(L, d);
  if (clc_getvalue(L, -1, CLC_BUILTVALUE) == LUA_TNIL) {
    lua_pop(L, 1);
    lua_newtable(L);
    lua_pushvalue(L, -1);
    clc_setvalue(L, -3, CLC_BUILTVALUE);
  }
  lua_remove(L, -2);
}

static int is_source(const struct dirent *entry) {
  const size_t length = strlen(entry->d_name);
  return length > 3 && strcmp(entry->d_name + length - 3, ".cl") == 0;
}

/* Raises with the names of those there are. */
static void raise_unknown(lua_State *L, const char *folder, const char *name) {
  struct dirent **files = NULL;
  const int n = scandir(folder, &files, is_source, alphasort);
  char names[4000] = "";
  for (int i = 0; i < n; i++) {
    const size_t used = strlen(names), length = strlen(files[i]->d_name);
    snprintf(names + used, sizeof names - used, "%s%.*s", used > 0 ? ", " : "", (int)length - 3,
             files[i]->d_name);
    free(files[i]);
  }
  free(files);
  luaL_error(L, "no prebuilt kernel '%s'; there are: %s", name, names);
}

/* Pushes the text with headers named by their whole path: an option would end at a blank in it. */
static void push_with_folder(lua_State *L, const char *text, const char *folder) {
  char path[PATH_MAX];
  if (realpath(folder, path) != NULL) folder = path;
  luaL_gsub(L, text, "#include \"", lua_pushfstring(L, "#include \"%s/", folder));
}

/* Builds a file with a text in front of it, which may include the library's headers. */
static void build(lua_State *L, clc_Device *d, const char *name, const clc_Dtype *dtype,
                  const char *before) {
  if (dtype == clc_double && !d->context->has_double)
    luaL_error(L, "%s: this device has no double precision", name);
  const char *folder = clc_pushkernelfolder(L);
  const char *path = lua_pushfstring(L, "%s/%s.cl", folder, name);
  if (access(path, F_OK) != 0 && errno == ENOENT) raise_unknown(L, folder, name);
  clc_readfile(L, path);
  push_with_folder(L, lua_tostring(L, -1), folder);
  const int source = lua_gettop(L);
  const char *options = strstr(before, "<clcompute/") != NULL ? clc_pushheaderoption(L) : "";
  const char *all = lua_pushfstring(L, "%s#define REAL %s\n", before, dtype->name);
  clc_buildprogram(L, d, source, lua_pushfstring(L, "%s.cl", name), all, options);
}

/* Pushes the device, which it keeps should a finalizer close it, and its cache. */
static void push_open(lua_State *L, clc_Device *d, const char *name) {
  luaL_checkstack(L, 30, NULL);
  clc_pushdevice(L, d);
  if (clc_testhandle(L, -1, &clc_devicetype) == NULL) luaL_error(L, "%s: device is released", name);
  clc_usedevice(L, d);
  push_cache(L, d);
}

clc_Kernel *clc_prebuilt(lua_State *L, clc_Device *d, const char *name, const clc_Dtype *dtype,
                         const char *before) {
  push_open(L, d, name);
  const int top = lua_gettop(L) - 1;
  const char *key = lua_pushfstring(L, "%s %s\n%s", name, dtype->name, before);
  if (lua_getfield(L, top + 1, key) == LUA_TNIL) {
    build(L, d, name, dtype, before);
    lua_pushvalue(L, -1);
    lua_setfield(L, top + 1, key);
  }
  clc_Kernel *k = clc_pushkernel(L, -1, name);
  lua_replace(L, top); /* in place of the device */
  lua_settop(L, top);
  return k;
}

#define NUMBERS 64 /* of a key, at most */

/* Pushes what tells a kernel from others: its name, what it is built with, and for which elements.
   Names are constants, and so are known by where they are. */
static void push_key(lua_State *L, const char *name, const clc_Dtype *dtype,
                     const clc_Field *fields, const void *row, const clc_Macro *macros) {
  size_t key[NUMBERS] = {(size_t)name, (size_t)dtype, (size_t)fields}, n = 3;
  for (const clc_Field *f = fields; f != NULL && f->name != NULL; f++)
    if (f->macro != NULL) key[n++] = *(const size_t *)((const char *)row + f->offset);
  for (const clc_Macro *m = macros; m->name != NULL; m++) {
    if (n + 2 > NUMBERS) luaL_error(L, "%s: too many macros", name);
    key[n++] = (size_t)m->name;
    key[n++] = m->value;
  }
  lua_pushlstring(L, (const char *)key, n * sizeof *key);
}

clc_Kernel *clc_pushtailored(lua_State *L, clc_Device *d, const char *name, const clc_Dtype *dtype,
                             const clc_Field *fields, const void *row, const clc_Macro *macros) {
  push_open(L, d, name);
  const int top = lua_gettop(L) - 1;
  push_key(L, name, dtype, fields, row, macros);
  lua_pushvalue(L, -1);
  lua_rawget(L, top + 1);
  clc_Kernel *k = clc_testhandle(L, -1, &clc_kerneltype);
  if (k == NULL) { /* or released since */
    lua_pop(L, 1);
    k = clc_prebuilt(L, d, name, dtype, clc_pushmacros(L, fields, row, macros));
    lua_pushvalue(L, top + 2);
    lua_pushvalue(L, -2);
    lua_rawset(L, top + 1);
  }
  lua_replace(L, top);
  lua_settop(L, top);
  return k;
}

static void check_name(lua_State *L, const char *name) {
  for (const char *p = name; *p != '\0'; p++)
    if (strchr("abcdefghijklmnopqrstuvwxyz0123456789_", *p) == NULL)
      luaL_argerror(L, 2, "a prebuilt kernel's name has small letters, digits and _ alone");
  if (*name == '\0') luaL_argerror(L, 2, "a prebuilt kernel's name expected, got \"\"");
}

/* Pushes the text of the option `preamble`, with a line that a \ at its end may take. A comment
   without an end would hide macros. */
static const char *push_preamble(lua_State *L) {
  const char *given = clc_stringoption(L, 3, "preamble", "");
  const char *text = lua_pushfstring(L, "%s\n\n", given);
  const char *plain = clc_pushplain(L, lua_pushfstring(L, "%s.", text));
  if (plain[strlen(plain) - 1] != '.') clc_optionerror(L, 3, "preamble", "a comment has no end");
  return text;
}

/* Pushes the preamble, whose lines messages count, and behind it the macros. */
static const char *push_before(lua_State *L) {
  clc_pushoption(L, 3, "defines");
  const char *defines = clc_pushdefines(L, 3, -1);
  if (clc_stringoption(L, 3, "preamble", NULL) == NULL) return defines;
  return lua_pushfstring(L, "#line 1 \"preamble\"\n%s%s", push_preamble(L), defines);
}

static int device_kernel(lua_State *L) {
  static const char *const keys[] = {"dtype", "defines", "preamble", NULL};
  clc_Device *d = clc_checkopen(L, 1);
  const char *name = luaL_checkstring(L, 2);
  lua_settop(L, 3);
  check_name(L, name);
  clc_checkoptions(L, 3, keys);
  clc_pushoption(L, 3, "dtype");
  const clc_Dtype *dtype = clc_optdtype(L, 4, "float");
  clc_prebuilt(L, d, name, dtype, push_before(L));
  return 1;
}

void clc_openprebuilt(lua_State *L) {
  static const clc_Function methods[] = {{"kernel", device_kernel, 2}, {NULL, NULL, 0}};
  clc_addmethods(L, &clc_devicetype, methods);
}
