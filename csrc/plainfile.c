/* SPDX-License-Identifier: MIT */
/* Plain files opened for reading: a pipe that nobody writes would keep an open for ever. */
#define _POSIX_C_SOURCE 200809L
#include "plainfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int close_file(lua_State *L) {
  luaL_Stream *s = luaL_checkudata(L, 1, LUA_FILEHANDLE);
  return luaL_fileresult(L, fclose(s->f) == 0, NULL);
}

/* The stream of a descriptor of a plain file, else NULL with the reason in *why. */
static FILE *to_stream(int fd, const char **why) {
  struct stat status;
  FILE *f = NULL;
  if (fd >= 0 && fstat(fd, &status) == 0) {
    if (S_ISREG(status.st_mode))
      f = fdopen(fd, "rb");
    else if (S_ISDIR(status.st_mode))
      errno = EISDIR;
    else {
      *why = "a plain file expected, not a pipe, socket or device";
      return NULL;
    }
  }
  if (f == NULL) *why = strerror(errno);
  return f;
}

/* open_plain(path): a Lua file open for reading. */
static int open_plain(lua_State *L) {
  const char *path = luaL_checkstring(L, 1), *why = NULL;
  luaL_Stream *s = lua_newuserdatauv(L, sizeof *s, 0);
  s->closef = NULL; /* closed */
  luaL_setmetatable(L, LUA_FILEHANDLE);
  const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  s->f = to_stream(fd, &why);
  if (s->f == NULL) {
    if (fd >= 0) close(fd);
    luaL_error(L, "%s", why);
  }
  s->closef = close_file;
  return 1;
}

void clc_openplainfiles(lua_State *L) {
  lua_pushcfunction(L, open_plain);
  lua_setfield(L, -2, "open_plain");
}
