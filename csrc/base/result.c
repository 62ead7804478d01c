/* SPDX-License-Identifier: MIT */
/* Tables that calls return: plain, but print shows what is in them. */
#include "base.h"

#include <stdio.h>
#include <string.h>

#define SHOWN 6 /* elements of a list in a field */

/* Replaces the value at the top by its text; of a float 6 digits. */
static void to_text(lua_State *L) {
  char text[32];
  if (lua_type(L, -1) == LUA_TNUMBER && !lua_isinteger(L, -1)) {
    snprintf(text, sizeof text, "%.6g", (double)lua_tonumber(L, -1));
    lua_pushstring(L, text);
  } else {
    luaL_tolstring(L, -1, NULL);
  }
  lua_remove(L, -2);
}

/* Replaces the list at the top by its first elements as text. */
static void to_elements(lua_State *L) {
  const int list = lua_gettop(L);
  const lua_Unsigned n = lua_rawlen(L, list);
  luaL_Buffer text;
  luaL_buffinit(L, &text);
  luaL_addchar(&text, '{');
  for (lua_Unsigned i = 1; i <= n && i <= SHOWN; i++) {
    if (i > 1) luaL_addstring(&text, ", ");
    lua_rawgeti(L, list, (lua_Integer)i);
    to_text(L);
    luaL_addvalue(&text);
  }
  luaL_addstring(&text, n > SHOWN ? ", ...}" : "}");
  luaL_pushresult(&text);
  lua_remove(L, list);
}

/* Upvalue 1: the text of an empty list. */
static int list_tostring(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  const lua_Unsigned n = lua_rawlen(L, 1);
  luaL_Buffer text;
  if (n == 0) {
    lua_pushvalue(L, lua_upvalueindex(1));
    return 1;
  }
  luaL_buffinit(L, &text);
  for (lua_Unsigned i = 1; i <= n; i++) {
    if (i > 1) luaL_addchar(&text, '\n');
    lua_rawgeti(L, 1, (lua_Integer)i);
    to_text(L);
    luaL_addvalue(&text);
  }
  luaL_pushresult(&text);
  return 1;
}

/* Upvalue 1: the keys. */
static int record_tostring(lua_State *L) {
  const char *const *keys = lua_touserdata(L, lua_upvalueindex(1));
  const char *separator = "";
  luaL_Buffer text;
  luaL_checktype(L, 1, LUA_TTABLE);
  luaL_buffinit(L, &text);
  for (; *keys != NULL; keys++) {
    lua_pushstring(L, *keys);
    lua_rawget(L, 1);
    if (lua_isnil(L, -1)) {
      lua_pop(L, 1);
      continue;
    }
    if (lua_istable(L, -1))
      to_elements(L);
    else
      to_text(L);
    lua_pushfstring(L, "%s%s = %s", separator, *keys, lua_tostring(L, -1));
    lua_remove(L, -2);
    luaL_addvalue(&text);
    separator = ", ";
  }
  luaL_pushresult(&text);
  return 1;
}

/* Pushes a list of the names of a table's fields, in order. */
static void push_sorted_names(lua_State *L, int table) {
  lua_newtable(L);
  const int list = lua_gettop(L);
  lua_pushnil(L);
  while (lua_next(L, table)) {
    lua_pop(L, 1);
    if (lua_type(L, -1) != LUA_TSTRING) continue;
    lua_Integer i = (lua_Integer)lua_rawlen(L, list);
    for (; i > 0; i--) {
      lua_rawgeti(L, list, i);
      const int sorted = strcmp(lua_tostring(L, -1), lua_tostring(L, -2)) <= 0;
      if (sorted) lua_pop(L, 1);
      if (sorted) break;
      lua_rawseti(L, list, i + 1);
    }
    lua_pushvalue(L, -1);
    lua_rawseti(L, list, i + 1);
  }
}

static int fields_tostring(lua_State *L) {
  luaL_Buffer text;
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 1);
  push_sorted_names(L, 1);
  luaL_buffinit(L, &text);
  for (lua_Integer i = 1; lua_rawgeti(L, 2, i) != LUA_TNIL; i++) {
    lua_pushvalue(L, -1);
    lua_rawget(L, 1);
    if (lua_istable(L, -1))
      to_elements(L);
    else
      to_text(L);
    lua_pushfstring(L, "%s%s = %s", i > 1 ? "\n" : "", lua_tostring(L, -2), lua_tostring(L, -1));
    lua_replace(L, -3);
    lua_pop(L, 1);
    luaL_addvalue(&text);
  }
  lua_pop(L, 1);
  luaL_pushresult(&text);
  return 1;
}

/* Sets the metatable; the function at the top is its __tostring. */
static void set_metatable(lua_State *L, const char *name) {
  luaL_newmetatable(L, name);
  lua_insert(L, -2);
  lua_setfield(L, -2, "__tostring");
  lua_setmetatable(L, -2);
}

void clc_namelist(lua_State *L, const char *name, const char *empty) {
  lua_pushstring(L, empty);
  lua_pushcclosure(L, list_tostring, 1);
  set_metatable(L, name);
}

void clc_namerecord(lua_State *L, const char *name, const char *const keys[]) {
  lua_pushlightuserdata(L, (void *)keys);
  lua_pushcclosure(L, record_tostring, 1);
  set_metatable(L, name);
}

void clc_namefields(lua_State *L, const char *name) {
  lua_pushcfunction(L, fields_tostring);
  set_metatable(L, name);
}
