/* SPDX-License-Identifier: MIT */
/*
 * Spreads: how an elementwise operation (saxpy, map, reduce, scan) is spread over a device. A
 * worker, a core of a CPU or a work-group of a GPU, goes through a chunk of the elements; or a
 * work-item does as many elements as a vector has lanes.
 */
#ifndef CLC_SPREAD_H
#define CLC_SPREAD_H

#include "device/device.h"

/* Numbers of a row of lua/clcompute/tuning. */
typedef struct clc_Spread {
  const char *kernel;
  size_t group;   /* work-items of a group */
  size_t lanes;   /* elements at a time */
  size_t granule; /* chunks are multiples of it; 0: there are none */
  size_t least;   /* elements of the smallest chunk: fewer are not worth a second worker */
  size_t most;    /* workers of the device: more than its compute units even out what else runs */
  size_t ahead;   /* bytes to prefetch; 0: none */
} clc_Spread;

/* How many elements, and work-items, that comes to. */
typedef struct clc_Share {
  size_t chunk; /* elements of a worker */
  size_t workers, items;
} clc_Share;

/* The field of a row for the kernels that were built with its numbers: when rows are forgotten, as
   when numbers change, the kernels are. */
#define CLC_KERNELS "kernels"

/* Pushes the row of an operation, which keeps what is returned. */
const clc_Spread *clc_pushspread(lua_State *L, const clc_Device *d, const char *operation);

/* The shares of n > 0 elements. */
clc_Share clc_share(const clc_Spread *s, size_t n);

#endif
