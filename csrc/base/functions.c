/* SPDX-License-Identifier: MIT */
/* Functions as scripts call them: each refuses more arguments than it takes, which Lua would drop
   without a word. */
#include "base.h"

/* Where the first argument too many is a table of options, names one of them: the function may have
   it, behind fewer arguments. */
static void push_option(lua_State *L, int arg) {
  lua_pushliteral(L, "");
  if (!lua_istable(L, arg) || clc_isobject(L, arg)) return;
  for (lua_pushnil(L); lua_next(L, arg) != 0; lua_pop(L, 1)) {
    if (lua_type(L, -2) != LUA_TSTRING) continue;
    lua_pushfstring(L, "; the table with '%s' is too many", lua_tostring(L, -2));
    return;
  }
}

void clc_checkcount(lua_State *L, const char *name, int most, int self) {
  int given = lua_gettop(L);
  while (given > self + most && lua_isnil(L, given)) given--;
  if (given > self + most) {
    push_option(L, self + most + 1);
    const char *option = lua_tostring(L, -1);
    const char *expected = most == 0 ? "no argument" : lua_pushfstring(L, "at most %d", most);
    const char *noun = most == 0 ? "" : most == 1 ? " argument" : " arguments";
    luaL_error(L, "%s: %s%s expected, got %d%s", name, expected, noun, given - self, option);
  }
  lua_settop(L, given);
}

/* Upvalue: the row. */
static int call_function(lua_State *L) {
  const clc_Function *f = lua_touserdata(L, lua_upvalueindex(1));
  if (lua_gettop(L) > f->most) clc_checkcount(L, f->name, f->most, 0);
  return f->call(L);
}

static int call_method(lua_State *L) {
  const clc_Function *f = lua_touserdata(L, lua_upvalueindex(1));
  if (lua_gettop(L) > 1 + f->most) clc_checkcount(L, f->name, f->most, 1);
  return f->call(L);
}

/* Pushes the function that runs, and returns what it is in C. */
static lua_CFunction push_running(lua_State *L) {
  lua_Debug running;
  lua_getstack(L, 0, &running);
  lua_getinfo(L, "f", &running);
  return lua_tocfunction(L, -1);
}

int clc_inmethod(lua_State *L) {
  const int is_method = push_running(L) == call_method;
  lua_pop(L, 1);
  return is_method;
}

const char *clc_pushrunning(lua_State *L) {
  const lua_CFunction call = push_running(L);
  if (call == call_function || call == call_method) {
    lua_getupvalue(L, -1, 1);
    const clc_Function *f = lua_touserdata(L, -1);
    lua_pop(L, 2);
    return lua_pushfstring(L, "%s: ", f->name);
  }
  lua_pop(L, 1);
  return lua_pushliteral(L, "");
}

static void set_rows(lua_State *L, const clc_Function *rows, lua_CFunction call) {
  for (const clc_Function *f = rows; f->name != NULL; f++) {
    lua_pushlightuserdata(L, (void *)f);
    lua_pushcclosure(L, call, 1);
    lua_setfield(L, -2, f->name);
  }
}

void clc_setfunctions(lua_State *L, const clc_Function *functions) {
  set_rows(L, functions, call_function);
}

void clc_setmethods(lua_State *L, const clc_Function *methods) {
  set_rows(L, methods, call_method);
}
