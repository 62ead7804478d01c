/* SPDX-License-Identifier: MIT */
/* Plain files, opened or read as a whole: to open a pipe that nobody writes would never end. */
#ifndef CLC_PLAINFILE_H
#define CLC_PLAINFILE_H

#include "base/base.h"

/* Adds the internal function `open_plain` to the table at the top. */
void clc_openplainfiles(lua_State *L);

/*
 * Pushes what a file holds and returns it; NULL with errno set, and nothing pushed, if it cannot be
 * read or holds more than `most` bytes. Raises where the path is a pipe, a socket or a device: to
 * open or to read one may never end, in a compiler too.
 */
const char *clc_pushfile(lua_State *L, const char *path, size_t most);

/* The same of any length; raises where it cannot be read. */
const char *clc_readfile(lua_State *L, const char *path);

#endif
