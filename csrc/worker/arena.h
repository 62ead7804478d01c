/* SPDX-License-Identifier: MIT */
/* Arenas: memory in a file without a name, of which another process can map single pieces. */
#ifndef CLC_ARENA_H
#define CLC_ARENA_H

#include <stddef.h>
#include <stdint.h>

typedef struct clc_Arena {
  int fd;
  uint64_t end; /* of all pieces so far; a piece never begins where another one did */
} clc_Arena;

/* Makes the file, unless there is one (fd -1: there is none); returns 0 with errno set. */
int clc_openarena(clc_Arena *a);

/* Closes it; the pieces stay until they are freed. */
void clc_closearena(clc_Arena *a);

/* A new piece of zeros, which begins at *start of the file; NULL: there is no memory. */
void *clc_newpiece(clc_Arena *a, size_t bytes, uint64_t *start);

/* Reads what another mapping would see there; 0: it cannot. */
int clc_readarena(const clc_Arena *a, uint64_t start, size_t bytes, void *to);

/* Gives its memory back, wherever it is mapped. May be called by any thread. */
void clc_freepiece(void *piece, size_t bytes);

#endif
