/* SPDX-License-Identifier: MIT */
/* The sequential programs: Borisov's (2015) in both dtypes, and Life (Baranov 2013) on bytes. */
#ifdef __GNUC__
#pragma GCC optimize("O3") /* LuaRocks compiles with -O2, where these loops stay scalar */
#endif
#include "sequential.h"

#include <math.h>

#define REAL float
#define NAME(f) clc_plain_##f##_float
#include "plain_loops.h"
#undef REAL
#undef NAME

#define REAL double
#define NAME(f) clc_plain_##f##_double
#include "plain_loops.h"

/* The neighbour before or after i on a ring of n. */
static size_t around(size_t n, size_t i, int step) {
  if (step < 0) return i > 0 ? i - 1 : n - 1;
  return i + (size_t)step < n ? i + (size_t)step : 0;
}

static int life_row(size_t n, const unsigned char *row, size_t x) {
  return (row[around(n, x, -1)] == 1) + (row[x] == 1) + (row[around(n, x, 1)] == 1);
}

void clc_plain_life(size_t n, const unsigned char *from, unsigned char *to) {
  for (size_t z = 0; z < n; z++)
    for (size_t y = 0; y < n; y++)
      for (size_t x = 0; x < n; x++) {
        const size_t at = (z * n + y) * n + x;
        int living = -(from[at] == 1);
        for (int k = -1; k <= 1; k++)
          for (int j = -1; j <= 1; j++)
            living += life_row(n, from + (around(n, z, k) * n + around(n, y, j)) * n, x);
        to[at] = living == 5 || (living == 4 && from[at] == 1);
      }
}
