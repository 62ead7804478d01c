/* SPDX-License-Identifier: MIT */
/* Build options: what a script may tell the compiler. */
#include "program.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- defines ----------------------------------------------------------- */

static int is_identifier(const char *s) {
  if (isdigit((unsigned char)*s)) return 0;
  const char *start = s;
  while (isalnum((unsigned char)*s) || *s == '_') s++;
  return s > start && *s == '\0';
}

/* Pushes a floating literal that reads back as the same number, in any locale. */
static void push_literal(lua_State *L, double value) {
  char text[40];
  for (int digits = 15; digits <= 17; digits++) {
    snprintf(text, sizeof text, "%.*g", digits, value);
    if (strtod(text, NULL) == value) break;
  }
  char *point = strpbrk(text, ".,e");
  if (point == NULL)
    strcat(text, ".0");
  else if (*point == ',')
    *point = '.';
  lua_pushstring(L, text);
}

/* Pushes the value of a macro; false leaves it undefined. */
static int push_define_value(lua_State *L, int arg, const char *name) {
  switch (lua_type(L, -1)) {
    case LUA_TBOOLEAN: lua_pushliteral(L, "1"); return lua_toboolean(L, -2);
    case LUA_TNUMBER:
      if (lua_isinteger(L, -1))
        luaL_tolstring(L, -1, NULL);
      else if (isfinite(lua_tonumber(L, -1)))
        push_literal(L, lua_tonumber(L, -1));
      else
        clc_optionerror(L, arg, "defines", "%s is not finite; INFINITY and NAN as strings are",
                        name);
      return 1;
    case LUA_TSTRING:
      lua_pushvalue(L, -1);
      if (strpbrk(lua_tostring(L, -1), "\n\r\\") == NULL) return 1;
      clc_optionerror(L, arg, "defines", "the value of %s must stay on one line", name);
      return 0;
    default:
      clc_optionerror(L, arg, "defines", "number, string or boolean expected for %s, got %s", name,
                      luaL_typename(L, -1));
      return 0;
  }
}

/* Pops a string into its place in a sorted list. */
static void insert_sorted(lua_State *L, int list) {
  lua_Integer i = (lua_Integer)lua_rawlen(L, list);
  for (; i > 0; i--) {
    lua_rawgeti(L, list, i);
    if (strcmp(lua_tostring(L, -1), lua_tostring(L, -2)) <= 0) break;
    lua_rawseti(L, list, i + 1);
  }
  lua_settop(L, lua_gettop(L) - (i > 0));
  lua_rawseti(L, list, i + 1);
}

/* Pushes a list of the "#define" lines. Its order is not that of the table, which is another
   one in every process: what is built from it must be found in the cache again. */
static void push_lines(lua_State *L, int arg, int idx) {
  lua_newtable(L);
  const int list = lua_gettop(L);
  lua_pushnil(L);
  while (lua_next(L, idx)) {
    if (lua_type(L, -2) != LUA_TSTRING || !is_identifier(lua_tostring(L, -2)))
      clc_optionerror(L, arg, "defines", "'%s' is no identifier", luaL_tolstring(L, -2, NULL));
    const char *name = lua_tostring(L, -2);
    if (push_define_value(L, arg, name)) {
      lua_pushfstring(L, "#define %s %s\n", name, lua_tostring(L, -1));
      insert_sorted(L, list);
    }
    lua_settop(L, list + 1);
  }
}

const char *clc_pushdefines(lua_State *L, int arg, int idx) {
  luaL_Buffer b;
  idx = lua_absindex(L, idx);
  lua_pushliteral(L, "");
  if (lua_isnil(L, idx)) return lua_tostring(L, -1);
  if (!lua_istable(L, idx))
    clc_optionerror(L, arg, "defines", "table expected, got %s", luaL_typename(L, idx));
  push_lines(L, arg, idx);
  const int list = lua_gettop(L);
  luaL_buffinit(L, &b);
  for (lua_Integer i = 1; lua_rawgeti(L, list, i) != LUA_TNIL; i++) luaL_addvalue(&b);
  lua_pop(L, 1);
  luaL_pushresult(&b);
  lua_replace(L, list - 1);
  lua_settop(L, list - 1);
  return lua_tostring(L, -1);
}

/* --- options ----------------------------------------------------------- */

void clc_checkbuildoptions(lua_State *L, int arg, const char *options) {
  static const char *const allowed[] = {"-cl-", "-D", "-U", "-w", "-W", "-g", "-O", NULL};
  for (const char *p = options + strspn(options, " "); *p != '\0'; p += strspn(p, " ")) {
    const size_t length = strcspn(p, " ");
    int found = 0;
    for (int i = 0; allowed[i] != NULL; i++)
      found = found || strncmp(p, allowed[i], strlen(allowed[i])) == 0;
    found = found && strncmp(p, "-Wp,", 4) != 0 && strncmp(p, "-Wl,", 4) != 0 &&
            strncmp(p, "-Wa,", 4) != 0;              /* these pass options on */
    if (length == 2 && (p[1] == 'D' || p[1] == 'U')) /* POCL dies of one at the end */
      clc_optionerror(L, arg, "options", "'%s' must be followed by a name, without a blank",
                      lua_pushlstring(L, p, length));
    if (!found || strcspn(p, "\"\t\n\v\f\r") < length)
      clc_optionerror(L, arg, "options", "'%s' is none of -cl-..., -D, -U, -w, -W..., -g, -O",
                      lua_pushlstring(L, p, length));
    p += length;
  }
}

/* --- include ----------------------------------------------------------- */

const char *clc_pushincludes(lua_State *L, int arg) {
  if (clc_pushoption(L, arg, "include") == LUA_TNIL) {
    lua_pushliteral(L, "");
    return lua_tostring(L, -1);
  }
  if (!lua_istable(L, -1))
    clc_optionerror(L, arg, "include", "table of folders expected, got %s", luaL_typename(L, -1));
  const int dirs = lua_gettop(L);
  lua_pushliteral(L, "");
  for (lua_Integer i = 1; lua_rawgeti(L, dirs, i) != LUA_TNIL; i++) {
    const char *dir = lua_tostring(L, -1);
    if (dir == NULL || *dir == '\0' || strpbrk(dir, " \t\n\"") != NULL)
      clc_optionerror(L, arg, "include", "folder %d: a path without blanks or quotes expected",
                      (int)i);
    lua_pushfstring(L, "%s -I %s", lua_tostring(L, -2), dir);
    lua_replace(L, -3);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  return lua_tostring(L, -1);
}
