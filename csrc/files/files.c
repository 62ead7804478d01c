/* SPDX-License-Identifier: MIT */
/* Files: plain ones, read as a stream or as a whole; new ones; and folders. */
#define _GNU_SOURCE /* realpath, faccessat */
#include "files.h"

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

/* --- plain files: to open a pipe that nobody writes would never end -------- */

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

/* --- new files: written beside the one they replace, so that readers see a whole file --- */

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

/* --- folders --------------------------------------------------------------- */

void clc_pushwritten(lua_State *L, int descriptor) {
  luaL_Buffer text;
  ssize_t n;
  luaL_buffinit(L, &text);
  for (off_t at = 0; (n = pread(descriptor, luaL_prepbuffer(&text), LUAL_BUFFERSIZE, at)) > 0;
       at += n)
    luaL_addsize(&text, (size_t)n);
  luaL_pushresult(&text);
}

void clc_makefolders(lua_State *L, const char *path) {
  const int is_for_all = clc_fillsforall(L);
  char *copy = strcpy(lua_newuserdatauv(L, strlen(path) + 1, 0), path);
  for (char *p = copy + 1; (p = strchr(p, '/')) != NULL; p++) {
    *p = '\0';
    if (mkdir(copy, 0700) == 0 && is_for_all) chmod(copy, 0755); /* whatever umask is */
    *p = '/';
  }
  lua_pop(L, 1);
}

const char *clc_pushkernelfolder(lua_State *L) {
  if (clc_getinternal(L, "kernel_folder") == LUA_TSTRING) return lua_tostring(L, -1);
  lua_pop(L, 1);
  return lua_pushliteral(L, "kernels");
}

/* --- texts that outlast a process ---------------------------------------------- */

/* cache_folder() --> the folder of compiled programs and verdicts; nil where nothing is kept. */
static int cache_folder(lua_State *L) {
  if (clc_pushcachefolder(L) == NULL) lua_pushnil(L);
  return 1;
}

/* cache_folders() --> those to read from, the own one first. */
static int cache_folders(lua_State *L) {
  clc_pushcachefolders(L);
  return 1;
}

/* make_folders(path): makes the folder of a path and those above it. */
static int make_folders(lua_State *L) {
  clc_makefolders(L, luaL_checkstring(L, 1));
  return 0;
}

/* append_text(path, text) --> whether the text stands at the end of a plain file now. One write:
   processes do not mix their texts. A pipe is refused, whose reader the writer would wait for. */
static int append_text(lua_State *L) {
  size_t n;
  struct stat st;
  const char *path = luaL_checkstring(L, 1), *text = luaL_checklstring(L, 2, &n);
  const int fd =
      open(path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600);
  int added =
      fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && write(fd, text, n) == (ssize_t)n;
  if (fd >= 0 && close(fd) != 0) added = 0;
  lua_pushboolean(L, added);
  return 1;
}

#define MOST_KEPT (1 << 20) /* bytes of verdicts: then they begin anew */

/* read_own(path) --> what a file of the cache holds; "" where others may write it, or it
   is too long. */
static int read_own(lua_State *L) {
  struct stat st;
  const char *path = luaL_checkstring(L, 1);
  char *text = lua_newuserdatauv(L, MOST_KEPT + 1, 0);
  const int fd = clc_openown(path, O_RDONLY, &st);
  const ssize_t n = fd >= 0 && st.st_size <= MOST_KEPT ? read(fd, text, MOST_KEPT) : 0;
  if (fd >= 0) close(fd);
  lua_pushlstring(L, text, n > 0 ? (size_t)n : 0);
  return 1;
}

/* append_own(path, text) --> whether the text stands at the end of a file of the cache now. */
static int append_own(lua_State *L) {
  size_t n;
  struct stat st;
  const char *path = luaL_checkstring(L, 1), *text = luaL_checklstring(L, 2, &n);
  const int fd = clc_openown(path, O_WRONLY | O_APPEND | O_CREAT, &st);
  const int has_room = fd >= 0 && (st.st_size + (off_t)n <= MOST_KEPT || ftruncate(fd, 0) == 0);
  int added = has_room && write(fd, text, n) == (ssize_t)n;
  if (added && clc_fillsforall(L)) fchmod(fd, CLC_FORALL);
  if (fd >= 0 && close(fd) != 0) added = 0;
  lua_pushboolean(L, added);
  return 1;
}

/* name_text(text) --> sixteen digits */
static int name_text(lua_State *L) {
  size_t n;
  const char *text = luaL_checklstring(L, 1, &n);
  char digits[17];
  snprintf(digits, sizeof digits, "%016llx", (unsigned long long)clc_hash(CLC_HASHSTART, text, n));
  lua_pushstring(L, digits);
  return 1;
}

void clc_openfiles(lua_State *L) {
  static const luaL_Reg functions[] = {
      {"append_own", append_own},     {"append_text", append_text},
      {"cache_folder", cache_folder}, {"cache_folders", cache_folders},
      {"make_folders", make_folders}, {"name_text", name_text},
      {"new_file", new_file},         {"open_plain", open_plain},
      {"read_own", read_own},         {NULL, NULL}};
  clc_addinternal(L, functions);
  clc_openlocks(L);
}
