/* SPDX-License-Identifier: MIT */
/*
 * peak_copy: as many bytes a second as the device can move, for the peak that
 * measurements are set against.
 *
 *     for (i = 0; i < n; i++) out[i] = in[i];
 *
 * n = global size x WIDTH x UNROLL elements; the vectors of neighbouring work-items are
 * neighbours. IN_PLACE computes out[i] = -out[i] and takes `out` alone: a store to what was
 * just loaded saves a CPU the load that a store elsewhere begins with. Local size GROUP.
 */
#ifndef REAL
#define REAL float /* element type: float or double */
#endif
#ifndef WIDTH
#define WIDTH 4 /* elements of a vector: 2, 4, 8 or 16 */
#endif
#ifndef UNROLL
#define UNROLL 4 /* vectors of a work-item */
#endif
#ifndef GROUP
#define GROUP 64 /* work-items of a group */
#endif
#ifndef IN_PLACE
#define IN_PLACE 0 /* 1: changes the sign of each element of `out` */
#endif

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
#define VECTOR PASTE(REAL, WIDTH)

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void peak_copy(
#if !IN_PLACE
    __global const VECTOR *in,
#endif
    __global VECTOR *out) {
  const size_t first = get_group_id(0) * (GROUP * UNROLL) + get_local_id(0);
#pragma unroll
  for (int u = 0; u < UNROLL; u++) {
    const size_t i = first + u * GROUP;
#if IN_PLACE
    out[i] = -out[i];
#else
    out[i] = in[i];
#endif
  }
}
