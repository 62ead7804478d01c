/* SPDX-License-Identifier: MIT */
/*
 * Scratch: buffers in which operations keep what no script sees. A device's commands run one after
 * the other, so those of the next operation find the one before at its end: one buffer for each
 * use serves them all.
 */
#ifndef CLC_SCRATCH_H
#define CLC_SCRATCH_H

#include "memory.h"

/* Elements of a scratch buffer at most: what needs more works in parts. */
size_t clc_scratchlimit(const clc_Device *d, const clc_Dtype *dtype);

/* Pushes a buffer of at least n elements for one use ("gemm", ...). Its contents are whatever the
   last operation left. It is kept for the next one, but not while memory is short. Only for
   launches with nothing of Lua between them: a finalizer could use it too. */
clc_Buffer *clc_pushscratch(lua_State *L, clc_Device *d, const char *use, const clc_Dtype *dtype,
                            size_t n);

/* Pushes a buffer of exactly n elements, which is the caller's until it is given back: the one that
   was given back for this use, if it has that size, else a new one. */
clc_Buffer *clc_takescratch(lua_State *L, clc_Device *d, const char *use, const clc_Dtype *dtype,
                            size_t n);

/* Keeps the buffer at the top, which is popped, for the next that takes one; or releases it. */
void clc_givescratch(lua_State *L, const char *use);

#endif
