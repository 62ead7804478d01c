/* SPDX-License-Identifier: MIT */
/* The folder of the cache: where it is, and that it does not grow for ever. */
#ifndef CLC_FOLDER_H
#define CLC_FOLDER_H

#include "base/base.h"

#define CLC_CACHEDIGITS 16 /* hex digits of a file's name before the suffix */
#define CLC_CACHESUFFIX ".bin"
#define CLC_CACHENAME (CLC_CACHEDIGITS + sizeof CLC_CACHESUFFIX)

/* Pushes the folder: $CLCOMPUTE_CACHE, $XDG_CACHE_HOME/clcompute or ~/.cache/clcompute. The first
   may be relative to the current folder; of the second the XDG specification says that it may not.
   NULL, and nothing pushed: there is to be no cache. */
const char *clc_pushcachefolder(lua_State *L);

/* Makes the folder of a path and those above it; failing shows when it is used. */
void clc_makefolders(lua_State *L, const char *path);

/* Told of a file that was stored: with the first of a state, and again after so many bytes,
   removes the oldest files of the cache when all are too large together. */
void clc_trimcache(lua_State *L, size_t stored);

#endif
