/* SPDX-License-Identifier: MIT */
/*
 * probe_branches: what it costs that neighbours take different branches. Of the PATHS branches
 * a work-item takes one; all are of the same length, each with constants of its own, so that
 * no compiler makes them one:
 *
 *     path = i / block % paths;
 *     x = i;
 *     for (k = 0; k < n; k++) x = (1664525 + 8 * path) * x + 2 * path + 1;   modulo 2^32
 *     out[i] = x;
 *
 * `block` neighbours take the same branch; paths <= 64. Global size: any; local size: any.
 */
#define BRANCH(p)                                                                \
  case p:                                                                        \
    for (int k = 0; k < n; k++) x = (1664525u + 8u * p##u) * x + 2u * p##u + 1u; \
    break;
#define EIGHT(a, b, c, d, e, f, g, h) \
  BRANCH(a) BRANCH(b) BRANCH(c) BRANCH(d) BRANCH(e) BRANCH(f) BRANCH(g) BRANCH(h)

__kernel void probe_branches(const int n, const uint block, const uint paths, __global uint *out) {
  const uint i = get_global_id(0);
  uint x = i;
  switch (i / block % paths) {
    EIGHT(0, 1, 2, 3, 4, 5, 6, 7)
    EIGHT(8, 9, 10, 11, 12, 13, 14, 15)
    EIGHT(16, 17, 18, 19, 20, 21, 22, 23)
    EIGHT(24, 25, 26, 27, 28, 29, 30, 31)
    EIGHT(32, 33, 34, 35, 36, 37, 38, 39)
    EIGHT(40, 41, 42, 43, 44, 45, 46, 47)
    EIGHT(48, 49, 50, 51, 52, 53, 54, 55)
    EIGHT(56, 57, 58, 59, 60, 61, 62, 63)
  }
  out[i] = x;
}
