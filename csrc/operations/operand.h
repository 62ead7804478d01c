/* SPDX-License-Identifier: MIT */
/* Operands: the buffers an operation computes with, checked the same way everywhere. */
#ifndef CLC_OPERAND_H
#define CLC_OPERAND_H

#include "buffer/buffer.h"
#include "kernel/kernel.h"

/* A float or double buffer. */
clc_Buffer *clc_checkreal(lua_State *L, int arg);

/* A buffer with the dtype and device of another one. */
clc_Buffer *clc_checklike(lua_State *L, int arg, const clc_Buffer *like);

/* The same in an option table; it is pushed, so that it stays. Where absent NULL, and nil is
   pushed. */
clc_Buffer *clc_pushbufferoption(lua_State *L, int arg, const char *key, const clc_Buffer *like);

/* Raises unless b, an argument or with `key` an option of it, has the shape. */
void clc_checkshapeof(lua_State *L, int arg, const char *key, const clc_Buffer *b,
                      const clc_Shape *shape);

/* Raises where the result of an operation has elements of an operand, each at another place: some
   would be written before they are read. Returns whether it has them all, each at its own. */
int clc_checkresult(lua_State *L, const char *operation, const clc_Buffer *out, const clc_Buffer *b,
                    const char *name);

/* Raises unless a is a square matrix, or a batch of such in three dimensions. */
void clc_checksquare(lua_State *L, int arg, const clc_Buffer *a);

/* Raises unless b has n rows, or where they are a batch that for each of `count` systems. */
void clc_checkrights(lua_State *L, int arg, const clc_Buffer *b, int is_batch, size_t count,
                     size_t n);

/* Pushes a block with the elements of a float or double buffer. Blocks. */
double *clc_pushdoubles(lua_State *L, clc_Buffer *b);

/* How many parts of that size cover n. */
size_t clc_parts(size_t n, size_t part);

/* The next multiple from n on. */
size_t clc_roundup(size_t n, size_t multiple);

/* A range of at least n0 (x n1) work-items, padded to whole groups: for kernels
   that check their bounds. */
clc_Range clc_padded1(size_t n0, size_t g0);
clc_Range clc_padded2(size_t n0, size_t n1, size_t g0, size_t g1);

/* The same for one work-item an element of a matrix, in groups that suit the
   device and the shape. */
clc_Range clc_covermatrix(const clc_Device *d, size_t rows, size_t columns);

/* Work-items of a group that does one task together, a power of two: what fills the vectors of a
   CPU, and hides the latency of a GPU's memory. */
size_t clc_tasksize(const clc_Device *d);

#endif
