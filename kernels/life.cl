/* SPDX-License-Identifier: MIT */
/*
 * life: one generation of the Game of Life on a cube of n x n x n cells, which
 * Baranov & Vlatskaya 2013 measure by its edge (figure 1)
 *
 *     for (each cell) {
 *       neighbours = living cells among the 26 around it, edges wrapping round;
 *       to[cell] = neighbours == 5 || (neighbours == 4 && from[cell]);
 *     }
 *
 * Rule 4555 (Bays 1987): a living cell stays with 4 or 5 living neighbours, a dead
 * one comes to life with 5. A cell lives if it is 1; any other number is a dead one.
 *
 * Global size: n x n x n, dimension 0 along a row; local size: any.
 */
/* The neighbour before or after i on a ring of n: cheaper than a remainder. */
int around(const int n, const int i, const int step) {
  const int j = i + step;
  return j < 0 ? n - 1 : j < n ? j : 0;
}

__kernel void life(const int n, __global const uchar *from, __global uchar *to) {
  const int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
  if (x >= n || y >= n || z >= n) return;
  const int left = around(n, x, -1), right = around(n, x, 1);
  int neighbours = 0;
  for (int k = -1; k <= 1; k++)
    for (int j = -1; j <= 1; j++) {
      const size_t row = ((size_t)around(n, z, k) * n + around(n, y, j)) * n;
      neighbours += (from[row + left] == 1) + (from[row + right] == 1);
      if (j != 0 || k != 0) neighbours += from[row + x] == 1;
    }
  const size_t at = ((size_t)z * n + y) * n + x;
  to[at] = neighbours == 5 || (neighbours == 4 && from[at] == 1);
}
