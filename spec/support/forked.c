/* SPDX-License-Identifier: MIT */
/* What a function says in a forked child. */
#include <lauxlib.h>
#include <lua.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* call(f): runs f() in a child; returns its result or message as a string, at most 999
   bytes of it. The child ends without closing the state. */
static int forked_call(lua_State *L) {
  char text[1000];
  int ends[2];
  luaL_checktype(L, 1, LUA_TFUNCTION);
  lua_settop(L, 1);
  if (pipe(ends) != 0) return luaL_error(L, "pipe failed");
  const pid_t child = fork();
  if (child < 0) return luaL_error(L, "fork failed");
  if (child == 0) {
    size_t length;
    lua_pcall(L, 0, 1, 0);
    const char *result = luaL_tolstring(L, -1, &length);
    const ssize_t written = write(ends[1], result, length < sizeof text ? length : sizeof text - 1);
    _exit(written < 0);
  }
  close(ends[1]);
  const ssize_t length = read(ends[0], text, sizeof text - 1);
  close(ends[0]);
  waitpid(child, NULL, 0);
  lua_pushlstring(L, text, length > 0 ? (size_t)length : 0);
  return 1;
}

int luaopen_forked(lua_State *L) {
  static const luaL_Reg functions[] = {{"call", forked_call}, {NULL, NULL}};
  luaL_newlib(L, functions);
  return 1;
}
