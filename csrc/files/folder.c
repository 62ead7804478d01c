/* SPDX-License-Identifier: MIT */
/* The folder of the cache: where it is, and that it does not grow for ever. */
#define _POSIX_C_SOURCE 200809L
#include "folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LIMIT ((uint64_t)256 << 20) /* bytes; then the oldest files go */
#define KEPT (LIMIT / 4 * 3)        /* what is left of them */
#define UNSEEN (LIMIT / 8)          /* bytes a state may store before it looks again */
#define DAY 86400

static const char stored_key = 0; /* registry: bytes stored since the size was looked at */

const char *clc_pushcachefolder(lua_State *L) {
  const char *own = getenv("CLCOMPUTE_CACHE"), *all = getenv("XDG_CACHE_HOME"),
             *home = getenv("HOME");
  if (own != NULL && strcmp(own, "off") == 0) return NULL;
  if (own != NULL && *own != '\0') return lua_pushstring(L, own);
  if (all != NULL && *all == '/') return lua_pushfstring(L, "%s/clcompute", all);
  if (home != NULL && *home == '/') return lua_pushfstring(L, "%s/.cache/clcompute", home);
  return NULL;
}

void clc_makefolders(lua_State *L, const char *path) {
  char *copy = strcpy(lua_newuserdatauv(L, strlen(path) + 1, 0), path);
  for (char *p = copy + 1; (p = strchr(p, '/')) != NULL; p++) {
    *p = '\0';
    mkdir(copy, 0700);
    *p = '/';
  }
  lua_pop(L, 1);
}

typedef struct {
  time_t time;
  uint64_t size;
  char name[CLC_CACHENAME];
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
    if (hex != CLC_CACHEDIGITS ||
        strncmp(d->d_name + CLC_CACHEDIGITS, CLC_CACHESUFFIX, strlen(CLC_CACHESUFFIX)) != 0 ||
        fstatat(dirfd(dir), d->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode))
      continue;
    if (d->d_name[CLC_CACHEDIGITS + strlen(CLC_CACHESUFFIX)] != '\0') {
      if (st.st_mtime < time(NULL) - DAY) unlinkat(dirfd(dir), d->d_name, 0);
      continue;
    }
    if (entries != NULL) {
      entries[n].time = st.st_mtime;
      entries[n].size = (uint64_t)st.st_size;
      strcpy(entries[n].name, d->d_name);
    }
    n++;
  }
  closedir(dir);
  return n;
}

/* Counts what is stored; whether it is time to look at the size of all. */
static int is_due(lua_State *L, size_t stored) {
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
  for (size_t i = 0; i < n; i++) sum += entries[i].size;
  int64_t excess = sum > LIMIT ? (int64_t)(sum - KEPT) : 0;
  qsort(entries, n, sizeof *entries, older_first);
  for (size_t i = 0; excess > 0 && i < n; i++) {
    remove(lua_pushfstring(L, "%s/%s", folder, entries[i].name));
    lua_pop(L, 1);
    excess -= (int64_t)entries[i].size;
  }
}

void clc_trimcache(lua_State *L, size_t stored) {
  const int top = lua_gettop(L);
  const char *folder = is_due(L, stored) ? clc_pushcachefolder(L) : NULL;
  if (folder != NULL) trim(L, folder);
  lua_settop(L, top);
}
