/* SPDX-License-Identifier: MIT */
/* Pools: memory objects that buffers gave back, for those to come. */
#include "pool.h"

#include <string.h>

#define PATIENCE 10.0                  /* seconds that memory waits to be taken */
#define SMALLEST ((size_t)256)         /* bytes */
#define LARGEST_STEP ((size_t)2 << 20) /* from one size to the next */

/* Sizes an eighth of a power of two apart. */
size_t clc_roomfor(const clc_Pool *p, size_t bytes) {
  size_t power = SMALLEST;
  if (p->most == 0) return bytes;
  if (bytes <= SMALLEST) return SMALLEST;
  while (power <= bytes / 2) power *= 2;
  const size_t eighth = power / 8, step = eighth < LARGEST_STEP ? eighth : LARGEST_STEP;
  return (bytes + step - 1) / step * step;
}

static int find(const clc_Pool *p, size_t room, int is_used) {
  int i = p->n - 1;
  while (i >= 0 && (p->blocks[i].room != room || p->blocks[i].is_used != is_used)) i--;
  return i;
}

static cl_mem take(clc_Pool *p, int i) {
  const clc_Block block = p->blocks[i];
  p->bytes -= block.room;
  p->n--;
  memmove(&p->blocks[i], &p->blocks[i + 1], (size_t)(p->n - i) * sizeof block);
  return block.mem;
}

cl_mem clc_takeblock(clc_Pool *p, size_t room) {
  const int i = find(p, room, 0);
  return i >= 0 ? take(p, i) : NULL;
}

int clc_hasfree(const clc_Pool *p, size_t room) {
  return find(p, room, 0) >= 0;
}

int clc_hasused(const clc_Pool *p, size_t room) {
  return find(p, room, 1) >= 0;
}

void clc_settlepool(clc_Pool *p) {
  for (int i = 0; i < p->n; i++) p->blocks[i].is_used = 0;
}

static cl_ulong drop_oldest(clc_Pool *p) {
  const cl_ulong bytes = p->blocks[0].room;
  clReleaseMemObject(take(p, 0));
  return bytes;
}

cl_ulong clc_giveblock(clc_Pool *p, cl_mem mem, size_t room, int is_used) {
  cl_ulong dropped = clc_agepool(p);
  if (room > p->most) {
    clReleaseMemObject(mem);
    return dropped + room;
  }
  while (p->n == CLC_BLOCKS || p->bytes + room > p->most) dropped += drop_oldest(p);
  p->blocks[p->n++] = (clc_Block){mem, room, clc_now(), is_used};
  p->bytes += room;
  return dropped;
}

cl_ulong clc_agepool(clc_Pool *p) {
  cl_ulong dropped = 0;
  if (p->n == 0) return 0;
  const double now = clc_now();
  while (p->n > 0 && now - p->blocks[0].since > PATIENCE) dropped += drop_oldest(p);
  return dropped;
}

cl_ulong clc_emptypool(clc_Pool *p) {
  cl_ulong dropped = 0;
  while (p->n > 0) dropped += drop_oldest(p);
  return dropped;
}

cl_ulong clc_closepool(clc_Pool *p) {
  p->most = 0;
  return clc_emptypool(p);
}
