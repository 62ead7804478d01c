/* SPDX-License-Identifier: MIT */
/*
 * scan_columns: the running results of each column of matrices of n x inner
 *
 *     for (i = 0; i < n; i++)
 *       for (c = 0; c < inner; c++)
 *         out[i][c] = total[c] = i > 0 ? combine(total[c], x[i][c]) : x[i][c];
 *
 * and with EXCLUSIVE out[i][c] is the total before row i. A task is a strip of `width` columns in a part of
 * `chunk` rows; the results of whole parts are in `sums`, and a work-item combines those of the parts
 * before its own. On a GPU a strip is one column; on a CPU a work-item does `share` tasks.
 * Global size: at least tasks / share, rounded up. Local size: any.
 */
#include "clcompute/scan.h"

#ifndef LANES
#define LANES 1 /* columns at once */
#endif
#ifndef AT_ONCE
#define AT_ONCE 1 /* rows that are read before one is written, where a strip is one column */
#endif
#ifndef WIDE
#define WIDE 1 /* columns of a strip at most */
#endif

/* Goes through some lanes from c on, whose elements are read before a result is written. */
#define SCAN_LANES(lanes)                                                      \
  {                                                                            \
    VALUE result[lanes];                                                       \
    for (uint lane = 0; lane < lanes; lane++) {                                \
      const long i = (long)(from + c + lane);                                  \
      LOADS                                                                    \
      const VALUE value = (VALUE)(EXPRESSION);                                 \
      const VALUE next = has_total ? combine(total[c + lane], value) : value;  \
      result[lane] = EXCLUSIVE ? total[c + lane] : next;                       \
      total[c + lane] = next;                                                  \
    }                                                                          \
    for (uint lane = 0; lane < lanes; lane++)                                  \
      WRITE(out_first + from + c + lane, result[lane]);                        \
  }

__kernel void scan_columns(const ulong n, const ulong inner, const ulong chunk, const ulong width,
                           const ulong tasks, const ulong share, __global RESULT *out,
                           const ulong out_first, __global const VALUE *sums,
                           const ulong sums_first, const int has_init,
                           const VALUE init PARAMETERS) {
  VALUE total[WIDE];
  const ulong stop = min((get_global_id(0) + 1) * share, tasks);
  for (ulong task = get_global_id(0) * share; task < stop; task++) {
    FIND_TASK
    int has_total = has_init;
    for (uint c = 0; c < wide; c++) total[c] = init;
    for (ulong k = 0; k < nth; k++) {
      const ulong from = sums_first + (matrix * parts + k) * inner + column;
      for (uint c = 0; c < wide; c++)
        total[c] = has_total ? combine(total[c], sums[from + c]) : sums[from + c];
      has_total = 1;
    }
    ulong k = 0;
#if AT_ONCE > 1
    for (; k + AT_ONCE <= rows; k += AT_ONCE) {
      const ulong from = (matrix * n + first + k) * inner + column;
      VALUE element[AT_ONCE];
      UNROLL
      for (uint u = 0; u < AT_ONCE; u++) {
        const long i = (long)(from + u * inner);
        LOADS
        element[u] = (VALUE)(EXPRESSION);
      }
      UNROLL
      for (uint u = 0; u < AT_ONCE; u++) {
        const VALUE next = has_total || u > 0 ? combine(total[0], element[u]) : element[u];
        WRITE(out_first + from + u * inner, EXCLUSIVE ? total[0] : next);
        total[0] = next;
      }
      has_total = 1;
    }
#endif
    for (; k < rows; k++) {
      const ulong from = (matrix * n + first + k) * inner + column;
      uint c = 0;
#if LANES > 1
      for (; c + LANES <= wide; c += LANES) SCAN_LANES(LANES)
#endif
      for (; c < wide; c++) SCAN_LANES(1)
      has_total = 1;
    }
  }
}
