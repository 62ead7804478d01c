/* SPDX-License-Identifier: MIT */
/* Requests: what d:program and d:is_built are called with, read into a source. */
#include "program.h"

#include <string.h>

#include "build.h"
#include "files/files.h"

#define COMPLEX_HEADER "clcompute/complex.h" /* of the library, for programs of scripts */

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

/* The text behind the byte order mark that some editors write before it. */
static const char *behind_mark(const char *text) {
  static const char mark[] = "\xef\xbb\xbf";
  return strncmp(text, mark, strlen(mark)) == 0 ? text + strlen(mark) : text;
}

static void check_name(lua_State *L, int arg, const char *name) {
  luaL_argcheck(L, *name != '\0', arg, "name is empty");
  luaL_argcheck(L, strpbrk(name, "\"\\\r\n") == NULL, arg,
                "name holds a quote, backslash or newline");
}

/* What p:save writes is no text. */
static void check_text(lua_State *L, const char *option, const char *path, int idx) {
  if (strlen(lua_tostring(L, idx)) != lua_rawlen(L, idx))
    clc_optionerror(L, 2, option, "%s holds a NUL byte; of a built program: {binary=\"%s\"}", path,
                    path);
}

/* Joins the files of the list at the top, which goes; leaves the text at index 2. */
static const char *take_files(lua_State *L, const char **own_folder) {
  const int list = lua_gettop(L), n = lua_istable(L, list) ? (int)lua_rawlen(L, list) : 0;
  if (n == 0) clc_optionerror(L, 2, "files", "list of paths expected");
  luaL_checkstack(L, 10, "files");
  lua_pushliteral(L, ""); /* the text */
  lua_pushliteral(L, ""); /* the folders */
  for (int i = 1; i <= n; i++) {
    if (lua_rawgeti(L, list, i) != LUA_TSTRING)
      clc_optionerror(L, 2, "files", "[%d]: path expected, got %s", i, luaL_typename(L, -1));
    const char *path = lua_tostring(L, -1);
    if (strcspn(path, "\"\\\r\n") < lua_rawlen(L, -1) || *path == '\0')
      clc_optionerror(L, 2, "files",
                      "[%d]: a path without quotes, backslashes and newlines expected", i);
    const char *text = clc_readfile(L, path);
    check_text(L, "files", path, -1);
    text = behind_mark(text);
    if (i == 1)
      lua_pushstring(L, text);
    else
      /* An empty line, for a backslash that ends a file. */
      lua_pushfstring(L, "%s\n" CLC_NEXTFILE "%s" CLC_NEXTFILEEND "%s", lua_tostring(L, list + 1),
                      path, text);
    lua_replace(L, list + 1);
    lua_pushfstring(L, "%s%s", lua_tostring(L, list + 2), push_own_folder(L, path));
    lua_replace(L, list + 2);
    lua_settop(L, list + 2);
  }
  *own_folder = lua_tostring(L, list + 2);
  lua_rawgeti(L, list, 1);
  lua_pushvalue(L, list + 1);
  lua_replace(L, 2);
  return lua_tostring(L, -1);
}

/* Leaves the text at index 2 and returns what logs call it; *own_folder: the options by
   which a compiler finds includes beside the files, or "". */
static const char *take_source(lua_State *L, const char **own_folder) {
  static const char *const keys[] = {"binary", "file", "files", NULL};
  *own_folder = "";
  if (lua_type(L, 2) == LUA_TSTRING) {
    refuse_name(L, 2);
    return CLC_UNNAMED;
  }
  luaL_argexpected(L, lua_istable(L, 2), 2, "string or {file=}");
  if (lua_rawlen(L, 2) > 0) clc_argerror(L, 2, "a list of files is {files={...}}");
  clc_checkoptions(L, 2, keys);
  if (clc_pushoption(L, 2, "files") != LUA_TNIL) return take_files(L, own_folder);
  lua_pop(L, 1);
  const char *path = clc_stringoption(L, 2, "file", NULL);
  if (path == NULL || *path == '\0') clc_optionerror(L, 2, "file", "path expected");
  path = lua_pushstring(L, path); /* the table goes */
  clc_readfile(L, path);
  lua_replace(L, 2);
  check_text(L, "file", path, 2);
  *own_folder = push_own_folder(L, path);
  return path;
}

clc_Source clc_takerequest(lua_State *L) {
  static const char *const keys[] = {"defines", "options", "include", "name", NULL};
  lua_settop(L, 3);
  if (lua_type(L, 3) == LUA_TSTRING)
    clc_argerror(L, 3, "options are a table: {options=\"%s\"}", lua_tostring(L, 3));
  clc_checkoptions(L, 3, keys);
  const char *own_folder;
  const char *file = take_source(L, &own_folder);
  const char *name = clc_stringoption(L, 3, "name", file);
  const char *options = clc_stringoption(L, 3, "options", "");
  if (strlen(lua_tostring(L, 2)) != lua_rawlen(L, 2))
    luaL_argerror(L, 2, "source holds a NUL byte");
  lua_pushstring(L, behind_mark(lua_tostring(L, 2)));
  lua_replace(L, 2);
  check_name(L, 3, name);
  options = clc_pushbuildoptions(L, 3, options);
  clc_pushoption(L, 3, "defines");
  const char *defines = clc_pushdefines(L, 3, -1);
  const char *includes = clc_pushincludes(L, 3);
  const int has_header = strstr(lua_tostring(L, 2), COMPLEX_HEADER) != NULL;
  const char *headers = has_header ? clc_pushheaderoption(L) : "";
  const char *all = lua_pushfstring(L, "%s%s%s%s", options, own_folder, includes, headers);
  return (clc_Source){lua_tostring(L, 2), name, defines, all};
}
