/* SPDX-License-Identifier: MIT */
/* Build options: what a script may tell the compiler. */
#include "program.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- defines ----------------------------------------------------------- */

static int is_identifier(const char *s, size_t length) {
  const char *end = s;
  if (isdigit((unsigned char)*s)) return 0;
  while (isalnum((unsigned char)*end) || *end == '_') end++;
  return length > 0 && end == s + length;
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
      if (strcspn(lua_tostring(L, -1), "\n\r\\") == lua_rawlen(L, -1)) return 1;
      clc_optionerror(L, arg, "defines",
                      "the value of %s must stay on one line, without a NUL byte", name);
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
    if (lua_type(L, -2) != LUA_TSTRING || !is_identifier(lua_tostring(L, -2), lua_rawlen(L, -2)))
      clc_optionerror(L, arg, "defines", "'%s' is no identifier: names are keys, as in { N = 4 }",
                      luaL_tolstring(L, -2, NULL));
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

/* A word of the options: up to a blank. */
static const char *push_word(lua_State *L, const char **p) {
  *p += strspn(*p, " ");
  const char *word = lua_pushlstring(L, *p, strcspn(*p, " "));
  *p += strlen(word);
  return word;
}

/* Whether an option defines or undefines a macro or names a folder, whose name may follow a blank.
 */
static int takes_name(const char *word) {
  return word[0] == '-' && word[1] != '\0' && strchr("DUI", word[1]) != NULL;
}

/* What passes options on to other programs, or names files and plug-ins, is none of them. */
static int is_allowed(const char *word) {
  static const char *const allowed[] = {"-cl-", "-w", "-W", "-g", "-O", NULL};
  static const char *const refused[] = {"-Wp,", "-Wl,", "-Wa,", NULL};
  for (int i = 0; refused[i] != NULL; i++)
    if (strncmp(word, refused[i], strlen(refused[i])) == 0) return 0;
  for (int i = 0; allowed[i] != NULL; i++)
    if (strncmp(word, allowed[i], strlen(allowed[i])) == 0) return 1;
  return takes_name(word);
}

#define IN_DEFINES "values with blanks or quotes go into defines, a table"

static void refuse_word(lua_State *L, int arg, const char *word, const char *all) {
  const int quotes = strpbrk(all, "\"'\\") != NULL;
  clc_optionerror(L, arg, "options", "'%s' is none of -cl-..., -D, -U, -I, -w, -W..., -g, -O%s",
                  word, quotes ? "; " IN_DEFINES : "");
}

/* Drivers read quotes each in its own way. */
static void check_quotes(lua_State *L, int arg, const char *word) {
  if (strpbrk(word, "\"\t\n\v\f\r") != NULL)
    clc_optionerror(L, arg, "options", "'%s' is no plain word; " IN_DEFINES, word);
}

/* Pushes the next option at *p as compilers of all drivers take it: "-DX=1", "-I dir". */
static const char *push_option(lua_State *L, int arg, const char **p, const char *all) {
  const char *word = push_word(L, p), *name = word + 2;
  const int is_named = takes_name(word);
  if (is_named && *name == '\0') name = push_word(L, p);
  if (!is_allowed(word)) refuse_word(L, arg, word, all);
  check_quotes(L, arg, word);
  if (is_named) check_quotes(L, arg, name);
  if (!is_named) return word;
  if (*name == '\0' || *name == '-') /* POCL dies of one at the end */
    clc_optionerror(L, arg, "options", "'%s' must be followed by a name", word);
  return word[1] == 'I' ? lua_pushfstring(L, "-I %s", name)
                        : lua_pushfstring(L, "-%c%s", word[1], name);
}

const char *clc_pushbuildoptions(lua_State *L, int arg, const char *options) {
  const int top = lua_gettop(L);
  lua_pushliteral(L, "");
  for (const char *p = options + strspn(options, " "); *p != '\0'; p += strspn(p, " ")) {
    const char *option = push_option(L, arg, &p, options), *all = lua_tostring(L, top + 1);
    lua_pushfstring(L, "%s%s%s", all, *all != '\0' ? " " : "", option);
    lua_replace(L, top + 1);
    lua_settop(L, top + 1);
  }
  return lua_tostring(L, -1);
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
    if (dir == NULL || *dir == '\0' || strcspn(dir, " \t\n\"") < lua_rawlen(L, -1))
      clc_optionerror(L, arg, "include", "folder %d: a path without blanks or quotes expected",
                      (int)i);
    lua_pushfstring(L, "%s -I %s", lua_tostring(L, -2), dir);
    lua_replace(L, -3);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  return lua_tostring(L, -1);
}
