/* SPDX-License-Identifier: MIT */
/* Files: plain ones, new ones, folders, and the cache of compiled programs. */
#ifndef CLC_FILES_H
#define CLC_FILES_H

#include <stdint.h>
#include <sys/stat.h>

#include "base/base.h"

/*
 * Pushes what a file holds and returns it; NULL with errno set, and nothing pushed, if it cannot be
 * read or holds more than `most` bytes. Raises where the path is a pipe, a socket or a device: to
 * open or to read one may never end, in a compiler too.
 */
const char *clc_pushfile(lua_State *L, const char *path, size_t most);

/* Pushes what a file of any length holds; raises where it cannot be read. */
const char *clc_readfile(lua_State *L, const char *path);

/* Pushes all that the file of a descriptor holds. */
void clc_pushwritten(lua_State *L, int descriptor);

/* Makes the folder of a path and those above it; failing shows when it is used. They are for the
   user alone, but where the process fills the cache of all users. */
void clc_makefolders(lua_State *L, const char *path);

/* Pushes the folder of the library's own OpenCL C, as the module that found the core told:
   prebuilt kernels, and headers for those of users. */
const char *clc_pushkernelfolder(lua_State *L);

/* --- sealed files: sealed.c ------------------------------------------------ */

/* Several strings in one file. A driver may die of a damaged binary, so nothing is handed out that
   is not what was written. */
#define CLC_SECTIONS 3

typedef struct clc_Seal {
  uint64_t magic, version;
  uint64_t checksum; /* of what follows it */
  uint64_t length[CLC_SECTIONS];
} clc_Seal;

/* FNV-1a: a changed byte always changes it. */
#define CLC_HASHSTART UINT64_C(0xcbf29ce484222325)
uint64_t clc_hash(uint64_t h, const void *data, size_t n);

/* What goes before the strings at these stack indices; tells where they are. */
clc_Seal clc_seal(lua_State *L, uint64_t magic, uint64_t version, const int index[],
                  const char *section[]);

/* Whether n bytes begin as such a file does, and whether they are what was sealed: tells the
   strings then. */
int clc_issealed(const char *bytes, size_t n, uint64_t magic);
int clc_unseal(const char *bytes, size_t n, uint64_t magic, uint64_t version, clc_Seal *s,
               const char *section[]);

/* --- the cache of compiled programs: cache.c ------------------------------- */

#define CLC_CACHE_VERSION 2 /* of the file's format and of what the key says */

/* Pushes the folder: $CLCOMPUTE_CACHE, $XDG_CACHE_HOME/clcompute or ~/.cache/clcompute. The first
   may be relative to the current folder; of the second the XDG specification says that it may not.
   NULL, and nothing pushed: there is to be no cache. */
const char *clc_pushcachefolder(lua_State *L);

/* Whether the process fills the folder of all users, /var/cache/clcompute or
   $CLCOMPUTE_SYSTEM_CACHE, in place of one of its own: `clcompute warm --system`. Files have this
   mode then. */
#define CLC_FORALL 0644
int clc_fillsforall(lua_State *L);

/* Pushes a list of the folders to read from, the own one first, and returns how many there are.
   That of all users is among them where root has made it, or who reads it, and nobody else may
   write to it. */
size_t clc_pushcachefolders(lua_State *L);

/* Pushes declarations and binary that were kept for the key at stack index `key`
   and returns 1; 0, and nothing pushed, where there are none. */
int clc_loadcache(lua_State *L, int key);

/* Opens a plain file that this user and root alone may write, with these flags of open(2), or
   returns -1. */
int clc_openown(const char *path, int flags, struct stat *st);

/* Whether there is a file for the key; only reading it shows whether it is sound. */
int clc_iscached(lua_State *L, int key);

/* Keeps the strings at stack indices `declarations` and `binary` for a key. */
void clc_storecache(lua_State *L, int key, int declarations, int binary);

/* An empty file for a key, where there is none: what the driver keeps itself was built. */
void clc_markcached(lua_State *L, int key);

/* --- locks of what is missing in it: lock.c -------------------------------- */

/* Takes the lock of the key at stack index `key`, waiting for who has it; pushes what is to be
   closed when the caller cuts the stack, or nil. Returns whether it was taken: another process may
   have made what was missing meanwhile. May run Lua code. */
int clc_pushlock(lua_State *L, int key);

void clc_openlocks(lua_State *L);

/* Opens the package: functions for the library alone, on the table at the top. */
void clc_openfiles(lua_State *L);

#endif
