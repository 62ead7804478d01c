/* SPDX-License-Identifier: MIT */
/*
 * scan_rows: the running results of each of many short rows of n elements, for a CPU
 *
 *     for (row = 0; row < rows; row++)
 *       for (i = 0; i < n; i++)
 *         out[row][i] = total = i > 0 ? combine(total, x[row][i]) : x[row][i];
 *
 * and with EXCLUSIVE out[row][i] is the total before element i. A work-item does `share` rows, LANES of
 * them side by side: a row alone would wait for each combination before the next one.
 * Global size: rows / share, rounded up. Local size: any, 1 is best.
 */
#include "clcompute/scan.h"

#ifndef LANES
#define LANES 4 /* rows side by side */
#endif

/* Scans so many rows from `row` on, whose elements k are read before a result is written. */
#define SCAN_LANES(lanes)                                                           \
  {                                                                                 \
    VALUE total[lanes], result[lanes];                                              \
    UNROLL for (uint lane = 0; lane < lanes; lane++) total[lane] = init;            \
    for (ulong k = 0; k < n; k++) {                                                 \
      UNROLL for (uint lane = 0; lane < lanes; lane++) {                            \
        const long i = (long)((row + lane) * n + k);                                \
        LOADS                                                                       \
        const VALUE value = (VALUE)(EXPRESSION);                                    \
        const VALUE next = has_init || k > 0 ? combine(total[lane], value) : value; \
        result[lane] = EXCLUSIVE ? total[lane] : next;                              \
        total[lane] = next;                                                         \
      }                                                                             \
      UNROLL for (uint lane = 0; lane < lanes; lane++)                              \
        WRITE(out_first + (row + lane) * n + k, result[lane]);                      \
    }                                                                               \
  }

__kernel void scan_rows(const ulong rows, const ulong n, const ulong share, __global RESULT *out,
                        const ulong out_first, const int has_init, const VALUE init PARAMETERS) {
  ulong row = get_global_id(0) * share;
  const ulong stop = min(row + share, rows);
  for (; row + LANES <= stop; row += LANES) SCAN_LANES(LANES)
  for (; row < stop; row++) SCAN_LANES(1)
}
