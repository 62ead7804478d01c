/* SPDX-License-Identifier: MIT */
/*
 * Cache: compiled programs kept on disk (Borisov 2015, section 3).
 *
 * A file is a header, the whole key, the declarations of the kernels and the
 * binary. A driver may die of a damaged binary, so nothing is handed out that is
 * not what was written: lengths, checksum and key are compared first. Whatever is
 * wrong with file or folder means "not there", never an error.
 *
 * The key is text, which this file only compares; clc_pushkey (csrc/program/binary.c) makes it.
 */
#define _GNU_SOURCE /* mkostemp */
#include "files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MAGIC UINT64_C(0x65686361636c6c63) /* "cllcache" */
#define LARGEST ((uint64_t)64 << 20)       /* bytes of a file */
#define DAY 86400
#define DIGITS 16 /* hex digits of a file's name before the suffix */
#define SUFFIX ".bin"
#define NAME_ROOM (DIGITS + sizeof SUFFIX)
#define LIMIT ((uint64_t)256 << 20) /* bytes; then the oldest files go */
#define KEPT (LIMIT / 4 * 3)        /* what is left of them */
#define UNSEEN (LIMIT / 8)          /* bytes a state may store before it looks again */
#define ALL_USERS "/var/cache/clcompute"
#define LEAST ((uint64_t)64 << 10) /* bytes a file counts as: so many are kept, though empty */

/* --- the folder, which does not grow for ever ------------------------------ */

static const char stored_key = 0; /* registry: bytes stored since the size was looked at */

static uint64_t weigh(uint64_t bytes) {
  return bytes > LEAST ? bytes : LEAST;
}

static int is_off(const char *variable) {
  const char *value = getenv(variable);
  return value != NULL && strcmp(value, "off") == 0;
}

int clc_fillsforall(lua_State *L) {
  clc_getinternal(L, "fills_for_all");
  const int fills = lua_toboolean(L, -1);
  lua_pop(L, 1);
  return fills;
}

/* Pushes the folder of all users of the machine, or returns NULL. */
static const char *push_common_folder(lua_State *L) {
  const char *given = getenv("CLCOMPUTE_SYSTEM_CACHE");
  if (is_off("CLCOMPUTE_SYSTEM_CACHE")) return NULL;
  return lua_pushstring(L, given != NULL && *given != '\0' ? given : ALL_USERS);
}

const char *clc_pushcachefolder(lua_State *L) {
  const char *own = getenv("CLCOMPUTE_CACHE"), *all = getenv("XDG_CACHE_HOME"),
             *home = getenv("HOME");
  if (clc_fillsforall(L)) return push_common_folder(L);
  if (is_off("CLCOMPUTE_CACHE")) return NULL;
  if (own != NULL && *own != '\0') return lua_pushstring(L, own);
  if (all != NULL && *all == '/') return lua_pushfstring(L, "%s/clcompute", all);
  if (home != NULL && *home == '/') return lua_pushfstring(L, "%s/.cache/clcompute", home);
  return NULL;
}

/* Whether nobody but root and who reads it may have written it. */
static int is_trusted(const struct stat *st) {
  return (st->st_uid == 0 || st->st_uid == geteuid()) && (st->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

enum { OWN, COMMON, FOLDERS };

/* Pushes one of the folders to read from; NULL, and nothing pushed: there is none. Who fills that
   of all users has no other. */
static const char *push_folder(lua_State *L, int which) {
  struct stat st;
  const int fills = clc_fillsforall(L);
  if (which == OWN && !fills) return clc_pushcachefolder(L);
  if (which == COMMON && (fills || is_off("CLCOMPUTE_CACHE"))) return NULL;
  const char *folder = push_common_folder(L);
  if (folder == NULL || (stat(folder, &st) == 0 && is_trusted(&st))) return folder;
  lua_pop(L, 1);
  return NULL;
}

size_t clc_pushcachefolders(lua_State *L) {
  lua_newtable(L);
  for (int which = OWN; which < FOLDERS; which++)
    if (push_folder(L, which) != NULL) lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
  return (size_t)lua_rawlen(L, -1);
}

typedef struct {
  time_t time;
  uint64_t weight;
  char name[NAME_ROOM];
} Entry;

static int older_first(const void *a, const void *b) {
  const time_t s = ((const Entry *)a)->time, t = ((const Entry *)b)->time;
  return (s > t) - (s < t);
}

/* Fills `entries` (NULL: only counts) with up to `room` files of the cache, and
   removes what a killed process has left half written. */
static size_t list(const char *folder, Entry *entries, size_t room) {
  size_t n = 0;
  DIR *dir = opendir(folder);
  if (dir == NULL) return 0;
  const struct dirent *d;
  while ((d = readdir(dir)) != NULL && n < room) {
    struct stat st;
    const size_t hex = strspn(d->d_name, "0123456789abcdef");
    if (hex != DIGITS || strncmp(d->d_name + DIGITS, SUFFIX, strlen(SUFFIX)) != 0 ||
        fstatat(dirfd(dir), d->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode))
      continue;
    if (d->d_name[DIGITS + strlen(SUFFIX)] != '\0') {
      if (st.st_mtime < time(NULL) - DAY) unlinkat(dirfd(dir), d->d_name, 0);
      continue;
    }
    if (entries != NULL) {
      entries[n].time = st.st_mtime;
      entries[n].weight = weigh((uint64_t)st.st_size);
      strcpy(entries[n].name, d->d_name);
    }
    n++;
  }
  closedir(dir);
  return n;
}

/* Counts what is stored; whether it is time to look at the size of all. */
static int is_due(lua_State *L, uint64_t stored) {
  const int first = lua_rawgetp(L, LUA_REGISTRYINDEX, &stored_key) == LUA_TNIL;
  const lua_Integer sum = lua_tointeger(L, -1) + (lua_Integer)stored;
  const int due = first || sum >= (lua_Integer)UNSEEN;
  lua_pushinteger(L, due ? 0 : sum);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &stored_key);
  lua_pop(L, 1);
  return due;
}

static void trim(lua_State *L, const char *folder) {
  uint64_t sum = 0;
  size_t n = list(folder, NULL, SIZE_MAX);
  Entry *entries = lua_newuserdatauv(L, (n + 1) * sizeof *entries, 0);
  n = list(folder, entries, n);
  for (size_t i = 0; i < n; i++) sum += entries[i].weight;
  int64_t excess = sum > LIMIT ? (int64_t)(sum - KEPT) : 0;
  qsort(entries, n, sizeof *entries, older_first);
  for (size_t i = 0; excess > 0 && i < n; i++) {
    remove(lua_pushfstring(L, "%s/%s", folder, entries[i].name));
    lua_pop(L, 1);
    excess -= (int64_t)entries[i].weight;
  }
}

/* Told of a file that was stored: with the first of a state, and again after so many bytes,
   removes the oldest files of the cache when all are too large together, or too many. */
static void trim_cache(lua_State *L, uint64_t stored) {
  const int top = lua_gettop(L);
  const char *folder = is_due(L, weigh(stored)) ? clc_pushcachefolder(L) : NULL;
  if (folder != NULL) trim(L, folder);
  lua_settop(L, top);
}

/* --- the format of a file -------------------------------------------------- */

enum { KEY, DECLARATIONS, BINARY };

/* Pushes the path of the file for a key in one of the folders, or returns NULL. */
static const char *push_path(lua_State *L, int key, int which) {
  char name[NAME_ROOM];
  size_t n;
  const char *folder = push_folder(L, which);
  if (folder == NULL) return NULL;
  const char *text = lua_tolstring(L, key, &n);
  snprintf(name, sizeof name, "%016llx" SUFFIX,
           (unsigned long long)clc_hash(CLC_HASHSTART, text, n));
  const char *path = lua_pushfstring(L, "%s/%s", folder, name);
  lua_remove(L, -2);
  return path;
}

/* --- reading ----------------------------------------------------------- */

int clc_openown(const char *path, int flags, struct stat *st) {
  const int fd = open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0600);
  if (fd < 0) return -1;
  if (fstat(fd, st) == 0 && S_ISREG(st->st_mode) && is_trusted(st)) return fd;
  close(fd);
  return -1;
}

/* A plain file's reads are not interrupted; where a file system has it otherwise, the program is
   compiled. */
static int read_all(int fd, char *p, size_t n) {
  while (n > 0) {
    const ssize_t got = read(fd, p, n);
    if (got <= 0) return 0;
    p += got;
    n -= (size_t)got;
  }
  return 1;
}

/* In use: among the oldest no more. Once a day will do. */
static void note_use(int fd, const struct stat *st) {
  if (st->st_mtime < time(NULL) - DAY) futimens(fd, NULL);
}

/* Pushes all of a file as a block and returns its size; 0: there is none. */
static size_t push_bytes(lua_State *L, const char *path) {
  struct stat st;
  int fd = clc_openown(path, O_RDONLY, &st);
  if (fd < 0) return 0;
  close(fd); /* allocating may raise */
  const size_t n = (size_t)st.st_size;
  if (st.st_size < (off_t)sizeof(clc_Seal) || n > LARGEST) return 0;
  char *bytes = lua_newuserdatauv(L, n, 0);
  fd = clc_openown(path, O_RDONLY, &st);
  const int read = fd >= 0 && read_all(fd, bytes, n);
  if (read) note_use(fd, &st);
  if (fd >= 0) close(fd);
  if (read) return n;
  lua_pop(L, 1);
  return 0;
}

/* Whether n bytes are what was written for the key; tells the sections. */
static int is_sound(lua_State *L, int key, const char *bytes, size_t n, clc_Seal *s,
                    const char *section[]) {
  return clc_unseal(bytes, n, MAGIC, CLC_CACHE_VERSION, s, section) &&
         s->length[KEY] == lua_rawlen(L, key) &&
         memcmp(section[KEY], lua_tostring(L, key), lua_rawlen(L, key)) == 0;
}

static int load(lua_State *L, int key, int which) {
  const int top = lua_gettop(L);
  clc_Seal s;
  const char *section[CLC_SECTIONS];
  const char *path = push_path(L, key, which);
  const size_t n = path == NULL ? 0 : push_bytes(L, path);
  const int sound = n > 0 && is_sound(L, key, lua_touserdata(L, -1), n, &s, section);
  if (sound) {
    lua_pushlstring(L, section[DECLARATIONS], (size_t)s.length[DECLARATIONS]);
    lua_pushlstring(L, section[BINARY], (size_t)s.length[BINARY]);
    lua_rotate(L, top + 1, 2);
  }
  lua_settop(L, top + 2 * sound);
  return sound;
}

int clc_loadcache(lua_State *L, int key) {
  key = lua_absindex(L, key);
  return load(L, key, OWN) || load(L, key, COMMON);
}

/* What a mark tells of is kept for the user who made it. */
static int is_in(lua_State *L, int key, int which) {
  struct stat st;
  const char *path = push_path(L, key, which);
  const int fd = path == NULL ? -1 : clc_openown(path, O_RDONLY, &st);
  if (path != NULL) lua_pop(L, 1);
  if (fd < 0) return 0;
  note_use(fd, &st);
  close(fd);
  return which == OWN || st.st_size > 0;
}

int clc_iscached(lua_State *L, int key) {
  return is_in(L, key, OWN) || is_in(L, key, COMMON);
}

void clc_markcached(lua_State *L, int key) {
  const int top = lua_gettop(L);
  const char *path = push_path(L, key, OWN);
  if (path != NULL) {
    clc_makefolders(L, path);
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd >= 0) {
      close(fd);
      trim_cache(L, 0);
    }
  }
  lua_settop(L, top);
}

/* --- writing ----------------------------------------------------------- */

static int write_all(int fd, const void *data, size_t n) {
  const char *p = data;
  while (n > 0) {
    const ssize_t put = write(fd, p, n);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return 0;
    p += put;
    n -= (size_t)put;
  }
  return 1;
}

static int write_file(int fd, const clc_Seal *s, const char *const section[]) {
  int written = write_all(fd, s, sizeof *s);
  for (int i = 0; i < CLC_SECTIONS; i++)
    written = written && write_all(fd, section[i], (size_t)s->length[i]);
  return written;
}

/* Other processes see the whole file or none: it is renamed when it is complete. */
void clc_storecache(lua_State *L, int key, int declarations, int binary) {
  const int top = lua_gettop(L);
  const int index[CLC_SECTIONS] = {key, declarations, binary};
  const char *section[CLC_SECTIONS];
  const clc_Seal s = clc_seal(L, MAGIC, CLC_CACHE_VERSION, index, section);
  uint64_t size = sizeof s;
  for (int i = 0; i < CLC_SECTIONS; i++) size += s.length[i];
  const char *path = size <= LARGEST ? push_path(L, key, OWN) : NULL;
  if (path != NULL) {
    char *temporary = lua_newuserdatauv(L, strlen(path) + sizeof ".XXXXXX", 0);
    strcpy(temporary, path);
    strcat(temporary, ".XXXXXX");
    clc_makefolders(L, path);
    const int fd = mkostemp(temporary, O_CLOEXEC); /* 0600 */
    if (fd >= 0) {
      const int written = write_file(fd, &s, section);
      if (clc_fillsforall(L)) fchmod(fd, CLC_FORALL);
      if (close(fd) != 0 || !written || rename(temporary, path) != 0) unlink(temporary);
      trim_cache(L, size);
    }
  }
  lua_settop(L, top);
}
