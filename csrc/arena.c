/* SPDX-License-Identifier: MIT */
/* Arenas: memory in a file without a name, of which another process can map single pieces. */
#define _GNU_SOURCE /* memfd_create, MADV_REMOVE */
#include "arena.h"

#include <sys/mman.h>
#include <unistd.h>

int clc_openarena(clc_Arena *a) {
  if (a->fd >= 0) return 1;
  a->fd = memfd_create("clcompute", MFD_CLOEXEC);
  a->end = (uint64_t)sysconf(_SC_PAGESIZE); /* so that 0 is where no piece begins */
  return a->fd >= 0;
}

void clc_closearena(clc_Arena *a) {
  if (a->fd >= 0) close(a->fd);
  a->fd = -1;
}

static size_t whole_pages(size_t bytes) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  return (bytes + page - 1) / page * page;
}

/* The file only grows: the places of freed pieces are holes, which take no memory. */
void *clc_newpiece(clc_Arena *a, size_t bytes, uint64_t *start) {
  const size_t room = whole_pages(bytes);
  if (ftruncate(a->fd, (off_t)(a->end + room)) != 0) return NULL;
  void *piece = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_SHARED, a->fd, (off_t)a->end);
  if (piece == MAP_FAILED) return NULL;
  *start = a->end;
  a->end += room;
  return piece;
}

int clc_readarena(const clc_Arena *a, uint64_t start, size_t bytes, void *to) {
  return pread(a->fd, to, bytes, (off_t)start) == (ssize_t)bytes;
}

void clc_freepiece(void *piece, size_t bytes) {
  const size_t room = whole_pages(bytes);
  madvise(piece, room, MADV_REMOVE); /* the worker may have it mapped still */
  munmap(piece, room);
}
