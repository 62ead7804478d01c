/* SPDX-License-Identifier: MIT */
/* Files: plain ones, new ones, folders, and the cache of compiled programs. */
#ifndef CLC_FILES_H
#define CLC_FILES_H

#include "base/base.h"

/*
 * Pushes what a file holds and returns it; NULL with errno set, and nothing pushed, if it cannot be
 * read or holds more than `most` bytes. Raises where the path is a pipe, a socket or a device: to
 * open or to read one may never end, in a compiler too.
 */
const char *clc_pushfile(lua_State *L, const char *path, size_t most);

/* Pushes what a file of any length holds; raises where it cannot be read. */
const char *clc_readfile(lua_State *L, const char *path);

/* Makes the folder of a path and those above it; failing shows when it is used. */
void clc_makefolders(lua_State *L, const char *path);

/* Pushes the folder of the library's own OpenCL C, as the module that found the core told:
   prebuilt kernels, and headers for those of users. */
const char *clc_pushkernelfolder(lua_State *L);

/* --- the cache of compiled programs: cache.c ------------------------------- */

#define CLC_CACHE_VERSION 2 /* of the file's format and of what the key says */

/* Pushes the folder: $CLCOMPUTE_CACHE, $XDG_CACHE_HOME/clcompute or ~/.cache/clcompute. The first
   may be relative to the current folder; of the second the XDG specification says that it may not.
   NULL, and nothing pushed: there is to be no cache. */
const char *clc_pushcachefolder(lua_State *L);

/* Pushes declarations and binary that were kept for the key at stack index `key`
   and returns 1; 0, and nothing pushed, where there are none. */
int clc_loadcache(lua_State *L, int key);

/* Whether a file was kept for the key; only reading it shows whether it is sound. */
int clc_iscached(lua_State *L, int key);

/* Keeps the strings at stack indices `declarations` and `binary` for a key. */
void clc_storecache(lua_State *L, int key, int declarations, int binary);

/* Opens the package: functions for the library alone, on the table at the top. */
void clc_openfiles(lua_State *L);

#endif
