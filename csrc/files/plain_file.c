/* SPDX-License-Identifier: MIT */
/* Plain files, opened or read as a whole: to open a pipe that nobody writes would never end. */
#define _POSIX_C_SOURCE 200809L
#include "plain_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOT_PLAIN ESPIPE /* errno where a path is a pipe, a socket or a device */

static const char *reason(void) {
  return errno == NOT_PLAIN ? "a plain file expected, not a pipe, socket or device"
                            : strerror(errno);
}

static void close_quietly(int fd) {
  const int code = errno;
  close(fd);
  errno = code;
}

/* A descriptor of a plain file with its size; -1 with errno set. */
static int open_descriptor(const char *path, off_t *size) {
  struct stat s;
  const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  if (fd < 0) {
    if (errno == ENXIO) errno = NOT_PLAIN; /* a socket */
    return -1;
  }
  if (fstat(fd, &s) == 0) {
    *size = s.st_size;
    if (S_ISREG(s.st_mode)) return fd;
    errno = S_ISDIR(s.st_mode) ? EISDIR : NOT_PLAIN;
  }
  close_quietly(fd);
  return -1;
}

/* --- as a stream ------------------------------------------------------- */

static int close_file(lua_State *L) {
  luaL_Stream *s = luaL_checkudata(L, 1, LUA_FILEHANDLE);
  return luaL_fileresult(L, fclose(s->f) == 0, NULL);
}

/* open_plain(path): a Lua file open for reading. */
static int open_plain(lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  off_t size;
  luaL_Stream *s = lua_newuserdatauv(L, sizeof *s, 0);
  s->closef = NULL; /* closed */
  luaL_setmetatable(L, LUA_FILEHANDLE);
  const int fd = open_descriptor(path, &size);
  s->f = fd >= 0 ? fdopen(fd, "rb") : NULL;
  if (s->f == NULL) {
    if (fd >= 0) close_quietly(fd);
    luaL_error(L, "%s", reason());
  }
  s->closef = close_file;
  return 1;
}

void clc_openplainfiles(lua_State *L) {
  lua_pushcfunction(L, open_plain);
  lua_setfield(L, -2, "open_plain");
}

/* --- as a whole -------------------------------------------------------- */

/* -1 with errno set. */
static off_t find_size(const char *path) {
  off_t size = -1;
  const int fd = open_descriptor(path, &size);
  if (fd < 0) return -1;
  close(fd);
  return size;
}

/* How many bytes there were, or -1 with errno set. */
static ssize_t read_bytes(const char *path, char *to, size_t most) {
  off_t size;
  size_t n = 0;
  ssize_t got = 1;
  const int fd = open_descriptor(path, &size);
  if (fd < 0) return -1;
  while (n < most && got != 0) {
    got = read(fd, to + n, most - n);
    if (got < 0 && errno != EINTR) break;
    if (got > 0) n += (size_t)got;
  }
  close_quietly(fd);
  return n < most && got < 0 ? -1 : (ssize_t)n;
}

static void check_plain(lua_State *L, const char *path, intmax_t result) {
  if (result < 0 && errno == NOT_PLAIN) luaL_error(L, "%s: %s", path, reason());
}

/* No file is open across a call that may raise. */
const char *clc_pushfile(lua_State *L, const char *path, size_t most) {
  const off_t size = find_size(path);
  check_plain(L, path, size);
  if (size >= 0 && (uintmax_t)size > most) errno = EFBIG;
  if (size < 0 || (uintmax_t)size > most) return NULL;
  char *bytes = lua_newuserdatauv(L, (size_t)size + 1, 0);
  const ssize_t n = read_bytes(path, bytes, (size_t)size);
  check_plain(L, path, n);
  if (n >= 0) lua_pushlstring(L, bytes, (size_t)n);
  lua_remove(L, n >= 0 ? -2 : -1);
  return n >= 0 ? lua_tostring(L, -1) : NULL;
}

const char *clc_readfile(lua_State *L, const char *path) {
  const char *bytes = clc_pushfile(L, path, PTRDIFF_MAX);
  if (bytes == NULL) luaL_error(L, "%s: %s", path, reason());
  return bytes;
}
