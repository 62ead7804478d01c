/* SPDX-License-Identifier: MIT */
/* What a worker has mapped of the arena: what a launch is given. A piece keeps its addresses, at
   which there is nothing while it is not mapped. */
#define _GNU_SOURCE /* MAP_ANONYMOUS, MAP_POPULATE */
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

/* Addresses with nothing behind them; at `at`, unless that is NULL. */
static void *reserve(void *at, size_t size) {
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (at != NULL ? MAP_FIXED : 0);
  return mmap(at, size, PROT_NONE, flags, -1, 0);
}

static int make_piece(clc_Service *s, clc_Piece *p, const clc_Region *region) {
  cl_int code;
  void *memory = reserve(NULL, whole_pages(region->bytes));
  if (memory == MAP_FAILED) return clc_succeeds(s, CL_MEM_OBJECT_ALLOCATION_FAILURE, "mmap");
  *p = (clc_Piece){.start = region->start, .bytes = region->bytes, .memory = memory};
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

static clc_Piece *bind_piece(clc_Service *s, clc_Pieces *p, const clc_Region *region) {
  clc_Piece *piece = find_piece(p, region->start);
  if (piece == NULL) {
    clc_succeeds(s, CL_OUT_OF_RESOURCES, "mmap");
    return NULL;
  }
  if (piece->bytes == 0 && !make_piece(s, piece, region)) return NULL;
  piece->bound = 1;
  piece->used = ++p->now;
  return piece;
}

/* Keeps what a call has made, until nothing is bound any more. */
static cl_mem keep_part(clc_Service *s, clc_Pieces *p, cl_mem mem, cl_int code, const char *call) {
  if (!clc_succeeds(s, code, call)) return NULL;
  if (p->nparts < CLC_PIECES) return p->parts[p->nparts++] = mem;
  clReleaseMemObject(mem);
  clc_succeeds(s, CL_OUT_OF_RESOURCES, call);
  return NULL;
}

cl_mem clc_bindregion(clc_Service *s, clc_Pieces *p, const clc_Region *region) {
  const cl_buffer_region part = {(size_t)region->first, (size_t)region->count};
  const clc_Piece *piece = bind_piece(s, p, region);
  cl_int code;
  if (piece == NULL) return NULL;
  if (region->first == 0) return piece->mem;
  cl_mem mem = clCreateSubBuffer(piece->mem, 0, CL_BUFFER_CREATE_TYPE_REGION, &part, &code);
  return keep_part(s, p, mem, code, "clCreateSubBuffer");
}

/* The pixels of an image that no buffer has are a whole piece. */
static cl_mem bind_pixels(clc_Service *s, clc_Pieces *p, const clc_Layout *l) {
  const clc_Piece *piece = bind_piece(s, p, &l->region);
  cl_int code;
  if (piece == NULL) return NULL;
  cl_mem mem =
      clCreateImage(s->context, CL_MEM_USE_HOST_PTR, &l->format, &l->desc, piece->memory, &code);
  return keep_part(s, p, mem, code, "clCreateImage");
}

cl_mem clc_bindimage(clc_Service *s, clc_Pieces *p, const clc_Layout *l) {
  if (l->desc.image_type != CL_MEM_OBJECT_IMAGE1D_BUFFER) return bind_pixels(s, p, l);
  cl_image_desc desc = l->desc;
  cl_int code;
  desc.buffer = clc_bindregion(s, p, &l->region);
  if (desc.buffer == NULL) return NULL;
  cl_mem mem = clCreateImage(s->context, 0, &l->format, &desc, NULL, &code);
  return keep_part(s, p, mem, code, "clCreateImage");
}

/* A fault for each page costs more than mapping all at once; of large memory a kernel may use only
   some. */
static int map_piece(const clc_Piece *p, int arena) {
  const int flags = MAP_SHARED | MAP_FIXED | (p->bytes <= AT_ONCE ? MAP_POPULATE : 0);
  return mmap(p->memory, whole_pages(p->bytes), PROT_READ | PROT_WRITE, flags, arena,
              (off_t)p->start) != MAP_FAILED;
}

static int unmap_piece(const clc_Piece *p) {
  return reserve(p->memory, whole_pages(p->bytes)) != MAP_FAILED;
}

void clc_mappieces(clc_Service *s, clc_Pieces *p, int arena) {
  for (clc_Piece *piece = p->pieces; piece < p->pieces + CLC_PIECES; piece++) {
    if (piece->bound == piece->is_mapped) continue;
    const int done = piece->bound ? map_piece(piece, arena) : unmap_piece(piece);
    if (clc_succeeds(s, done ? CL_SUCCESS : CL_OUT_OF_RESOURCES, "mmap"))
      piece->is_mapped = piece->bound;
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
