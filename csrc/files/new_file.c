/* SPDX-License-Identifier: MIT */
/* New files: written beside the one they replace, so that readers see a whole file. */
#define _XOPEN_SOURCE 700 /* realpath */
#include "new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define TRIES 100

/* What the file replaces. */
typedef struct {
  char path[PATH_MAX]; /* no symbolic link */
  int exists;
  struct stat status;
} Target;

static int fail(lua_State *L) {
  return luaL_error(L, "%s", strerror(errno));
}

/* A rename would turn a pipe or a device into a file, a link into what it does not
   point at, and would not ask whether the old file may be written. */
static void find_target(lua_State *L, const char *path, Target *t) {
  t->exists = realpath(path, t->path) != NULL;
  if (t->exists) {
    if (stat(t->path, &t->status) != 0) fail(L);
    if (!S_ISREG(t->status.st_mode)) luaL_error(L, "not a regular file");
    if (faccessat(AT_FDCWD, t->path, W_OK, AT_EACCESS) != 0) fail(L);
    return;
  }
  if (errno != ENOENT) fail(L);
  if (lstat(path, &t->status) == 0) luaL_error(L, "a symbolic link to nothing");
  if (strlen(path) >= sizeof t->path) luaL_error(L, "%s", strerror(ENAMETOOLONG));
  strcpy(t->path, path);
}

/* Pushes a name in the folder of the target, which a rename does not leave. */
static const char *push_name(lua_State *L, const char *target, int attempt) {
  struct timespec now;
  const char *slash = strrchr(target, '/');
  char unique[40];
  clock_gettime(CLOCK_REALTIME, &now);
  snprintf(unique, sizeof unique, "%lx-%lx-%x", (unsigned long)getpid(), (unsigned long)now.tv_nsec,
           (unsigned)attempt);
  lua_pushlstring(L, target, slash == NULL ? 0 : (size_t)(slash - target) + 1);
  lua_pushfstring(L, "%s.clcompute-%s", lua_tostring(L, -1), unique);
  lua_remove(L, -2);
  return lua_tostring(L, -1);
}

/* Opens a file that was not there and pushes its name. One that nobody has replaced
   yet gets the mode that the process gives new files. */
static int open_new(lua_State *L, const Target *t) {
  for (int attempt = 1;; attempt++) {
    const char *name = push_name(L, t->path, attempt);
    const int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, t->exists ? 0600 : 0666);
    if (fd >= 0) return fd;
    if (errno != EEXIST || attempt == TRIES) fail(L);
    lua_pop(L, 1);
  }
}

/* As far as the process may; what a group or an owner was allowed falls with them. */
static void keep_owner_and_mode(int fd, const struct stat *old) {
  mode_t mode = old->st_mode & 07777;
  if (fchown(fd, old->st_uid, old->st_gid) != 0) {
    mode &= (mode_t)~S_ISUID;
    if (fchown(fd, (uid_t)-1, old->st_gid) != 0) mode &= (mode_t) ~(S_ISGID | S_IRWXG);
  }
  (void)fchmod(fd, mode);
}

static int close_file(lua_State *L) {
  luaL_Stream *s = luaL_checkudata(L, 1, LUA_FILEHANDLE);
  return luaL_fileresult(L, fclose(s->f) == 0, NULL);
}

/* new_file(path): a Lua file open for writing, its name, and the name to give it when
   it is whole. */
static int new_file(lua_State *L) {
  Target t;
  find_target(L, luaL_checkstring(L, 1), &t);
  luaL_Stream *s = lua_newuserdatauv(L, sizeof *s, 0);
  s->closef = NULL; /* closed */
  luaL_setmetatable(L, LUA_FILEHANDLE);
  lua_pushstring(L, t.path);
  const int fd = open_new(L, &t);
  if (t.exists) keep_owner_and_mode(fd, &t.status);
  s->f = fdopen(fd, "wb");
  if (s->f == NULL) {
    const int code = errno;
    close(fd);
    unlink(lua_tostring(L, -1));
    luaL_error(L, "%s", strerror(code));
  }
  s->closef = close_file;
  lua_insert(L, -2);
  return 3;
}

void clc_opennewfiles(lua_State *L) {
  lua_pushcfunction(L, new_file);
  lua_setfield(L, -2, "new_file");
}
