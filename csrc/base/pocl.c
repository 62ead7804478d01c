/* SPDX-License-Identifier: MIT */
/* POCL: what it must have before it compiles, and where its threads run. docs/devices.md lists the
   quirks of all drivers. */
#define _GNU_SOURCE /* sched_getaffinity */
#include "platform.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define LEAST_MIB 16 /* room for the files of one kernel */

/* The file of a kernel: <folder>[/isolated]/XX/<38 letters>/<kernel>/<local size>/<kernel>.so */
#define LONGEST_PATH 1020 /* characters; POCL asserts it */
#define LONGEST_SIZE 52   /* of the folder of a local size */
#define AROUND_NAMES (9 + 1 + 2 + 1 + 38 + 1 + 1 + LONGEST_SIZE + 1 + 3)
#define LONGEST_NAME (255 - 3) /* NAME_MAX of Linux, less ".so" */

static int finds_linker(lua_State *L) {
  const char *path = getenv("PATH");
  int found = 0;
  while (!found && path != NULL && *path != '\0') {
    const size_t length = strcspn(path, ":");
    lua_pushlstring(L, path, length);
    found = access(lua_pushfstring(L, "%s/ld", lua_tostring(L, -1)), X_OK) == 0;
    lua_pop(L, 2);
    path += length + (path[length] == ':');
  }
  return found;
}

const char *clc_pushpoclfolder(lua_State *L) {
  const char *own = getenv("POCL_CACHE_DIR"), *cache = getenv("XDG_CACHE_HOME");
  const char *home = getenv("HOME");
  if (own != NULL) return lua_pushstring(L, own);
  if (cache != NULL && *cache != '\0') return lua_pushfstring(L, "%s/pocl/kcache", cache);
  if (home != NULL) return lua_pushfstring(L, "%s/.cache/pocl/kcache", home);
  return lua_pushliteral(L, "/tmp/pocl/kcache");
}

void clc_checkpoclname(lua_State *L, const char *kernel, size_t length) {
  const char *folder = clc_pushpoclfolder(L);
  const size_t around = strlen(folder) + AROUND_NAMES;
  const size_t room = around < LONGEST_PATH ? (LONGEST_PATH - around) / 2 : 0;
  const size_t most = room < LONGEST_NAME ? room : LONGEST_NAME;
  if (length > most)
    luaL_error(
        L,
        "kernel '%s...' has a name of %d characters: POCL names files after a kernel, and takes "
        "at most %d in its folder %s; %s",
        lua_pushlstring(L, kernel, length < 20 ? length : 20), (int)length, (int)most, folder,
        room < LONGEST_NAME ? "shorten it, or set POCL_CACHE_DIR to a shorter path" : "shorten it");
  lua_pop(L, 1);
}

/* Variables that the launchers of processes set: Open MPI's, MPICH's and its kin's, Slurm's. */
static int is_launched(void) {
  static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK",
                                      "MV2_COMM_WORLD_SIZE", "SLURM_PROCID"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (getenv(names[i]) != NULL) return 1;
  return 0;
}

/* The processors that the process may use, of so many; 0: that is not known. */
static int count_allowed(long n) {
  cpu_set_t allowed;
  int count = 0;
  CPU_ZERO(&allowed);
  if (n < 1 || n > CPU_SETSIZE || sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 0;
  for (long i = 0; i < n; i++) count += CPU_ISSET((size_t)i, &allowed) != 0;
  return count;
}

/* POCL has as many threads as the machine has processors unless this variable says otherwise. */
static int has_fewer_threads(long n) {
  const char *threads = getenv("POCL_MAX_PTHREAD_COUNT");
  return threads != NULL && strtol(threads, NULL, 10) < n;
}

/* Thread i pins itself to processor i. That pays where the process has the machine for itself: of
   several processes with a few threads each, all threads would share the first processors. */
static void pin(void) {
  const long n = sysconf(_SC_NPROCESSORS_ONLN);
  const int allowed = count_allowed(n);
  char threads[16];
  if (allowed == 0) return;
  snprintf(threads, sizeof threads, "%d", allowed);
  if (allowed < n) setenv("POCL_MAX_PTHREAD_COUNT", threads, 0);
  if (allowed == n && !has_fewer_threads(n) && !is_launched()) setenv("POCL_AFFINITY", "1", 0);
}

static void prepare(void) {
  pin();
  clc_askserial();
}

static void prepare_worker(void) {
  pin();
  clc_unaskserial();
}

/* Once: other threads may open a state of their own, and read the environment, which none of them
   does here before it has been set. */
void clc_preparepocl(int is_worker) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, is_worker ? prepare_worker : prepare);
}

/* Makes a folder and those above it that are missing. */
static void make_folders(lua_State *L, const char *folder) {
  for (const char *p = strchr(folder + 1, '/'); p != NULL; p = strchr(p + 1, '/')) {
    mkdir(lua_pushlstring(L, folder, (size_t)(p - folder)), 0700);
    lua_pop(L, 1);
  }
  mkdir(folder, 0700);
}

const char *clc_pushpoclcomplaint(lua_State *L) {
  const char *folder = clc_pushpoclfolder(L);
  if (access(folder, F_OK) != 0) make_folders(L, folder); /* POCL did, when the process began */
  if (access(folder, W_OK | X_OK) == 0) return NULL;
  return lua_pushfstring(L, "POCL cannot write to %s (%s); set POCL_CACHE_DIR to another folder",
                         folder, strerror(errno));
}

void clc_checkpocl(lua_State *L, int *has_linker) {
  struct statvfs s;
  if (!*has_linker && !finds_linker(L))
    luaL_error(L,
               "no ld in PATH: POCL would end the process at the first launch of a kernel; apt "
               "install binutils, or add its folder (/usr/bin) to PATH");
  *has_linker = 1;
  const int top = lua_gettop(L);
  const char *complaint = clc_pushpoclcomplaint(L), *folder = lua_tostring(L, top + 1);
  if (complaint != NULL) luaL_error(L, "%s", complaint);
  if (statvfs(folder, &s) == 0 && (s.f_bavail * s.f_frsize) >> 20 < LEAST_MIB)
    luaL_error(L,
               "%s has less than %d MiB left: POCL would end the process; make room, or set "
               "POCL_CACHE_DIR to another folder",
               folder, LEAST_MIB);
  lua_settop(L, top);
}
