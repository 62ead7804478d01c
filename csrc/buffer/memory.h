/* SPDX-License-Identifier: MIT */
/* Device memory: typed, shaped pieces of it, and how elements get there and back. */
#ifndef CLC_MEMORY_H
#define CLC_MEMORY_H

#include "device/device.h"
#include "base/base.h"

typedef struct clc_Buffer clc_Buffer;

struct clc_Buffer {
  clc_Handle h;
  clc_Device *device;
  cl_mem mem;      /* NULL where there are no elements */
  cl_mem sub;      /* the sub-buffer of a view, once a kernel needed it */
  cl_ulong shared; /* where `mem` begins in the arena of an isolated device */
  const clc_Dtype *dtype;
  clc_Shape shape;
  size_t count;                  /* elements */
  size_t offset;                 /* elements before the first one, in a view */
  size_t base, base_rows, step;  /* of the buffer it is a view of: its offset, its rows, a row */
  size_t allocated;              /* bytes of the whole memory */
  size_t zone;                   /* elements of the red zones at both its ends; 0: not checked */
  unsigned poison;               /* the mark of what was never written, in check mode */
  clc_Buffer *previous, *sharer; /* ring of the buffers on the same memory */
};

extern const clc_Type clc_buffertype;

/* Registry: the buffers that scratch.c keeps, which go first where memory is short. */
#define CLC_SCRATCH "clcompute.scratch"

clc_Buffer *clc_checkbuffer(lua_State *L, int arg);

/* Raises when the device never allocates that much at once. */
void clc_checkallocation(lua_State *L, const clc_Device *d, size_t bytes);

/* Pushes a new buffer with undefined elements. The collector hears of the
   memory; when it is short, all garbage goes before an error is raised. */
clc_Buffer *clc_newbuffer(lua_State *L, clc_Device *d, const clc_Dtype *dtype,
                          const clc_Shape *shape);

/* The same for a buffer that a script will hold. In check mode it lies between two red zones, so
   that it has an offset as a view has, and its elements are poison. */
clc_Buffer *clc_newguarded(lua_State *L, clc_Device *d, const clc_Dtype *dtype,
                           const clc_Shape *shape);

/* Pushes a new buffer on elements of another one, from `offset` on. */
clc_Buffer *clc_newview(lua_State *L, clc_Buffer *of, size_t offset, const clc_Shape *shape);

/* The memory object whose first byte is the buffer's first element, for a
   buffer whose start is a multiple of the device's `align`. */
cl_mem clc_subbuffer(lua_State *L, clc_Buffer *b);

/* Passes the buffer's memory from element `first` of all of it on to the worker of an isolated
   device, as argument i of the launch at hand. */
void clc_passbuffer(clc_Device *d, cl_uint i, const clc_Buffer *b, size_t first);

/*
 * Moving n elements, counted from the buffer's first. Reading blocks. Writing
 * copies the host's memory before it returns, the rest is queued. The caller has
 * checked that the elements exist.
 */
void clc_readbuffer(lua_State *L, clc_Buffer *b, size_t first, size_t n, void *to);
void clc_writebuffer(lua_State *L, clc_Buffer *b, size_t first, size_t n, const void *from);
void clc_fillbuffer(lua_State *L, clc_Buffer *b, size_t first, size_t n, const void *element);
/* Both on any device, of the same dtype; parts of one memory may overlap. */
void clc_copybuffer(lua_State *L, clc_Buffer *from, size_t from_first, clc_Buffer *to,
                    size_t to_first, size_t n);

/*
 * The same for a rectangle of rows x cols elements, `ld` apart from row to row in
 * the buffer and packed in the host's memory. Both block.
 */
void clc_readrect(lua_State *L, clc_Buffer *b, size_t first, size_t ld, size_t rows, size_t cols,
                  void *to);
void clc_writerect(lua_State *L, clc_Buffer *b, size_t first, size_t ld, size_t rows, size_t cols,
                   const void *from);

/* NULL where the buffer can be used with a device; else what a message says of it. */
const char *clc_testdevice(const clc_Buffer *b, const clc_Device *d);

/* Whether two buffers have memory in common. */
int clc_overlap(const clc_Buffer *a, const clc_Buffer *b);

#endif
