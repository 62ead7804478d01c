/* SPDX-License-Identifier: MIT */
/* Libraries that are opened when asked: where they are, and what is taken from them. */
#ifndef CLC_LIBRARY_H
#define CLC_LIBRARY_H

#include <lua.h>
#include <stddef.h>

/* A function, and where in a structure its address goes. */
typedef struct clc_Symbol {
  const char *name;
  size_t offset;
} clc_Symbol;

typedef struct clc_Library {
  const char *variable;      /* of the environment: a path that is opened instead of the names */
  const char *names[3];      /* tried in order; the last is NULL */
  const char *package;       /* Debian's, for the reason */
  const clc_Symbol *symbols; /* the last has no name */
} clc_Library;

/* Opens a library, for as long as the process lives, and stores its functions. Pushes the path
   of its file and returns 1; or pushes why it does not open and returns 0. */
int clc_openlibrary(lua_State *L, const clc_Library *library, void *functions);

#endif
