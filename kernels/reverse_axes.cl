/* SPDX-License-Identifier: MIT */
/*
 * reverse_axes: B = A with its indices in the opposite order (a transpose in up to 4 dimensions)
 *
 *     for (i = 0; i < n.x; i++)
 *       for (j = 0; j < n.y; j++)
 *         for (k = 0; k < n.z; k++)
 *           for (l = 0; l < n.w; l++) B[i][j][k][l] = A[l][k][j][i];
 *
 * n: the extents of B; elements first .. last - 1 of B are written, one a work-item. An element is
 * a struct, so that buffers of any dtype of that size are taken. Global size: at least
 * last - first; local size: any.
 */
#ifndef REAL
#define REAL float /* a type as large as the elements */
#endif

typedef struct {
  REAL bits;
} element;

__kernel void reverse_axes(const ulong first, const ulong last, const ulong4 n,
                           __global const element *a, __global element *b) {
  const ulong at = first + get_global_id(0);
  if (at >= last) return;
  const ulong l = at % n.w, k = at / n.w % n.z, j = at / n.w / n.z % n.y, i = at / n.w / n.z / n.y;
  b[at] = a[((l * n.z + k) * n.y + j) * n.x + i];
}
