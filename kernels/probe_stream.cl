/* SPDX-License-Identifier: MIT */
/*
 * probe_stream: sweeps over a piece of memory, for the bytes a second of the level that holds
 * it. The groups sweep one after the other, going round at the end of the piece:
 *
 *     at = 0;
 *     for (each group)
 *       for (each of its n * UNROLL * GROUP vectors) {
 *         read:  sum[work-item] += in[at];     then out[work-item] = sum
 *         write: out[at] = at * 2654435761;    in every element of the vector
 *         copy:  out[at] = in[at];
 *         at = (at + 1) % vectors;
 *       }
 *
 * With NEIGHBOURS neighbouring work-items read neighbouring vectors, as a GPU wants it; without
 * each sweeps a stretch of its own, as a core does. Sums are modulo 2^32. `mask` is the number of
 * vectors less one: a power of two, and UNROLL * GROUP at least; UNROLL without NEIGHBOURS.
 * Global size: any number of groups of GROUP work-items; local size: GROUP.
 */
#ifndef OPERATION
#define OPERATION 0 /* 0 read, 1 write, 2 copy */
#endif
#ifndef NEIGHBOURS
#define NEIGHBOURS 1
#endif
#ifndef WIDTH
#define WIDTH 4 /* elements of a vector: 2, 4, 8 or 16 */
#endif
#ifndef UNROLL
#define UNROLL 4 /* vectors between two looks at the loop's counter */
#endif
#ifndef GROUP
#define GROUP 64 /* work-items of a group */
#endif

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
#define VECTOR PASTE(uint, WIDTH)

#if NEIGHBOURS
#define APART GROUP                /* from one vector of a work-item to its next */
#define STEP (GROUP * UNROLL)      /* from a look at the counter to the next */
#define FIRST(n) (get_local_id(0)) /* of a work-item, from its group's */
#else
#define APART 1
#define STEP UNROLL
#define FIRST(n) (get_local_id(0) * (n)*UNROLL)
#endif

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void probe_stream(
    const uint n, const uint mask, __global const VECTOR *in, __global VECTOR *out) {
  uint at = (uint)(get_group_id(0) * n * (GROUP * UNROLL) + FIRST(n));
#if OPERATION == 0
  VECTOR sum[UNROLL];
#pragma unroll
  for (int u = 0; u < UNROLL; u++) sum[u] = 0;
#endif
  for (uint k = 0; k < n; k++) {
    const uint first = at & mask;
#pragma unroll
    for (uint u = 0; u < UNROLL; u++) {
      const uint i = first + u * APART;
#if OPERATION == 0
      sum[u] += in[i];
#elif OPERATION == 1
      out[i] = (VECTOR)(i * 2654435761u);
#else
      out[i] = in[i];
#endif
    }
    at += STEP;
  }
#if OPERATION == 0
  VECTOR total = 0;
#pragma unroll
  for (int u = 0; u < UNROLL; u++) total += sum[u];
  out[get_global_id(0)] = total;
#endif
}
