/* SPDX-License-Identifier: MIT */
/*
 * Scratch: buffers in which operations keep what no script sees. A device's commands run one after
 * the other, so those of the next operation find the one before at its end: one buffer for each
 * use serves them all.
 */
#ifndef CLC_SCRATCH_H
#define CLC_SCRATCH_H

#include "memory.h"

#pragma GCC visibility push(hidden)

/* Elements of a scratch buffer at most: what needs more works in parts. */
size_t clc_scratchlimit(const clc_Device *d, const clc_Dtype *dtype);

/* Pushes a buffer of at least n elements for one use ("gemm", ...). Its contents are whatever the
   last operation left. It is kept for the next one, but not while memory is short. */
clc_Buffer *clc_pushscratch(lua_State *L, clc_Device *d, const char *use, const clc_Dtype *dtype,
                            size_t n);

#pragma GCC visibility pop

#endif
