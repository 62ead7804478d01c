/* SPDX-License-Identifier: MIT */
/*
 * What the kernels share that move chosen elements: gather, scatter, scatter_claim, compact_chunks
 * and compact_groups.
 */
#ifndef CLC_MOVE_H
#define CLC_MOVE_H

#include "elementwise.h"

#ifndef KEY
#define KEY uint /* elements: uchar, ushort, uint or ulong */
#endif
#ifndef INDEX
#define INDEX uint /* of indices, which count from 1: any integer type */
#endif
#ifndef GROUP
#define GROUP 1 /* work-items of a group, which does a chunk together; 1: for a CPU */
#endif
#ifndef KEPT
#define KEPT arg_x /* what is kept of element i */
#endif
#ifndef COUNT
#define COUNT uint /* counts elements: uint, or ulong */
#endif

#define OF_GROUP __attribute__((reqd_work_group_size(GROUP, 1, 1)))

/* What follows is done for each element i of the group's chunk. */
#define EACH_ELEMENT          \
  FIND_CHUNK(get_group_id(0)) \
  for (ulong i = begin + get_local_id(0); i < end; i += GROUP)

/* Place of element i, from 0 on, by its index. */
#define PLACE_OF(i) ((ulong)indices[indices_first + (i)] - 1)

/* Where those go that chunk `number` keeps: ends[c] is how many chunks up to and with c keep. */
#define FIRST_KEPT(number) (out_first + ((number) > 0 ? ends[ends_first + (number)-1] : (COUNT)0))

#endif
