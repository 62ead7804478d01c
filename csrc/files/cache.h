/* SPDX-License-Identifier: MIT */
/*
 * Cache: compiled programs kept on disk (Borisov 2015, section 3).
 *
 * A file is a header, the whole key, the declarations of the kernels and the
 * binary. A driver may die of a damaged binary, so nothing is handed out that is
 * not what was written: lengths, checksum and key are compared first. Whatever is
 * wrong with file or folder means "not there", never an error.
 */
#ifndef CLC_CACHE_H
#define CLC_CACHE_H

#include "base/base.h"

#define CLC_CACHE_VERSION 2 /* of the file's format and of what the key says */

/* Pushes declarations and binary that were kept for the key at stack index `key`
   and returns 1; 0, and nothing pushed, where there are none. */
int clc_loadcache(lua_State *L, int key);

/* Whether a file was kept for the key; only reading it shows whether it is sound. */
int clc_iscached(lua_State *L, int key);

/* Keeps the strings at stack indices `declarations` and `binary` for a key. */
void clc_storecache(lua_State *L, int key, int declarations, int binary);

#endif
