/* SPDX-License-Identifier: MIT */
/* Buffers: typed, shaped pieces of device memory, and how elements get there and back. */
#ifndef CLC_BUFFER_H
#define CLC_BUFFER_H

#include <stdint.h>

#include "device/device.h"

typedef struct clc_Buffer clc_Buffer;
typedef struct clc_Term clc_Term;

struct clc_Buffer {
  clc_Handle h;
  clc_Device *device;
  cl_mem mem;      /* NULL where there are no elements, or none yet */
  cl_mem sub;      /* the sub-buffer of a view, once a kernel needed it */
  cl_ulong shared; /* where `mem` begins, as its executor counts */
  const clc_Dtype *dtype;
  clc_Shape shape;
  size_t count;                  /* elements */
  size_t offset;                 /* elements before the first one, in a view */
  size_t base, base_rows, step;  /* of the buffer it is a view of: its offset, its rows, a row */
  size_t allocated;              /* bytes of the whole memory */
  size_t room;                   /* bytes that the driver made for it; 0: no memory for the pool */
  size_t zone;                   /* elements of the red zones at both its ends; 0: not checked */
  unsigned poison;               /* the mark of what was never written, in check mode */
  int is_slice;                  /* a copy to everything: no script writes to it */
  clc_Buffer *previous, *sharer; /* ring of the buffers on the same memory */
  clc_Term *term;                /* what it waits for: it is an expression; or NULL */
  clc_Buffer *next_deferred;     /* of its context */
  int is_reduced;                /* an expression that was computed within a reduction */
  clc_Buffer **deferred;         /* where the list has it */
};

extern const clc_Type clc_buffertype, clc_hosttype;

/* The buffer of an argument, or at an index (NULL for another value), its elements computed if it
   was an expression; a look at what else it has takes it as it is. */
clc_Buffer *clc_checkbuffer(lua_State *L, int arg);
clc_Buffer *clc_testbuffer(lua_State *L, int idx);
clc_Buffer *clc_lookatbuffer(lua_State *L, int arg);

/* The method `slice`. */
int clc_slicebuffer(lua_State *L);

/* What is written to a slice would not be in the buffer it was taken from: an error for all that
   write. The buffer of an argument that a script writes to. */
#define CLC_SLICE                                                                                \
  "a slice of b (b:slice, or b:view of lists) is a copy: b:write_rect, copy_rect{ to = b } and " \
  "cl.where change parts of b; slice:copy() is a buffer of its own"
clc_Buffer *clc_checktarget(lua_State *L, int arg);

/* --- memory.c -------------------------------------------------------------- */

/* Raises when the device never allocates that much at once for an object of a type. */
void clc_checkallocation(lua_State *L, const clc_Context *c, const clc_Type *type, size_t bytes);

/*
 * Memory of an object. clc_announce raises where no buffer could be as large, and tells the
 * collector of the bytes. clc_findroom announces, and makes room: before there is the object, as
 * finalizers may run. clc_create has the driver make the memory; where the driver has none left,
 * garbage is collected, the pool emptied, the end of the commands that use released memory awaited,
 * and the driver asked once more. clc_allocate creates and counts; clc_disown counts what is
 * released. Memory of the host is announced and created, and not counted.
 */
typedef clc_Outcome (*clc_Create)(clc_Device *d, clc_Handle *owner, size_t bytes);

void clc_announce(lua_State *L, clc_Device *d, const clc_Type *type, size_t bytes);
void clc_create(lua_State *L, clc_Device *d, clc_Handle *owner, clc_Create create, size_t bytes);
void clc_findroom(lua_State *L, clc_Device *d, const clc_Type *type, size_t bytes);
void clc_allocate(lua_State *L, clc_Device *d, clc_Handle *owner, clc_Create create, size_t bytes,
                  size_t *allocated);
void clc_disown(clc_Context *c, size_t allocated);

/* Pushes a new buffer with undefined elements. The collector hears of the
   memory; when it is short, all garbage goes before an error is raised. */
clc_Buffer *clc_newbuffer(lua_State *L, clc_Device *d, const clc_Dtype *dtype,
                          const clc_Shape *shape);

/* Pushes a new buffer that a script will hold. In check mode it lies between two red zones, so
   that it has an offset as a view has, and its elements are poison. */
clc_Buffer *clc_newguarded(lua_State *L, clc_Device *d, const clc_Dtype *dtype,
                           const clc_Shape *shape);

/* Pushes a new buffer on elements of another one, from `offset` on. */
clc_Buffer *clc_newview(lua_State *L, clc_Buffer *of, size_t offset, const clc_Shape *shape);

/* Pushes a new buffer on all bytes of another one, as elements of another dtype. The caller has
   checked that the shape has as many bytes, and that the first one may begin an element. */
clc_Buffer *clc_newcast(lua_State *L, clc_Buffer *of, const clc_Dtype *dtype,
                        const clc_Shape *shape);

/* The memory object whose first byte is the buffer's first element, for a
   buffer whose start is a multiple of the device's `align`. */
cl_mem clc_subbuffer(lua_State *L, clc_Buffer *b);

/* Sets argument i of a launch on d to a memory object of the buffer, which begins at element
   `first` of its memory; returns the code of clSetKernelArg. */
cl_int clc_setmemory(clc_Device *d, cl_kernel kernel, cl_uint i, const clc_Buffer *b, cl_mem mem,
                     size_t first);

/* Before elements of a buffer change, to those of another one (NULL: others): computes the
   expressions that wait for them as they are. May run Lua code; raises where that releases one of
   the two. */
void clc_beforechange(lua_State *L, const clc_Buffer *to, const clc_Buffer *from);

/* Has a recording (or NULL: nothing happens) hold the memory of a buffer for an argument, which
   gets `mem`: the memory or the buffer's sub-buffer. Runs no Lua code; raises where memory is
   short. */
void clc_holdbuffer(lua_State *L, clc_Recording *r, cl_uint argument, const clc_Buffer *b,
                    cl_mem mem);

/* The same for a transfer of d, if d records. */
void clc_usebuffer(lua_State *L, const clc_Device *d, const clc_Buffer *b);

/*
 * Moving n elements, counted from the buffer's first. Reading blocks. Writing
 * copies the host's memory before it returns, the rest is queued. The caller has
 * checked that the elements exist.
 */
void clc_readbuffer(lua_State *L, clc_Buffer *b, size_t first, size_t n, void *to);
void clc_writebuffer(lua_State *L, clc_Buffer *b, size_t first, size_t n, const void *from);
void clc_fillbuffer(lua_State *L, clc_Buffer *b, size_t first, size_t n, const void *element);
/* Copies elements of one buffer to another of its dtype, on any device; parts of one memory may
   overlap. */
void clc_copybuffer(lua_State *L, clc_Buffer *from, size_t from_first, clc_Buffer *to,
                    size_t to_first, size_t n);

/* NULL where the buffer can be used with a device; else what a message says of it. */
const char *clc_devicecomplaint(const clc_Buffer *b, const clc_Device *d);

/* Whether a buffer has one of the bytes from `first` on of a memory object. */
int clc_covers(const clc_Buffer *b, cl_mem mem, size_t first, size_t bytes);

/* Whether two buffers have memory in common. */
int clc_overlap(const clc_Buffer *a, const clc_Buffer *b);

/* --- box.c ----------------------------------------------------------------- */

/* How many elements a box has along each dimension. */
typedef struct clc_Extent {
  size_t slices, rows, cols;
} clc_Extent;

/* Where a box lies: a rectangle or a stack of them. The elements of a row are neighbours. */
typedef struct clc_Box {
  clc_Buffer *buffer; /* NULL: in the host's memory */
  char *host;
  size_t first; /* elements before it, counted from the start of the buffer or of `host` */
  size_t row;   /* elements from row to row */
  size_t slice; /* and from slice to slice, a multiple of `row`; of one rectangle it may be 0 */
} clc_Box;

/*
 * Moving boxes, whose elements the caller has checked to exist; in the host's memory they are
 * packed. Reading blocks. Writing copies the host's memory before it returns. Boxes of one memory
 * may overlap. Copying takes buffers of one dtype, on any devices.
 */
void clc_readbox(lua_State *L, const clc_Box *from, const clc_Extent *e, void *to);
void clc_writebox(lua_State *L, const clc_Box *to, const clc_Extent *e, const void *from);
void clc_copybox(lua_State *L, const clc_Box *from, const clc_Box *to, const clc_Extent *e);

/* --- landing.c ------------------------------------------------------------- */

/* Reads a few bytes of a buffer, from byte `at` on, behind what is in flight; 0 where that would
   not be sooner. Blocks. */
int clc_readbehind(lua_State *L, const clc_Buffer *b, size_t at, size_t bytes, void *to);

/*
 * A kernel may tell its result, of four or eight bytes, as it stores it in a buffer of one element:
 * a device has a few slots for that, which are not given back. 0: there is none, or not yet.
 */
unsigned clc_takeslot(lua_State *L, clc_Device *d);

/* The address that the next launch is to write to. */
uint64_t clc_expect(clc_Device *d, unsigned slot);

/* Waits for the result, which is also in the buffer; 0 where it has to be read there. */
int clc_hearword(lua_State *L, const clc_Buffer *b, unsigned slot, void *to);

/* --- scratch.c ------------------------------------------------------------- */

/*
 * Scratch is buffers in which operations keep what no script sees. A device's commands run one
 * after the other, so those of the next operation find the one before at its end: one buffer for
 * each use serves them all.
 */

/* Elements of a scratch buffer at most: what needs more works in parts. */
size_t clc_scratchlimit(const clc_Device *d, const clc_Dtype *dtype);

/* Pushes a buffer of at least n elements for one use ("gemm", ...). Its contents are whatever the
   last operation left. It is kept for the next one, but not while memory is short. Only for
   launches with nothing of Lua between them: a finalizer could use it too. */
clc_Buffer *clc_pushscratch(lua_State *L, clc_Device *d, const char *use, const clc_Dtype *dtype,
                            size_t n);

/* The same, of zeros: who changes them leaves zeros behind. */
clc_Buffer *clc_pushzeros(lua_State *L, clc_Device *d, const char *use, const clc_Dtype *dtype,
                          size_t n);

/* Pushes a buffer of exactly n elements, which is the caller's until it is given back: the one that
   was given back for this use, if it has that size, else a new one. */
clc_Buffer *clc_takescratch(lua_State *L, clc_Device *d, const char *use, const clc_Dtype *dtype,
                            size_t n);

/* Keeps the buffer at the top, which is popped, for the next that takes one; or releases it. */
void clc_givescratch(lua_State *L, const char *use);

/* --- poison.c -------------------------------------------------------------- */

/*
 * Poison is what check mode puts where nothing was written yet, and round each buffer.
 *
 * Of a floating type it is a signalling NaN with a mark in its digits. Copied it stays what it is;
 * what is computed from it is a quiet NaN, on many devices with the same mark. Integers have no
 * such value: they get a number that catches the eye.
 */

#define CLC_MARKS 8191 /* marks are 1 .. this */

typedef enum { CLC_CLEAN, CLC_UNSET, CLC_OUTSIDE } clc_Poison;

/* Writes an element that is poison of that kind and mark. */
void clc_setpoison(const clc_Dtype *dtype, clc_Poison kind, unsigned mark, void *element);

/* The first NaN or infinity from index i on among n elements of a floating type; n: none. */
size_t clc_findnonfinite(const clc_Dtype *dtype, const void *elements, size_t i, size_t n);

/* "nan", "inf" or "-inf", for such an element. */
const char *clc_nonfinitename(const clc_Dtype *dtype, const void *element);

/* Which poison went into a NaN, as far as its digits tell; a half has too few. */
clc_Poison clc_readpoison(const clc_Dtype *dtype, const void *element, unsigned *mark);

/* Opens the package: methods of devices that make buffers, the type of buffers. */
void clc_openbuffers(lua_State *L);

/* --- between the files of the package -------------------------------------- */

/* Registry: the buffers that scratch.c keeps, which go first where memory is short. */
#define CLC_SCRATCH "clcompute.scratch"

/* Pushes a buffer that holds n elements of the host's memory. Behind queued commands that memory
   would have to wait with them, pinned and out of the collector's reach; a copy in OpenCL's hands
   does that better. NULL, nothing pushed and the queue empty: there is no memory for it. */
clc_Buffer *clc_pushstage(lua_State *L, clc_Device *d, const clc_Dtype *dtype, size_t n,
                          const void *from);

/* Pushes the first elements of the buffer at an index, which is alive: in one dimension
   " 1, 2, 3"; else a line for each of the first rows of the last dimension, in aligned
   columns, with an empty line between matrices. Reads only what it shows. */
void clc_pushelements(lua_State *L, int idx);

/* Pushes all elements of a buffer, which is pointed at, packed as a string, of mapped memory. */
void clc_pushmapped(lua_State *L, const void *buffer);

/* Pushes a buffer without memory. */
clc_Buffer *clc_pushbuffer(lua_State *L, clc_Device *d, const clc_Dtype *dtype,
                           const clc_Shape *shape);

/* Gives a buffer the memory of another one, in place of its own; returns the driver's code. */
cl_int clc_sharememory(clc_Buffer *b, clc_Buffer *of);

/* Computes the elements of a buffer that waits for them; runs Lua code. */
void clc_compute(lua_State *L, clc_Buffer *b);

/* Has it wait no more. */
void clc_enddeferral(clc_Buffer *b);

/* Lets go of a term (NULL: nothing happens). */
void clc_dropterm(clc_Term *t);

/* How many elements the host array at an index has, which has a buffer's dtype, or an error says
   so; CLC_NOHOST where there is none. Then writes them to the buffer. */
#define CLC_NOHOST SIZE_MAX
size_t clc_hostcount(lua_State *L, int arg, const clc_Dtype *dtype);
void clc_writehost(lua_State *L, clc_Buffer *b, int arg, size_t first);

void clc_openoperators(lua_State *L);
void clc_openhosts(lua_State *L);
void clc_opencreate(lua_State *L);
void clc_openrectangles(lua_State *L);
void clc_openraw(lua_State *L);
void clc_openferries(lua_State *L);

#endif
