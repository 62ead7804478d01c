/* SPDX-License-Identifier: MIT */
/* Files of the cache: whatever stands in one, it is not there or it is what was kept. */
#define _POSIX_C_SOURCE 200809L
#include "files/files.h"

#include <dirent.h>
#include <stdio.h>

#include "target.h"

#define KEY "a key"
#define DECLARATIONS "declarations"
#define BINARY "binary"

static char path[600];

/* The one file of the folder. */
static void find_path(const char *folder) {
  DIR *dir = opendir(folder);
  const struct dirent *d;
  while (dir != NULL && (d = readdir(dir)) != NULL)
    if (strstr(d->d_name, ".bin") != NULL)
      snprintf(path, sizeof path, "%.200s/%.300s", folder, d->d_name);
  if (dir != NULL) closedir(dir);
}

/* What is handed out is what was kept. */
static int load(lua_State *L) {
  lua_settop(L, 0);
  lua_pushliteral(L, KEY);
  if (clc_loadcache(L, 1) &&
      (strcmp(lua_tostring(L, -2), DECLARATIONS) != 0 || strcmp(lua_tostring(L, -1), BINARY) != 0))
    abort();
  return 0;
}

static int store(lua_State *L) {
  lua_settop(L, 0);
  lua_pushliteral(L, KEY);
  lua_pushliteral(L, DECLARATIONS);
  lua_pushliteral(L, BINARY);
  clc_storecache(L, 1, 2, 3);
  return 0;
}

/* The input is laid over the sound file: position, then bytes; an odd position cuts the rest off.
 */
static void write_damaged(const uint8_t *data, size_t size) {
  FILE *f = fopen(path, "r+b");
  if (f == NULL) return;
  const long at = size > 0 ? data[0] / 2 : 0;
  if (size > 0 && fseek(f, at, SEEK_SET) == 0) fwrite(data + 1, 1, size - 1, f);
  fflush(f);
  fclose(f);
  if (size > 0 && data[0] % 2 != 0) {
    f = fopen(path, "rb");
    char bytes[4096];
    const size_t n = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    f = fopen(path, "wb");
    fwrite(bytes, 1, (size_t)at + size - 1 < n ? (size_t)at + size - 1 : n, f);
    fclose(f);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  lua_State *L = target_state();
  const char *folder = getenv("CLCOMPUTE_CACHE");
  if (folder == NULL) abort();
  target_call(L, store, data, 0);
  if (path[0] == '\0') find_path(folder);
  write_damaged(data, size);
  target_call(L, load, data, size);
  return 0;
}
