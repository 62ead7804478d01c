/* SPDX-License-Identifier: MIT */
/*
 * Pools: memory objects that buffers gave back, for those to come. To make memory, to touch it for
 * the first time and to release it costs a GPU's driver more than most commands do.
 */
#ifndef CLC_POOL_H
#define CLC_POOL_H

#include "base/base.h"

#define CLC_BLOCKS 128 /* of a pool, at most */

typedef struct clc_Block {
  cl_mem mem;
  size_t room;  /* bytes */
  double since; /* when it was given back, by clc_now */
  int is_used;  /* a command in flight on some queue may use it */
} clc_Block;

typedef struct clc_Pool {
  clc_Block blocks[CLC_BLOCKS]; /* the oldest first */
  int n;
  cl_ulong bytes;
  cl_ulong most; /* bytes it keeps; 0: it keeps nothing */
} clc_Pool;

/* How large the memory of so many bytes is made, so that many sizes share it. */
size_t clc_roomfor(const clc_Pool *p, size_t bytes);

/* Takes memory of just that room, or returns NULL. */
cl_mem clc_takeblock(clc_Pool *p, size_t room);

/* Whether there is such memory; and such as commands in flight may use. */
int clc_hasfree(const clc_Pool *p, size_t room);
int clc_hasused(const clc_Pool *p, size_t room);

/* No command is in flight: all memory is free to be used by any queue. */
void clc_settlepool(clc_Pool *p);

/* Gives memory back, for the pool or for the driver; returns the bytes that went to the driver. */
cl_ulong clc_giveblock(clc_Pool *p, cl_mem mem, size_t room, int is_used);

/* Hands to the driver what nobody took for some seconds; returns the bytes. */
cl_ulong clc_agepool(clc_Pool *p);

/* Hands all of it to the driver; returns the bytes. */
cl_ulong clc_emptypool(clc_Pool *p);

/* The same, and the pool keeps nothing from now on. */
cl_ulong clc_closepool(clc_Pool *p);

#endif
