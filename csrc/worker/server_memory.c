/* SPDX-License-Identifier: MIT */
/* What a worker has mapped of the arena; only what a launch is given can be reached by it. */
#define _GNU_SOURCE /* MAP_POPULATE */
#include "server.h"

#include <sys/mman.h>
#include <unistd.h>

#define AT_ONCE (UINT64_C(1) << 26)

static size_t whole_pages(uint64_t bytes) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  return ((size_t)bytes + page - 1) / page * page;
}

static void drop_piece(clc_Piece *p) {
  if (p->bytes == 0) return;
  if (p->mem != NULL) clReleaseMemObject(p->mem);
  munmap(p->memory, whole_pages(p->bytes));
  *p = (clc_Piece){0};
}

/* A fault for each page costs more than mapping all at once; of large memory a kernel may use only
   some. */
static int map_piece(clc_Service *s, clc_Piece *p, const clc_Region *region) {
  const int flags = MAP_SHARED | (region->bytes <= AT_ONCE ? MAP_POPULATE : 0);
  cl_int code;
  void *memory = mmap(NULL, whole_pages(region->bytes), PROT_READ | PROT_WRITE, flags, CLC_ARENA_FD,
                      (off_t)region->start);
  if (memory == MAP_FAILED) return clc_succeeds(s, CL_MEM_OBJECT_ALLOCATION_FAILURE, "mmap");
  *p =
      (clc_Piece){.start = region->start, .bytes = region->bytes, .memory = memory, .reachable = 1};
  p->mem = clCreateBuffer(s->context, CL_MEM_USE_HOST_PTR, (size_t)region->bytes, memory, &code);
  if (code != CL_SUCCESS) p->mem = NULL;
  if (code != CL_SUCCESS) drop_piece(p);
  return clc_succeeds(s, code, "clCreateBuffer");
}

/* The piece, or the place for it: a free one, else that of the one not used for longest. A piece
   that was freed is never asked for again, and so goes in the end. */
static clc_Piece *find_piece(clc_Pieces *p, uint64_t start) {
  clc_Piece *oldest = NULL;
  for (clc_Piece *piece = p->pieces; piece < p->pieces + CLC_PIECES; piece++) {
    if (piece->bytes > 0 && piece->start == start) return piece;
    if (!piece->bound && (oldest == NULL || piece->used < oldest->used)) oldest = piece;
  }
  if (oldest != NULL) drop_piece(oldest);
  return oldest;
}

static cl_mem make_part(clc_Service *s, clc_Pieces *p, cl_mem whole, const clc_Region *region) {
  const cl_buffer_region part = {(size_t)region->first, (size_t)region->count};
  cl_int code;
  if (p->nparts == CLC_PIECES) {
    clc_succeeds(s, CL_OUT_OF_RESOURCES, "clCreateSubBuffer");
    return NULL;
  }
  const cl_mem mem = clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &part, &code);
  if (!clc_succeeds(s, code, "clCreateSubBuffer")) return NULL;
  return p->parts[p->nparts++] = mem;
}

cl_mem clc_bindregion(clc_Service *s, clc_Pieces *p, const clc_Region *region) {
  clc_Piece *piece = find_piece(p, region->start);
  if (piece == NULL) {
    clc_succeeds(s, CL_OUT_OF_RESOURCES, "mmap");
    return NULL;
  }
  if (piece->bytes == 0 && !map_piece(s, piece, region)) return NULL;
  piece->bound = 1;
  piece->used = ++p->now;
  return region->first == 0 ? piece->mem : make_part(s, p, piece->mem, region);
}

void clc_protectpieces(clc_Service *s, clc_Pieces *p) {
  for (clc_Piece *piece = p->pieces; piece < p->pieces + CLC_PIECES; piece++) {
    if (piece->bytes == 0 || piece->bound == piece->reachable) continue;
    const int access = piece->bound ? PROT_READ | PROT_WRITE : PROT_NONE;
    const int failed = mprotect(piece->memory, whole_pages(piece->bytes), access);
    if (clc_succeeds(s, failed ? CL_OUT_OF_RESOURCES : CL_SUCCESS, "mprotect"))
      piece->reachable = piece->bound;
  }
}

void clc_unbindpieces(clc_Pieces *p) {
  for (clc_Piece *piece = p->pieces; piece < p->pieces + CLC_PIECES; piece++) piece->bound = 0;
  while (p->nparts > 0) clReleaseMemObject(p->parts[--p->nparts]);
}

void clc_droppieces(clc_Pieces *p) {
  clc_unbindpieces(p);
  for (clc_Piece *piece = p->pieces; piece < p->pieces + CLC_PIECES; piece++) drop_piece(piece);
}
